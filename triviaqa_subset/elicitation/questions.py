"""Questions as samples of Inspect: the accepted answers are the target, weight and stratum are metadata."""

from functools import partial
from pathlib import Path
from string import ascii_uppercase

from inspect_ai.dataset import Sample, csv_dataset, json_dataset

from ..folders import dataset_folder
from ..matching import distinct_aliases
from ..pool import RawRow
from ..tables import table

SETS = ("curated", "kept", "pool")


def triviaqa_samples(questions: str, dataset: str | None) -> list[Sample]:
    """Return questions of the dataset, from a folder that was built with text."""
    if questions not in SETS:
        raise ValueError(f"questions must be one of {', '.join(SETS)}; got {questions!r}.")
    folder = Path(dataset) if dataset else dataset_folder()
    frame = table(questions, folder)
    if "question" not in frame:
        how = "Build it with text first: python -m triviaqa_subset.build."
        raise ValueError(
            f"dataset must have the texts of its questions; got {folder} without. {how}"
        )
    rows = frame.assign(answer=frame["answer"].map(distinct_aliases))
    return list(map(own_sample, rows.to_dict("records")))


def mmlu_samples() -> list[Sample]:
    """Return the questions of MMLU's test split, from the Hub."""
    from datasets import load_dataset  # takes long to import

    rows = load_dataset("cais/mmlu", "all", split="test").to_list()
    return [
        Sample(
            row["question"],
            choices=row["choices"],
            target=ascii_uppercase[row["answer"]],
            id=f"{row['subject']}-{number}",
        )
        for number, row in enumerate(rows)
    ]


def own_samples(file: str) -> list[Sample]:
    """Return the questions of a CSV file, where | separates several texts in a cell, or of JSON or JSON lines."""
    if Path(file).suffix == ".csv":
        return list(csv_dataset(file, partial(own_sample, separator="|")))
    return list(json_dataset(file, own_sample))


def own_sample(row: RawRow, separator: str | None = None) -> Sample:
    """Return the sample of a row; with `choices` its `answer` is the text of one, its letter or its number from 0."""
    question = row.get("question")
    if not isinstance(question, str) or not question:
        raise ValueError(f"question must be a text; got {question!r:.80}.")
    choices = _texts(row.get("choices"), separator)
    answer = row.get("answer")
    answers = _letter(answer, choices) if choices else _texts(answer, separator)
    if not answers:
        of_choices = "name one of the choices, by its text, its letter or its number from 0"
        rule = of_choices if choices else "be a text, or several, each of which is right"
        raise ValueError(f"answer must {rule}; got {answer!r:.80}, of {question!r:.80}.")
    try:
        return Sample(
            question,
            choices=choices or None,
            target=answers,
            id=row.get("question_id"),
            metadata=_design(row),
        )
    except ValueError:
        got = f"{row.get('weight')!r:.80} and {row.get('question_id')!r:.80}, of {question!r:.80}"
        rule = "weight must be a number, and question_id a text or a whole number"
        raise ValueError(f"{rule}; got {got}.") from None


def _design(row: RawRow) -> dict[str, object]:
    """Return the stratum, the decision and the weight of a row that has them; ValueError if this is no number."""
    design: dict[str, object] = {
        name: str(row[name]) for name in ("stratum", "decision") if row.get(name)
    }
    if row.get("weight") not in (None, ""):
        design["weight"] = float(str(row["weight"]))
    return design


def _texts(value: object, separator: str | None) -> list[str]:
    """Return the texts of a cell, none if there is anything else."""
    if isinstance(value, str):
        values: list[object] = list(value.split(separator)) if separator else [value]
    else:
        values = value if isinstance(value, list) else [value]
    are_texts = all(isinstance(each, str | int | float) for each in values)
    return [str(each) for each in values] if are_texts and "" not in values else []


def _letter(answer: object, choices: list[str]) -> list[str]:
    """Return the letter of the right choice: its text, before its letter, or its number from 0."""
    text = str(answer)
    letters = ascii_uppercase[: len(choices)]
    if choices.count(text) == 1:
        return [letters[choices.index(text)]]
    if len(text) == 1 and text in letters:
        return [text]
    return list(letters[int(text) : int(text) + 1]) if text.isdecimal() else []
