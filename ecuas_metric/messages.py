"""Sentences by id: those that code compares, that several places say, or that a surface says in other words.

All others stand where they are raised. A placeholder is a field of the error or the note. The command and the pages
have tables of their own for what they say otherwise, by the same ids: see `errors`. An id is no name of an argument.
"""

INPUT_RULES = {  # follow the name of an argument: "predictions must lie in [0, 1]"
    "all_zero": "must not be all zero",
    "empty": "must not be empty",
    "is_nan": "must not be NaN",
    "negative": "must be >= 0",
    "negative_or_infinite": "must be finite and non-negative",
    "no_membership": "must name one for every sample",
    "no_ids": "have no ids to pair their samples by",
    "not_of_an_audit": "is not valid with the verdicts of a judge",
    "not_0_or_1": "must be 0 (incorrect) or 1 (correct)",
    "not_finite": "must be finite",
    "not_numbers": "must be numbers",
    "not_one_file": "must be of one file",
    "out_of_unit_interval": "must lie in [0, 1]",
    "too_few_classes": "must have K >= 2 classes",
    "wrong_shape": "must have shape {expected}",
    "decisions_under_log_cost": "cannot be used with cost='log', where the decision is the posterior itself",
    "negative_or_nan": "must be >= 0 (inf allowed)",
    "not_a_choice": "must be one of {choices}",
    "no_recipe": "takes what `ecuas read` or a table wrote as JSON",
    "several_recipes": "takes the recipe of one way of reading",
    "skips_rows": "cannot skip rows of files that are not read whole",
    "side_by_side": "cannot name systems side by side in a table out of core",
    "unknown_role": "must be among the roles {roles}",
    "no_scale": "must be a number above 0, or LOW:HIGH with LOW < HIGH",
    "requires_form": "requires {forms}; the input is {form}",
    "metric_exists": "has the name of another one, or of one of its keys",
    "labels_differ": "must be among the labels {labels}",
    "needs_two_systems": "needs at least two systems",
    "too_few_folds": "must be at least 2",
    "not_a_recalibration": "must be what `Recalibration.to_json` returns",
    "method_of_two_classes": "must not be {method} for posteriors of more than two classes",
    "name_taken": "is the name of another system, and would be overwritten",
    "forms_differ": "must have one form; {forms}",
    "names_repeated": "must have different names",
    "needs_a_system": "needs at least one system",
    "not_one_of_budget_and_risk": "takes one of budget and max_risk",
    "requires_confidences": "requires confidences",
    "inputs_missing": "are missing: pass them here, or call add_batch before",
    "unknown_input": "must be predictions and references",
    "not_numbers_and_commas": "takes numbers, separated by commas",
}

