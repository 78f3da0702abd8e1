"""What is said about inputs and results, by id: rules that an input breaks, what to do about it, and notes.

These are Python's sentences; a placeholder is a field of the error or the note. The command and the pages have tables
of their own for what they say otherwise, by the same ids: see `errors`. An id is no name of an argument.
"""

INPUT_RULES = {  # follow the name of an argument: "predictions must lie in [0, 1]"
    # ---- arrays ----
    "all_zero": "must not be all zero",
    "empty": "must not be empty",
    "infinite_logits": "must be finite, or -inf for a probability of 0",
    "is_nan": "must not be NaN",
    "lengths_differ": "must have the same length",
    "negative": "must be >= 0",
    "negative_or_infinite": "must be finite and non-negative",
    "no_finite_logit": "must have a finite logit in each row",
    "no_membership": "must name one for every sample",
    "not_0_or_1": "must be 0 (incorrect) or 1 (correct)",
    "not_a_label": "must be labels in [0, {num_classes})",
    "not_finite": "must be finite",
    "not_float64": "must be numbers of float64",
    "not_numbers": "must be numbers",
    "not_one_dimensional": "must be one-dimensional",
    "not_whole": "must be whole numbers",
    "out_of_range": "must lie in [0, {largest:g}]",
    "out_of_unit_interval": "must lie in [0, 1]",
    "row_lengths_differ": "must have rows of one length ({first} in the first)",
    "shapes_differ": "must have the same shape",
    "sums_differ_from_1": "must have rows that sum to 1 (tolerance {tolerance:g})",
    "too_few_classes": "must have K >= 2 classes",
    "wrong_shape": "must have shape {expected}",
    # ---- options ----
    "counts_not_whole": "must be whole numbers where weights_are='counts'",
    "decisions_under_log_cost": "cannot be used with cost='log', where the decision is the posterior itself",
    "group_in_two_strata": "must each lie in one stratum",
    "max_uncertainty_missing": "is missing: the uncertainty of a system that knows nothing",
    "negative_or_nan": "must be >= 0 (inf allowed)",
    "not_a_choice": "must be one of {choices}",
    "not_a_number_within": "must be a number in {interval}",
    "not_a_whole_number_within": "must be a whole number in {interval}",
    "not_true_or_false": "must be True or False",
    "numbers_repeated": "must differ in their first six digits",
    "requires_form": "requires {forms}; the input is {form}",
    "requires_probabilities": "requires probabilities",
    "reject_cost_too_large": "must lie in [0, {largest:g}], the largest sensible uncertainty",
    "wrong_cost_shape": "must be 'zero_one', 'log' or have shape ({num_classes}, D), one row per class",
    # ---- costs ----
    "decision_costs_nothing": "must make every decision cost something for some class",
    "epsilon_out_of_range": "must lie in (0, max_uncertainty = {largest:g})",
    "largest_uncertainty_unverified": "must have a largest uncertainty that can be verified",
    "no_integral": "must have an integral over [{low}, {high}]",
    "no_largest_uncertainty": "must have a largest uncertainty",
    "not_positive": "must be positive (inf allowed)",
    "not_positive_and_finite": "must be positive and finite",
    # ---- systems ----
    "estimate_not_finite": "must be finite for a BCa interval",
    "not_a_system": "must be of confidence_system, posterior_system or prepare_submissions",
    "one_system": "must be a mapping of names to systems, or a list",
    # ---- scikit-learn's conventions ----
    "labels_differ": "must be among the labels {labels}",
    "labels_unsorted": "must be distinct and sorted",
    "mixed_types": "must be all strings or all numbers",
    "no_class": "must not be missing",
    "not_classes": "must be classes",
    "not_log_probabilities": "must be at most 0, the logarithms of probabilities",
    "number_of_classes_differs": "must have as many classes as y_prob, {num_classes}",
    "out_of_unit_interval_of_two": "must lie in [0, 1] where it has shape (N,), the probability of the second class",
    "truth_is_no_class": "must hold classes",
    # ---- Evaluate's module ----
    "batch_shapes_differ": "must have the shape of the batches before, (N{axes})",
    "classes_differ_between_batches": "must have the same number of classes in every batch",
    "forms_differ_between_processes": "must have one form in all processes",
    "inputs_missing": "are missing: pass them here, or call add_batch before",
    "unknown_configuration": "must be 'default' or 'graded'",
    "unknown_input": "must be predictions and references",
    "not_numbers_and_commas": "takes numbers, separated by commas",
}

