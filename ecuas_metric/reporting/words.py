"""What the command `ecuas` says: the sentences of `messages` in its own words, and those that it alone has."""

COMMAND_WORDS = {  # arguments of errors that no flag is called after, and ids -> the command's own words
    "n_bins": "--bins",
    "n_resamples": "--resamples",
    "random_state": "--seed",
    "in_common": "--common",
    "confidence_level": "the level of intervals",
    "choose_reject_cost": "ecuas threshold",
    "not_one_of_budget_and_risk": (
        "takes one of --budget and --max-risk: the largest share that is rejected, or the largest mean cost of what is "
        "accepted"
    ),
    "use_analytic_intervals": "Use --interval-method analytic instead.",
    "set_missing_confidence": (
        "Missing confidences? `ecuas score` without --out-of-core bounds what they can make of the numbers. To test a "
        "difference, --missing-confidence puts one number in their place: try 0 and 1."
    ),
    "confidences_bounded": (
        "Values are the smallest and the largest possible ones; ECE and metrics of the order have none. "
        "--missing-confidence puts one number in their place."
    ),
    "name_form": "Logits or log-probabilities? Specify them with --predictions-are.",
    "are_logits": "Logits? --predictions-are logits.",
    "choose_form": "Logits? --predictions-are logits. Log-probabilities? --predictions-are log_probabilities.",
    "logits_not_exponentials": (
        "Logits? --predictions-are logits. The likeliest classes alone are no posteriors."
    ),
    "pass_posteriors": "Class labels? Then the predictions must be posteriors, one column per class.",
    "use_probabilities": "Class labels? Use a file of probabilities.",
    "divide_by_sums": "Rounded probabilities? --renormalize divides each row by its sum.",
    "pass_flat_list": "Confidences? Name their column with --columns confidence=NAME.",
    "check_cost": "The uncertainties do not fit this cost, or --num-classes is too small.",
    "count_as_wrong": "Label them, or count them as wrong with --unlabelled wrong.",
    "label_or_bound": "Label them, or count them as wrong with --unlabelled wrong.",
    "label_or_drop": "Label them, or leave them out with --unlabelled drop.",
    "name_list": "Which? --columns {pairs}.",
    "widen_classes": (
        "Make one row of each sample, with a column for each class; or, if each row is an answer: "
        "--columns group={other}."
    ),
    "name_system": "Does it name systems? --columns {pairs}.",
    "audit_judge": "Have people label some: `ecuas audit` draws these, and --audit takes their labels.",
    "say_abstained": 'No answer? --abstained "", or the word that stands there.',
    "say_right_word": (
        "--right WORD is the word for right. Answers of the system, beside the true ones? --columns predicted=NAME,"
        "label=NAME."
    ),
    "fill_ids": "Give each row its id, or name another column: --columns id=NAME.",
    "pair_by_row": "Do they count rows, from different numbers? --by-position pairs these; or --common.",
    "name_other_ids": "Other ids? Name their columns with --columns FILE:id=NAME.",
    "name_ids": "Name their columns with --columns FILE:id=NAME, or, if row i is one question in all, --by-position.",
    "name_whole_id": (
        "Name all columns of the id with --columns id=A+B, or those that tell systems apart with "
        "--columns system=A+B; or leave rows out that are there twice."
    ),
    "score_in_memory": "Score it in memory, without --out-of-core.",
    "score_out_of_core": "Score it with --out-of-core.",
    "group_repeated_ids": (
        "Several answers to a question? Name it with --groups COLUMN, or intervals and tests are too sure."
    ),
    "set_classes": "--num-classes K",
    "set_infinite_classes": "For free text, use --num-classes inf.",
    "margins_are_logits": (
        "Logits? --predictions-are logits. Margins of a support vector machine? Calibrate them first."
    ),
    "invert_confidence": "Is one the other way round? --columns confidence=1-NAME, or correct=1-NAME.",
    "grade_or_empty": (
        "Partly correct? --correct-from GRADE counts answers from that grade up as correct. No verdict? Leave these "
        "cells empty."
    ),
    "empty_if_not_judged": (
        "No verdict? Leave these cells empty. No answer? --abstained WORD, the one that stands there."
    ),
    "set_correct_from": "Partly correct? --correct-from GRADE counts answers from that grade up as correct.",
    "set_scale_100": "Percentages? --scale 100 divides by 100, --columns FILE:scale=100 those of one file.",
    "set_scale_log": "Log-probabilities? --scale log takes their exponential.",
    "write_in_unit_interval": (
        "Write all of them as numbers in [0, 1]. Uncertainties that are -log(p)? --scale nll."
    ),
    "write_in_one_scale": (
        "Write all of them as numbers in [0, 1], and if they are, leave the scale out, or say that of another file "
        "alone: --columns FILE:scale=MAX."
    ),
    "set_scale": (
        "Ratings? --scale LOW:HIGH says what 0 and 1 are. Uncertainties that are -log(p)? --scale nll."
    ),
    "name_complement": "If it is: --columns {pairs}.",
    "name_confidence_field": "Name the field that has it: --columns confidence=FIELD, e.g. doc.confidence.",
    "name_label_field": (
        "Name the field that has it: --columns label=FIELD, e.g. truth.answer; or a file that has it by id: "
        "--truth FILE."
    ),
    "say_by_position": "Name their column with --columns id=NAME, or pair rows in the same order: --by-position.",
    "name_value": "Name one of them with --columns correct=value.KEY.",
    "name_filter": "Specify which with --filter NAME.",
    "list_labels": "Name all classes: --labels A,B,..",
    "write_way": "{flags}",
    "read_partial": "--partial reads what there is.",
    "keep_common": "--common compares them on the ids they share.",
    "add_ids": "--by-position pairs them by their rows.",
    "pass_labels": (
        "Names of classes? List all of them, in the order of the posteriors, with --labels A,B,..; "
        "one column has the probability of B."
    ),
    # ---- rules and advice of the command alone ----
    "file_is_there": "is there already, and would be overwritten",
    "wrong_pairs": "takes ROLE=COLUMN pairs",
    "name_another_output": "Name another one with {flag}.",
}
