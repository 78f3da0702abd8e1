"""What the page says: the sentences of `ecuas_metric.messages` in its own words, and those that it alone has."""

from dataclasses import dataclass
from typing import Any, Literal

from ecuas_metric.inputs import POSTERIOR_FORMS
from ecuas_metric.options import DEFAULTS

from .uploads import RULES

Number = float | None
Numbers = str | float | list[float]


@dataclass(frozen=True, slots=True)
class Control:
    """An argument of `score`, for programs and on the page: its type, default, label and meaning."""

    kind: object
    default: Any
    label: str
    help: str


CONTROLS = {
    "columns": Control(
        str,
        "",
        "Columns",
        "What your columns are called, e.g. confidence=p_true, correct=is_right, system=llm+method. Others that can be "
        "named: id, label, posteriors, positive, predicted, weight, group, stratum, skip",
    ),
    "n": Control(
        Numbers,
        ", ".join(f"{n:g}" for n in DEFAULTS.n),
        "n",
        "Which ECUAS_n: numbers from 0 to inf; the smaller, the more low reject costs count",
    ),
    "num_classes": Control(
        Number,
        None,
        "Number of possible answers K",
        "2 for yes or no, more for more choices; empty for free text",
    ),
    "predictions_are": Control(
        Literal[POSTERIOR_FORMS],
        DEFAULTS.predictions_are,
        "Form of the posteriors",
        "What the columns of the classes hold; positive_probabilities: one column, of class 1",
    ),
    "reject_costs": Control(
        Numbers,
        "",
        "Reject costs",
        "The cost at each of these too: numbers such as 0.1, 0.5",
    ),
    "missing_confidence": Control(
        Number,
        None,
        "Missing confidence",
        "A number that is put in its place; empty: numbers are the least and the largest possible",
    ),
    "unlabelled": Control(
        Literal[RULES],
        RULES[0],
        "Answers without correctness",
        "What to do with answers that are not known to be right or wrong",
    ),
    "scale": Control(
        Number,
        None,
        "Largest confidence",
        "What a confidence of 1 is, e.g. 100 for percentages",
    ),
    "correct_from": Control(
        Number,
        None,
        "Correct from",
        "Lowest grade that counts, e.g. 0.5",
    ),
}