ADVICE = {  # sentences of their own
    "check_cost": "The uncertainties do not fit this cost, or num_classes is too small.",
    "choose_lowest_grade": "Partly correct? Choose the lowest grade that counts as correct.",
    "count_from_0": "Count from 0.",
    "add_system": "Add another one, or a column that names the system of each row.",
    "divide_by_100": "Percentages? Divide by 100.",
    "name_scale": (
        "Uncertainties or -log p? Pass 1 - u or np.exp(-x). Ratings? Pass (x - lowest) / (highest - lowest) of the "
        "scale."
    ),
    "divide_by_sums": "Rounded probabilities? renormalize=True divides each row by its sum.",
    "exponentiate": "Log-probabilities? Take their exponential.",
    "invert_confidence": "Is one of them the other way round? Pass 1 minus it.",
    "logits_not_exponentials": (
        "Logits? predictions_are='logits'. The likeliest classes alone are no posteriors."
    ),
    "margins_are_logits": (
        "Logits? predictions_are='logits'. Margins of a support vector machine? Calibrate them first."
    ),
    "are_logits": "Logits? Specify them with predictions_are='logits'.",
    "choose_form": "Logits or log-probabilities? Specify them with predictions_are.",
    "name_form": "Logits or log-probabilities? Specify them with predictions_are.",
    "read_again": "Read it again once it is written.",
    "read_each": "Read each by itself, and put the lists together.",
    "pass_correct_first": "Swapped? correct comes first.",
    "pass_flat_list": "Confidences? Pass them as a flat list.",
    "pass_posteriors": "Class labels? Pass posteriors of shape (N, K) as predictions.",
    "score_apart": "Put each form in a table of its own.",
    "score_as_posteriors": "Class labels? score_posteriors takes posteriors of shape (N, K).",
    "set_missing_confidence": "Missing confidences? Set missing_confidence to a number in [0, 1] to replace them.",
    "swap_arguments": "Swapped? The predictions are all 0 or 1.",
    "use_analytic_intervals": "Use interval_method='analytic' instead.",
    "use_probabilities": (
        "Class labels? Pass probabilities: of each class, or that of class 1 with "
        "predictions_are='positive_probabilities'."
    ),
    "empty_if_missing": "Is {code:g} a code for no confidence? Leave these cells empty.",
    "grade_or_empty": (
        "Partly correct? Set correct_from to the lowest grade that counts as correct. No verdict? Leave these cells "
        "empty."
    ),
    "empty_if_not_judged": (
        "No verdict? Leave these cells empty. No answer? Put 1 in a column 'abstained' there, and 0 elsewhere."
    ),
    "leave_points_out": "Leave the points between thousands out.",
    "write_points": "Write decimal points, and thousands without commas.",
    "widen_classes": (
        "Make one row of each sample, with a column for each class; or, if each row is an answer: "
        "columns={{'group': {other!r}}}."
    ),
    "name_system": "Does it name systems? columns={columns}.",
    "say_right_word": (
        "right='WORD' is the word for right. Answers of the system, beside the true ones? columns={{'predicted': NAME, "
        "'label': NAME}}."
    ),
    "write_1_for_right": "Write 1 for right answers, and 0 for wrong ones.",
    "add_ids": "Add ids to all files, or to none to pair the samples by row.",
    "count_as_wrong": "Label them, or count them as wrong with unlabelled='wrong'.",
    "group_repeated_ids": (
        "Several answers to a question? Pass it as groups, or intervals and tests are too sure."
    ),
    "keep_common": "Keep only the common ones with in_common.",
    "label_or_bound": (
        "Label them, count them as wrong with unlabelled='wrong', or get bounds with unlabelled='bounds'."
    ),
    "label_or_drop": "Label them, or leave them out with unlabelled='drop'.",
    "leave_cell_empty": "No number? Leave the cell empty.",
    "leave_rows_out": "Leave such rows out.",
    "list_labels": "Name all classes with labels.",
    "name_complement": "If it is: columns={columns}.",
    "name_confidence_field": (
        "Name the field that has the confidence with columns, e.g. {{'confidence': 'doc.confidence'}}."
    ),
    "name_label_field": (
        "Name the field that has it with columns, e.g. {{'label': 'truth.answer'}}; or read a file that has it by id "
        "with run=RunOptions(truth=read_labels(FILE))."
    ),
    "name_value": "Name one of them with columns, e.g. {{'correct': 'value.KEY'}}.",
    "name_filter": "Specify which with run=RunOptions(filter=NAME).",
    "name_header": "The first row must contain the names of the columns, e.g. confidence,correct.",
    "fill_ids": "Give each row its id, or name another column: columns={{'id': NAME}}.",
    "say_by_position": "Pass them to each system, or by_position=True if the rows are in the same order.",
    "pair_by_row": "Do they count rows, from different numbers? Pair the samples by row, without ids.",
    "name_ids": "Other ids? Name their columns with columns={{'id': NAME}}, or pair the samples by row without ids.",
    "name_other_ids": "Other ids? Name their columns with columns={{'id': NAME}}.",
    "name_its_files": "Name its files.",
    "convert_to_parquet": ("Out of core, files are Parquet."),
    "name_list": "Which? columns={columns}.",
    "name_whole_id": (
        "Name all columns of the id with columns={{'id': 'A+B'}}, or those that tell systems apart with "
        "columns={{'system': 'A+B'}}; or leave rows out that are there twice."
    ),
    "pass_labels": (
        "Names of classes? Pass all of them as labels, in the order of the posteriors; one column has the probability "
        "of the second."
    ),
    "read_partial": "Read what there is with run=RunOptions(partial=True).",
    "rename_column": "Is it within the name of a column? Rename that.",
    "say_abstained": "No answer? Say so with abstained='', or the word that stands there.",
    "audit_judge": "Have people label some: judge=verdicts, and their labels as correct.",
    "save_as_utf_8": "Save it as UTF-8.",
    "score_in_memory": "Score it in memory.",
    "score_out_of_core": "Score it out of core.",
    "set_correct_from": "Partly correct? Set correct_from to the lowest grade that counts as correct.",
    "set_classes": "num_classes=K",
    "set_infinite_classes": "For free text, set num_classes=math.inf.",
    "set_scale": (
        "Ratings? Set scale='LOW:HIGH', what 0 and 1 are. Uncertainties that are -log(p)? Set scale='nll'."
    ),
    "set_scale_100": "Percentages? Set scale=100.",
    "set_scale_log": "Log-probabilities? Set scale='log'.",
    "unlabelled_are_wrong": (  # here and below, the figures are those of the TriviaQA subset's card
        "They count as wrong, which added up to 0.036 to the error rates of seven language models on TriviaQA. "
        "The smallest and the largest possible value are in brackets."
    ),
    "confidences_bounded": (
        "Values are the smallest and the largest possible ones; ECE and metrics of the order have none. "
        "missing_confidence puts one number in their place."
    ),
    "unlabelled_bounded": "Values are the smallest and the largest possible ones; they are not confidence intervals.",
    "unlabelled_dropped": (
        "They are left out. Answers that nobody could label are often wrong: leaving them out reduced the error rates "
        "of seven language models on TriviaQA to 0.29 to 0.70 of their values."
    ),
    "score_rows_again": "Score the rows again.",
    "unlabelled_without_bounds": "They count as wrong: most metrics are at least as good as they are here.",
    "check_interruption": "Was the run interrupted?",
    "give_one_run": "Give the file of one run. Parts in .jsonl? Join them: cat ONE.jsonl OTHER.jsonl > ALL.jsonl.",
    "log_samples": "Run it again with --log_samples --output_path DIR.",
    "save_details": "Run it again with --save-details.",
    "use_task_of_one_right_choice": "Use a task with one, e.g. the mc1.",
    "write_in_one_case": "Write each class in one way.",
    "write_in_unit_interval": (
        "Write all of them as numbers in [0, 1]. Uncertainties that are -log(p)? Set scale='nll'."
    ),
    "write_in_one_scale": "Write all of them as numbers in [0, 1], and if they are, leave the scale out.",
}