ADVICE = {  # sentences of their own
    "check_cost": "The uncertainties do not fit this cost, or num_classes is too small.",
    "choose_lowest_grade": "Partly correct? Choose the lowest grade that counts as correct.",
    "count_from_0": "Count from 0.",
    "divide_by_100": "Percentages? Divide by 100.",
    "divide_by_largest": "On another scale? Divide by its largest value.",
    "divide_by_sums": "Rounded probabilities? renormalize=True divides each row by its sum.",
    "exponentiate": "Log-probabilities? Take their exponential.",
    "invert_confidence": (
        "Does it say how sure the answer is right, and is correct 1 for right? Else pass 1 - confidence."
    ),
    "leave_extreme_costs_out": "Leave out costs that are too small to matter, or too large to happen.",
    "leave_ignored_rows_out": "Does it mark rows that do not count? Leave these out.",
    "logits_not_exponentials": (
        "Logits? This is the sum of their exponentials; predictions_are='logits' accepts any sum."
    ),
    "margins_are_logits": "Margins, as of decision_function? They are logits: predictions_are='logits'.",
    "name_form": "Logits or log-probabilities? Specify them with predictions_are.",
    "name_logits": "Logits? Use predictions_are='logits', which accepts rows with any sum.",
    "number_classes": (
        "Pass labels, all classes in the order of the columns: range(K) where they are numbered from 0."
    ),
    "pass_correct_first": "Swapped? correct comes first.",
    "pass_flat_list": "Confidences? Pass them as a flat list.",
    "pass_flat_list_of_two": "Probabilities of the second class? Pass them as a flat list.",
    "pass_posteriors": "Class labels? Pass posteriors of shape (N, K) as predictions.",
    "pass_truth_first": "Swapped? y_true comes first.",
    "score_as_confidences": "Missing confidences? score_confidences takes them with missing_confidence.",
    "score_as_posteriors": "Class labels? score_posteriors takes posteriors of shape (N, K).",
    "set_floor": "A probability of 0? Its logarithm needs a floor.",
    "set_missing_confidence": "Missing confidences? Set missing_confidence to a number in [0, 1] to replace them.",
    "sort_labels": "Sort them, and the columns of y_prob with them.",
    "swap_arguments": "Swapped? The predictions are all 0 or 1.",
    "use_analytic_intervals": "Use interval_method='analytic' instead.",
    "use_probabilities": (
        "Are they class labels? Then pass probabilities instead: of each class, or that of class 1 with "
        "predictions_are='positive_probabilities'."
    ),
    "write_share": "A percentage? Write {share:g}.",
    # ---- files ----
    "add_ids": "Add ids to all files, or to none to pair the samples by row.",
    "count_as_wrong": "Label them, or count them as wrong with unlabelled='wrong'.",
    "give_suffix": "Give it the suffix of its format: .csv, .jsonl, ..",
    "group_repeated_ids": "Samples of one id depend on each other: without groups, intervals and tests are too sure.",
    "keep_all_classes": (
        "Keep the columns of all classes, or name others: {{'posteriors': 'A+B'}}, {{'positive': NAME}}."
    ),
    "keep_common": "Keep only the common ones with in_common.",
    "label_as_columns": "Give all labels in the words of the columns.",
    "label_or_bound": (
        "Label them, count them as wrong with unlabelled='wrong', or get bounds with unlabelled='bounds'."
    ),
    "leave_cell_empty": "No number? Leave the cell empty.",
    "leave_rows_out": "Leave such rows out.",
    "name_columns": (
        "Name them with columns={{'confidence': NAME, 'correct': NAME}}, or 'label' and 'posteriors': 'A+B'."
    ),
    "name_complement": "columns={columns} reads its complement.",
    "name_confidence_field": (
        "Name the field that has the confidence with columns, e.g. {{'confidence': 'doc.confidence'}}."
    ),
    "name_filter": "Specify which with run=RunOptions(filter=NAME).",
    "name_guesses": "Perhaps columns={columns}?",
    "name_header": "The first row must contain the names of the columns, e.g. confidence,correct.",
    "name_ids": "Other ids? Name their columns with columns={{'id': NAME}}, or pair the samples by row without ids.",
    "name_its_files": "Name its files.",
    "name_one_role": "Specify which with columns, e.g. {{ROLE: NAME}}.",
    "name_other_class": "Of the other class? Name the column as {{'positive': '1-NAME'}}.",
    "name_probabilities": "Probabilities of one of two classes? columns={columns} reads them as such.",
    "name_role": "Name it with columns={columns}.",
    "name_weight": "Name it as the role weight to use it.",
    "name_whole_id": (
        "Name all columns of the id with columns={{'id': 'A+B'}}, or what makes several systems with part."
    ),
    "pass_labels": "Names of classes? Pass labels, a list of all names in the order of the posteriors.",
    "read_partial": "Read what there is with run=RunOptions(partial=True).",
    "recalibrate_first": (
        "Map it to a probability in [0, 1] first, e.g. by a calibration method fitted on other answers."
    ),
    "rename_stratum": "Rename it if they do not.",
    "save_as_utf_8": "Save it as UTF-8.",
    "score_in_memory": "Score it in memory.",
    "score_out_of_core": "Score it out of core.",
    "set_correct_from": "Partly correct? Set correct_from to the lowest grade that counts as correct.",
    "set_infinite_classes": "For free text, set num_classes=math.inf.",
    "set_num_classes": "If a confidence is of one of these classes, set num_classes to their number.",
    "set_scale": "On another scale? Set scale to its largest value, to divide by it.",
    "set_scale_100": "Percentages? Set scale=100.",
    "write_1_or_0": "Correct or not? Write 1 or 0, and leave the cell empty if the answer is not judged.",
    "write_in_one_case": "Write each class in one way.",
    "write_in_one_scale": "Write all of them as numbers in [0, 1].",
}