UNLABELLED = CONTROLS["unlabelled"].label
CHOOSE = f"Choose how to treat them under Options, “{UNLABELLED}”."
FORM = f"Options, “{CONTROLS['predictions_are'].label}”"
CHOOSE_FORM = f"Logits or log-probabilities? Choose them under {FORM}."
PAGE_WORDS = {  # arguments of errors, and ids of `ecuas_metric.messages` or of the page alone -> the page's own words
    # "unlabelled" is a note
    **{name: control.label for name, control in CONTROLS.items() if name != "unlabelled"},
    "pass_posteriors": "Class labels? Then the predictions must be posteriors, one column per class.",
    "pass_flat_list": "Confidences? Name their column under Options, “Columns”.",
    "logits_not_exponentials": f"Logits? This is the sum of their exponentials. Choose them under {FORM}.",
    "use_probabilities": "Are they class labels? Then upload probabilities instead.",
    "margins_are_logits": (
        f"Logits of a logistic model or a network? Choose these under {FORM}. Margins of a support vector machine are "
        "no probabilities: calibrate them first."
    ),
    "confidences_bounded": (
        "They can be anything from 0 to 1: values are the smallest and the largest possible ones; ECE and metrics of "
        "the order have none. A value for them under Options, “Missing confidence”, puts one number in their place."
    ),
    "set_missing_confidence": "Missing confidences? Enter a value for them under Options, “Missing confidence”.",
    "are_logits": f"Logits? Choose them under {FORM}.",
    "choose_form": CHOOSE_FORM,
    "name_form": CHOOSE_FORM,
    "divide_by_sums": "Rounded probabilities? The command “ecuas” can divide each row by its sum.",
    "check_cost": "Under Options, “Number of possible answers K” may be too small.",
    "use_analytic_intervals": "Use the analytic intervals of the command “ecuas” instead.",
    "grade_or_empty": (
        "Partly correct? Enter the lowest grade that counts under Options, “Correct from”. No verdict? Leave these "
        "cells empty."
    ),
    "set_correct_from": "Partly correct? Enter the lowest grade that counts under Options, “Correct from”.",
    "set_scale_log": "Log-probabilities? Take their exponential.",
    "set_scale_100": "Percentages? Enter 100 under Options, “Largest confidence”.",
    "audit_judge": "Have people label some, and enter judge=NAME, correct=NAME under Options, “Columns”.",
    "convert_to_parquet": "The command “ecuas” reads it as Parquet.",
    "list_labels": "Name all columns of classes under Options, “Columns”: posteriors=A+B.",
    "score_out_of_core": "The command “ecuas” reads it.",
    "write_in_one_scale": "Write all of them as numbers in [0, 1], and if they are, leave “Largest confidence” empty.",
    "write_in_unit_interval": "Write all of them as numbers in [0, 1].",
    "set_scale": (
        "On another scale? Enter its largest value under Options, “Largest confidence”. Negative logarithms? Turn them "
        "into probabilities first."
    ),
    "name_confidence_field": "The command “ecuas” can read another field of it.",
    "name_label_field": "The command “ecuas” can read another field of it, or a file that has it by id.",
    "name_value": "The command “ecuas” can read one of them.",
    "name_filter": "The command “ecuas” can read one of them.",
    "keep_common": "The command “ecuas” can keep only the common ones.",
    "count_as_wrong": CHOOSE,
    "label_or_bound": CHOOSE,
    "label_or_drop": f"Label them, or leave them out under Options, “{UNLABELLED}”.",
    "name_list": "The command “ecuas” can read one of them.",
    "widen_classes": (
        "Make one row of the rows of each sample, with the true class and a column for each class; or, if each row is "
        "an answer of its own, enter group={other} under Options, “Columns”."
    ),
    "invert_confidence": (
        "Is it the confidence that the answer is right, and does 1 mark right answers? Else enter confidence=1-NAME or "
        "correct=1-NAME under Options, “Columns”, whichever is the other way round."
    ),
    "group_repeated_ids": (
        "Is a row there twice? Leave one out. Several answers to a question depend on each other: enter group=NAME, "
        "the column of the question, under Options, “Columns”, or intervals and tests are too sure."
    ),
    "pass_labels": (
        "Names of classes? Number them from 0 in the order of the columns of probabilities, or name these columns "
        "after the classes."
    ),
    "is_nan": "must not be missing",
    "wrong_shape": "must be one column if it is of class 1 alone, else a column for each class",
    "auroc_undefined": "AUROC has no value: it needs both right and wrong answers.",
    "missing": "{count} of {total} confidences are missing and count as {replacement:g}.",
    "name_complement": "If it is, enter {pairs} under Options, “Columns”.",
    "name_system": "Does it name systems? Enter {pairs} under Options, “Columns”.",
    "say_right_word": "Answers, beside the true ones? Under Options, “Columns”: predicted=NAME, label=NAME.",
    "say_abstained": "No answer? Put 1 in a column “abstained” there, and 0 elsewhere.",
    "fill_ids": "Give each row its id, or name another column under Options, “Columns”: id=NAME.",
    "say_by_position": "Give both files a column of ids.",
    "pair_by_row": "Do they count rows, from different numbers? Leave them out in both.",
    "name_other_ids": (
        "Other questions? Models are compared on the same ones alone. Other ids? Enter id=NAME under Options, "
        "“Columns”."
    ),
    "name_ids": "Other ids? Enter id=NAME under Options, “Columns”.",
    "set_classes": "“Number of possible answers K” under Options",
    "set_infinite_classes": "For free text, leave “Number of possible answers K” empty under Options.",
    "name_whole_id": (
        "Name all columns of the id under Options, “Columns”: id=A+B; or leave rows out that are there twice."
    ),
    "choose_way": "Enter what holds under Options, “Columns”, or use the command “ecuas”:",
    "write_way": "{pairs}",
    "read_partial": "The command “ecuas” can read what there is.",
    "choose_reject_cost": "threshold",
    # ---- rules of the page alone: of files ----
    "nested_too_deeply": "the JSON is nested too deeply",
    "no_file": "are missing",
    "file_empty": "is empty",
    "file_gone": "does not exist",
    "no_upload": "is no upload of this page",
    "not_a_file": "must be a file",
    "suffix_of_no_table": "must have one of the suffixes {suffixes}",
    "takes_too_long": "takes more memory or time than this page has",
    "too_many_bytes": "must have at most {most:,} bytes",
    "too_many_columns": "must have at most {most:,} columns",
    "too_many_files": "must be at most {most}",
    "too_many_systems_of_files": "must be at most {most}; got more",
    "too_long_texts": "must have at most {most:,} characters in a row; {rows:,} rows have more",
    "too_many_rows": "must have at most {most:,} rows",
    "too_much_unpacked": "must unpack to at most {most:,} bytes",
    "content_of_no_table": "must be text, Parquet, or a log of Inspect",
    "uploads_deleted": "are not there any more: they are deleted after {least} to {most} minutes. Upload them again",
    # ---- of the page itself ----
    "disk_full": "is full of the files of others",
    "busy": "is busy: too many others wait for their results",
    # ---- of answers to the questions of the dataset ----
    "all_unknown": "must not all be unknown",
    "answered_twice": "must not be repeated",
    "column_missing": "must have columns {needed}; {missing} is missing among {columns}",
    "not_asked": "must be one of the {asked} that are asked",
    "wrong_link": "is not one of this page's, or is not whole",
    # ---- of controls and arguments ----
    "several_numbers": "must be one number",
    "no_scale": "must be a number above 0; other scales are entered as scale=LOW:HIGH under Options, “Columns”",
    "not_listed_numbers": "must be at most {most} numbers, separated by commas",
    "wrong_pairs": "must be ROLE=COLUMN pairs, separated by commas",
    "wrong_type": "must be {kinds}",
    # ---- advice of the page alone ----
    "give_upload": "Give an upload of this page, or the text of the file.",
    "keep_one_answer": "Keep one answer to each question.",
    "leave_questions_out": "Leave other questions out.",
    "other_tables": "The command “ecuas” reads Excel, Arrow, NPZ and packed files too.",
    "say_correct_ones": "Say which are correct in a column “correct”.",
    "try_later": "Try again in a few minutes.",
    "upload_one": "Upload one.",
    "write_as_asked": "Write confidences as numbers from 0 to 1, and nothing where there is none.",
    "use_the_command": "Use the command “ecuas”.",
}