NOTES = {  # what a reader of a result must know besides its numbers
    "above_max_uncertainty": (
        "{count} of {total} samples ({share:.1%}) have an uncertainty above {largest:g}, that of a system that knows "
        "nothing. They count as rejected at every reject cost."
    ),
    "assumed": "These intervals assume that no answer costs more than {largest:g}: {metrics}.",
    "kept_after_error": "{count} samples that were added before compute failed are kept, and count.",
    "classes_in_order_of_texts": (
        "Classes are taken in the order of their names as texts: {classes}."
    ),
    "auroc_undefined": "auroc is nan: it needs both correct and incorrect samples.",
    "ece_debiased_undefined": (
        "The debiased ECE is nan: it needs a bin with two samples, or with samples of two groups."
    ),
    "average_undefined": "The average of {metric} is nan: it does not exist in {count} of {total} parts.",
    "bounds_only": "There are no intervals while labels or confidences are unknown, only bounds.",
    "confidences_unknown": "{count} of {total} confidences are missing.",
    "groups_in_several_parts": "Groups have samples in several parts, so there are no intervals of averages.",
    "like_systems": "Column {column!r} has {values} values, and all rows count as one system's.",
    "mistakes_at_epsilon": (
        "Mistakes with an uncertainty of at most {floor:g} (epsilon) are {share:.0%} of ECUAS_0. Each costs as much as "
        "at {floor:g}: without any, it would cost infinitely much."
    ),
    "not_recalibrated": "Posteriors are left as they are: {reason}",
    "of_other_class": "The likelier class by column {column!r} is wrong in {share:.0%}: is it that of the other class?",
    "like_yes": (
        "{count:,} right answers have less than 0.5 in column {column!r}: is it the probability of yes? A sure no is "
        "sure as well: write how likely the side that was taken is, 1 less it for no."
    ),
    "never_wrong": (
        "The likeliest class is the true one in all {total} rows: is column {label!r} computed from the others?"
    ),
    "of_other_order": (
        "Classes are wrong in {share:.0%} of rows, more often than by chance: are they in the order of the columns, or "
        "counted as the true ones?"
    ),
    "repeated_ids": "{count} of {total} ids in column {column!r} occur more than once.",
    "values_without_bounds": (
        "No bounds are known of these, which are nan while labels or confidences are unknown: {metrics}."
    ),
    "variants_without_bounds": (
        "Normalised values and those of recalibration have no bounds, and are nan while labels or confidences are "
        "unknown."
    ),
    "zeros_replaced": (
        "Recalibration replaces probabilities of exactly 0 by {least:.3g}, in {count} of {total} samples."
    ),
    "biased": "These metrics are biased upwards, so no valid interval is known: {metrics}.",
    "bounded": (
        "Metrics of the order are read from {bins} bins; each lies within its bounds, which are at most {widest:.1e} "
        "apart: {metrics}."
    ),
    "clipped": "{count} of {total} predictions lie outside [0, 1] by at most {tolerance:g} and are clipped.",
    "few_errors": "Bootstrap intervals are too narrow with few {kind}: {count} here, fewer than {needed}.",
    "few_groups": "Intervals are approximate: groups or weights leave {count:.0f} equal units, fewer than {needed}.",
    "hard_decisions": "All predictions are 0 or 1 and count as {what}.",
    "classes": "There are {count} classes in columns {label!r} and {predicted!r}, and K is {count}.",
    "labels_from_1": "Class 0 never occurs, and all other classes up to {last} do: are labels counted from 0?",
    "decided_by_fit": (
        "These depend on what users accept, which the fit of the recalibration decides; its error is not known, so "
        "there are no intervals and no tests: {metrics}."
    ),
    "one_confidence": "All {count:,} confidences are {value:g}: they tell no answer from another.",
    "perfect": (
        "Every right answer has a higher confidence than every wrong one: is one column computed from the other?"
    ),
    "audited": (
        "{count:,} of {total:,} answers were labelled by people; the judge calls {sensitivity} of wrong answers wrong, "
        "and {specificity} of right ones right. Numbers use both, and hold whatever the judge's mistakes if people are "
        "right and the answers were drawn at random."
    ),
    "few_to_label": (
        "{count:,} labels of {total:,} questions leave wide intervals: 120 of 1,000 give about +-0.05 to an error rate "
        "if the judge is right in 95 % of answers."
    ),
    "judge_for_truth": "The verdicts in {column!r} are taken for the truth; what they err in moves every number.",
    "audit_gain": "People's labels alone: {metric} {alone}; with the judge {both}.",
    "audit_not_drawn": (
        "The answers that people labelled do not look drawn at random: their {what} are others than chance explains. "
        "Nothing holds if they were picked."
    ),
    "judge_not_used": (
        "People saw only {count} wrong, or right, answers: the judge counts from {few} on, and for metrics of the "
        "order from {of_order}. These are of people's labels alone: {metrics}."
    ),
    "unknown_by_audit": "No valid way is known to compute these from a judge's verdicts: {metrics}.",
    "abstentions": (
        "No answer was given to {unanswered}: each costs what rejecting costs. The error rate of the answers "
        "is {wrong:.3f}."
    ),
    "inverted": "Wrong answers have higher confidences than right ones: AUROC is {auroc:.2f}.",
    "paired_by_position": "there are no ids: {count:,} samples are paired by their position.",
    "ids_not_used": "its ids are not those of {other} in {count} of {total} rows, which are paired all the same.",
    "left_out": "{count} of {total} samples left out, because other systems do not have them.",
    "missing": "{count} of {total} confidences are missing (NaN) and count as {replacement:g}.",
    "naive_costs_nothing": "The naive system costs nothing, so these are nan when normalized: {metrics}.",
    "no_interval_known": (
        "There are no intervals of these, since none is known, there are too few wrong or right answers, or what they "
        "are divided by is not known well enough: {metrics}."
    ),
    "recalibration_taken_as_given": (
        "These intervals do not account for fitting the recalibration on the same samples: {metrics}."
    ),
    "renormalized": (
        "{count} of {total} rows ({share:.1%}) sum to 1 only within {largest:.2g}. They are divided by their sums."
    ),
    "resamples_left_out": (
        "Resamples in which a metric has no value are left out of its interval, which is then too narrow: "
        "{metrics}."
    ),
    "run": "{facts}.",
    "run_invalidated": "{count:,} invalidated samples are left out",
    "run_limited": "limited, the task has {total:,} samples",
    "run_of_one_answer": "All {count:,} answers are {value!r}: did the model reply at all?",
    "run_settings_differ": "The systems of task {task} were not asked in the same way; these differ: {names}.",
    "run_in_epochs": (
        "Inspect log, task {task}, scorer {scorer}, {count:,} samples in {epochs} epochs, which are groups"
    ),
    "run_not_ended": "partial: {count:,} of {total:,} planned samples are scored, status {status}",
    "run_of_answers": "{what}, task {task}, {count:,} answers, correct by {metric}",
    "run_of_choices": "{what}, task {task}, {count:,} questions, {choices} choices",
    "run_of_inspect": "Inspect log, task {task}, scorer {scorer}, {count:,} samples",
    "run_of_tasks": "{number} tasks{choices} are pooled, {count:,} samples: {tasks}",
    "run_partial": "partial: {count:,} of {total:,} planned samples are scored",
    "run_right_by_acc": "which is right follows from acc",
    "run_weighted": "weighted: {count:,} samples with weights that add up to {sum:,.6g}",
    "run_without_confidence": "{count:,} of {total:,} without a confidence",
    "too_few_units": (
        "There are too few answers for intervals and tests: these need two or more (with groups, two groups; with "
        "strata, two in each), none of which has most of the weight."
    ),
    "unlabelled_answers": "{count} of {total} answers ({share:.1%}{by_weight}) are unlabelled.",
    "unseen": (
        "No {kind} was seen among {among} with {where}; one would move a number by up to {largest:.2g}, and these "
        "intervals mostly rest on that: {metrics}."
    ),
    "rounded": "{count} of {total} rows do not sum to 1 (by up to {largest:.2g}) and are divided by their sums.",
}