NOTES = {  # what a reader of a result must know besides its numbers
    "above_max_uncertainty": (
        "{count} of {total} samples ({share:.1%}) have an uncertainty above {largest:g}, that of a system that knows "
        "nothing. They count as rejected at every reject cost, right or wrong."
    ),
    "auroc_undefined": "auroc is nan: it needs both correct and incorrect samples.",
    "clipped": "{count} of {total} predictions lie outside [0, 1] by at most {tolerance:g} and are clipped.",
    "few_errors": "Bootstrap intervals are too narrow with few {kind}: {count} here, fewer than {needed}.",
    "hard_decisions": "All predictions are 0 or 1 and count as {what}.",
    "inverted": "Wrong answers have higher confidences than right ones: AUROC is {auroc:.2f}.",
    "missing": "{count} of {total} confidences are missing (NaN) and count as {replacement:g}.",
    "naive_costs_nothing": "The naive system costs nothing, so these are nan when normalized: {metrics}.",
    "renormalized": (
        "{count} of {total} rows ({share:.1%}) do not sum to 1, but for at most {largest:.2g}. They are divided by "
        "their sums."
    ),
    "resamples_left_out": (
        "Resamples in which a metric has no value are left out of its interval: {metrics}. AUROC needs both correct "
        "and incorrect samples; with few of one kind its interval is too narrow."
    ),
    "rounded": "{count} of {total} rows do not sum to 1 (by up to {largest:.2g}) and are divided by their sums.",
}

SENTENCES = INPUT_RULES | ADVICE | NOTES