FILE_RULES = {  # follow the name of a file, or of a file and its column
    "changed_while_read": "the file was changed while it was read",
    "folder_of_no_table": "this folder does not hold the parts of one table",
    "no_such_file": "there is no such file",
    "parts_differ": "its parts must have the same columns; {part} has others",
    "unknown_suffix": "the suffix must be one of {suffixes}",
    "unreadable": "cannot be read: {reason}",
    "unreadable_as": "cannot be read as {format}: {reason}",
    "columns_differ_in_case": "has columns that differ in upper and lower case only",
    "no_column": "has no column {wanted!r}",
    "no_header": "has no names of columns",
    "no_predictions": "has neither confidences nor posteriors",
    "one_role_missing": "has {has}, but no {role}",
    "roles_do_not_fit": "has no form of input with {roles}",
    "roles_missing": "no columns are called confidence and correct, or label and posteriors",
    "two_columns": "two columns may be {role}",
    "classes_unsure": "has numbers of the classes in the labels that do not sum to 1, and {others}, which may be "
    "of others",
    "labels_do_not_fit": "must have a column for each of the labels",
    "several_posteriors": "has several sets of posteriors",
    "two_forms": "has confidences and posteriors",
    "neither_word": "must hold {words}, or nothing",
    "no_name_of_system": "must name a system; it is empty",
    "no_numbers": "must hold numbers",
    "file_empty": "the file is empty",
    "markup": "the file is a page of HTML or XML, such as an error or a login, and no table",
    "pointer": "the file is a pointer of Git LFS, not what it points to: git lfs pull",
    "no_rows": "the file has no rows",
    "no_truths": "must hold 1 or 0, true or false, yes or no, or such a pair",
    "no_value": "has no value",
    "no_value_at_all": "has no value at all",
    "points_between_thousands": "must be written as other numbers of the file, whose decimal points are commas",
    "word_missing": "has no value {word!r}",
    "written_in_several_ways": "must hold numbers written in one way; most are {usual}",
    "not_the_largest": "is not the largest of the probabilities in {other}, which is the chance of being right",
    "not_the_likeliest": "is not that of the likeliest class by {other}",
    "rows_are_copies": "repeats values, in {copies} of {all_rows} rows that are copies of others",
    "grade_apart": "has a few grades far from all others",
    "counts_of_rows": "seems to say how many samples each row is of: no two rows are the same without it",
    "footer": "must hold samples; the last rows are unlike all others",
    "row_per_class": (
        "sums to 1 in the rows of each value of column {other!r}, one of which is true: they are of its classes"
    ),
    "ids_of_other": "repeats values, which are unique together with column {other!r} ({values} values)",
    "never_below_half": "is 0.5 or higher in every row, as of the class that was chosen",
    "probability_of_one": "is lowest where the class {low!r} was chosen: the probability of {high!r}",
    "beyond_scale": "must lie on the scale {scale}",
    "several_scales": "must lie on one scale; {within} of {size} lie in [0, 1]",
    "two_codes": "has two codes, {low} and {high}: one of them is right",
    "sorted": "is sorted with the columns of the other classes in each row: the likeliest classes, whichever they are",
    "words_of_other": "has the words of column {other!r}: it may hold the right answers",
    "classes_differ_between_rows": (
        "must name the same classes in each row, {classes}; missing there, or too many: {others}"
    ),
    "classes_differ_in_case": (
        "and column {other!r} have classes that differ in case, spaces, quotes, or how numbers are written only"
    ),
    "labels_are_text": "must hold numbers of classes",
    "lists_of_classes": "has names of classes, in each row as many as column {other!r} has numbers",
    "no_common_class": "has no class in common with column {other!r}, which has {classes}",
    "not_among_classes": "must be among the classes {classes}",
    "not_read_out_of_core": "has {what}, which is not read out of core",
    "read_out_of_core_only": "has {form}, which are read out of core only",
    "too_many_systems": "must name at most {most:,} systems",
    "answers_unlabelled": "has no label for some answers",
    "unknown_suffix_of_table": "a table can be written as {suffixes}",
    "file_does_not_fit": "does not fit to the files before: {reason}",
    "rows_held_twice": "holds the rows of {address}, as another does: they would count twice",
    "unwritable": "cannot be written: {reason}",
    "acc_is_a_share": (
        "must have one right choice in each sample; acc is a share of the probability, as in truthfulqa_mc2"
    ),
    "answers_of_lighteval": "holds answers in words, without log-probabilities of choices",
    "answers_of_lm_eval": (
        "holds answers in words, and log-likelihoods only with output_type: multiple_choice in the task"
    ),
    "lines_not_of_lm_eval": "must hold samples of lm-eval in each line",
    "log_likelihoods_not_finite": (
        "must have log-likelihoods that are finite, or -inf for choices that are impossible, but not for all"
    ),
    "log_likelihoods_of_some": "has log-likelihoods of choices for some samples only",
    "no_field": "has no field {name}",
    "no_metric_of_right": "holds no metric that says what is right",
    "no_one_right_choice": "must have one right choice in each sample",
    "no_samples": "holds no samples",
    "no_scores": "holds no scores",
    "no_such_task": "has no such task",
    "not_a_log_of_inspect": "must be a log of Inspect",
    "not_a_verdict": "must be scored as right or wrong: C, I, P, N, or a number",
    "not_results_of_lm_eval": "must be results of lm-eval",
    "not_in_run": "has no {what} {wanted!r}",
    "not_one_log_likelihood_each": "must have one log-likelihood of each choice",
    "recorded_reason": "{why}",
    "results_without_samples": "holds results of {tool} without samples",
    "run_has_no_columns": "is a run, which has no systems side by side in columns",
    "run_has_other_roles": "is a run, which says itself what has the role {role!r}",
    "no_such_rows": "has no such row to skip",
    "complement_of_logarithms": "must hold probabilities, since it is a complement, and no logarithms",
    "several_lists": "has several lists or sheets of rows",
    "rows_of_no_json": "has no several lists of rows, as JSON and Excel may have",
    "run_has_other_parts": "is a run, which has parts by task or by model",
    "run_did_not_end": "is the log of a run that did not end",
    "scorer_without_confidence": (
        "scorer {scorers} keeps no confidence, as Score(value=.., metadata={{'confidence': p}}) would"
    ),
    "score_of_several_values": "must have one value as its score; {name} has {keys}",
    "several_in_run": "has several {what}s",
    "scores_of_logs_differ": (
        "has several logs of a run of task {task} by {model} whose scores differ, and only times of files say which "
        "is the last"
    ),
    "several_runs": "has more than one run of task {task} by {model}",
    "targets_ambiguous": "targets must name one choice",
    "targets_disagree_with_acc": "targets must be the index or the text of a choice, and agree with acc",
    "weights_in_some_tasks": "has weights in some tasks only, which cannot be pooled",
}

LINES = {  # below an error of a file
    "there_are": " It has:",
    "choose_way": "Say what holds:",
    "write_way": "{arguments}",
}

SENTENCES = INPUT_RULES | FILE_RULES | ADVICE | NOTES | LINES
