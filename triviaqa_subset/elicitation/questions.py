"""The questions of a task, with what their answers are graded by."""

from pathlib import Path
from string import ascii_uppercase

import pyarrow.parquet as pq

from ..folders import BUILT, FOLDER
from ..labels import STRATA
from ..matching import Gold, sha256
from ..pool import RawRow, read_rows, read_source, require_all
from .methods import Question

SETS = {"curated": "curated subset", "kept": "kept part of the pool"}  # a configuration -> what it is
MMLU = {"path": "cais/mmlu", "name": "all", "split": "test"}
GET_TEXT = (
    "Build it with text first, `python -m triviaqa_subset.build` (or with --source FILE), "
    "or give TriviaQA's rows here as --source FILE."
)


def load_questions(
    task: str, *, dataset: str | Path | None = None, source: str | None = None, questions: str = "curated"
) -> tuple[list[Question], list[str]]:
    """Load the questions of a task.

    Parameters
    ----------
    task : {"triviaqa", "mmlu"}
    dataset : path, optional
        For `triviaqa`: a folder that `triviaqa_subset.build` made with text, by default
        `build/triviaqa_subset` of the clone.
    source : str, optional
        A file: for `triviaqa` TriviaQA's rows, of which those of the subset are taken; for `mmlu`
        rows with `question`, `choices` and `answer` (a letter, or a number from 0) instead of the Hub's
        `cais/mmlu`.
    questions : {"curated", "kept"}
        For `triviaqa`: the 455 of the subset, or all that were not discarded.

    Returns
    -------
    questions : list of dict
        question_id, question, answer; for `triviaqa` weight and stratum, for `mmlu` choices, where `answer` is a
        letter.
    remarks : list of str
        What a user should know about them, one line each.

    Raises
    ------
    ValueError
        Questions without text, or not all of them; a row of another form, with its place.
    OSError
        A file, or the Hub, out of reach.

    Examples
    --------
    >>> import json, tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
    ...     json.dump([{"question": "2 + 2?", "choices": ["3", "4"], "answer": 1}], file)
    ...     file.flush()
    ...     load_questions("mmlu", source=file.name)[0]
    [{'question_id': 'mmlu-0', 'question': '2 + 2?', 'choices': ['3', '4'], 'answer': 'B'}]
    """
    if task == "mmlu":
        rows = _mmlu_of_the_hub() if source is None else read_rows(source)
        return [_mmlu(row, number, f"{source or MMLU['path']}, row {number}") for number, row in enumerate(rows)], []
    if task != "triviaqa":
        raise ValueError(f"task must be one of triviaqa, mmlu; got {task!r}.")
    if questions not in SETS:
        raise ValueError(f"questions must be one of {', '.join(SETS)}; got {questions!r}.")
    if source is not None:
        return _joined(source, questions)
    return _built(Path(dataset) if dataset else BUILT if BUILT.exists() else FOLDER, questions), []


def _mmlu_of_the_hub() -> list[RawRow]:
    from datasets import load_dataset  # takes long to import, and files need none of it

    rows: list[RawRow] = load_dataset(**MMLU).to_list()
    return rows


def load_own_questions(file: str) -> list[Question]:
    """Load questions of your own.

    Parameters
    ----------
    file : str
        Rows with `question` and `answer`: a text or several that are right; with `choices` a letter, or a number from
        0. A `question_id` is optional.

    Returns
    -------
    list of dict

    Raises
    ------
    ValueError
        A row of another form, or an id that comes twice, with its place.
    OSError
        A file that cannot be read.

    Examples
    --------
    >>> import json, tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
    ...     json.dump([{"question": "Capital of France?", "answer": ["Paris", "Paree"]}], file)
    ...     file.flush()
    ...     load_own_questions(file.name)[0]["answer"]["aliases"]
    ['Paris', 'Paree']
    """
    rows = read_rows(file)
    if not rows:
        raise ValueError(f"{file} must have a row for each question; got none.")
    places = [f"{file}, row {number}" for number in range(len(rows))]
    with_choices = "choices" in rows[0]
    questions = [(_mmlu if with_choices else _own)(row, n, places[n]) for n, row in enumerate(rows)]
    seen: set[str] = set()
    for question, place in zip(questions, places, strict=True):
        if question["question_id"] in seen:
            raise ValueError(f"{place}: question_id must be unique; got {question['question_id']} again.")
        seen.add(question["question_id"])
    return questions


def _own(row: RawRow, number: int, place: str) -> Question:
    question, answer = row.get("question"), row.get("answer")
    aliases = [answer] if isinstance(answer, str) else answer
    if not isinstance(question, str) or not isinstance(aliases, list) or not aliases:
        raise ValueError(
            f"{place} must have a question (text) and an answer (a text or several); got {', '.join(row)}."
        )
    if not all(isinstance(alias, str) for alias in aliases):
        raise ValueError(f"{place}: answer must be a text or several; got {answer!r}.")
    gold: Gold = {"value": aliases[0], "aliases": aliases, "normalized_aliases": []}
    return {"question_id": str(row.get("question_id") or f"q{number}"), "question": question, "answer": gold}


def _built(folder: Path, name: str) -> list[Question]:
    file = folder / "data" / f"{name}.parquet"
    if not file.exists():
        raise ValueError(f"dataset must be a folder with data/{name}.parquet; got {folder}. {GET_TEXT}")
    rows = pq.read_table(file).to_pylist()
    if not rows or "question" not in rows[0]:
        raise ValueError(f"dataset must have the texts of its questions; got {folder} without. {GET_TEXT}")
    return [_triviaqa(row, row["question"], row["answer"]) for row in rows]


def _joined(source: str, name: str) -> tuple[list[Question], list[str]]:
    asked = pq.read_table(FOLDER / "data" / f"{name}.parquet").to_pylist()
    texts = {row["question_id"]: row for row in reversed(read_source(source))}
    require_all(texts, [row["question_id"] for row in asked], source, SETS[name])
    pairs = ((row, texts[row["question_id"]]) for row in asked)
    questions = [_triviaqa(row, text["question"], text["answer"]) for row, text in pairs]
    changed = _changed(questions)
    return questions, [f"{source}: {changed} question texts are not those of the curation"] if changed else []


def _changed(questions: list[Question]) -> int:
    columns = ["question_id", "question_sha256"]
    pool = pq.read_table(FOLDER / "data" / "pool.parquet", columns=columns).to_pylist()
    hashes = {row["question_id"]: row["question_sha256"] for row in pool}
    known = [(row["question"], hashes[row["question_id"]]) for row in questions]
    return sum(sha256(text) != expected for text, expected in known if expected)


def _triviaqa(row: RawRow, question: str, answer: Gold) -> Question:
    return {
        "question_id": row["question_id"],
        "question": question,
        "answer": answer,
        "weight": row["weight"],
        "stratum": list(STRATA)[row["stratum"]],
    }


def _mmlu(row: RawRow, number: int, place: str) -> Question:
    question, choices, answer = (row.get(name) for name in ("question", "choices", "answer"))
    if not isinstance(question, str) or not isinstance(choices, list) or not _are_choices(choices):
        raise ValueError(f"{place} must have a question (text) and choices (2 to 26 texts); got {', '.join(row)}.")
    letters = list(ascii_uppercase[: len(choices)])
    letter = letters[answer] if type(answer) is int and 0 <= answer < len(letters) else answer
    if letter not in letters:
        raise ValueError(f"{place}: answer must be one of {', '.join(letters)} or its number from 0; got {answer!r}.")
    own_id = str(row.get("question_id") or f"{row.get('subject') or 'mmlu'}-{number}")
    return {"question_id": own_id, "question": question, "choices": choices, "answer": letter}


def _are_choices(choices: list[object]) -> bool:
    return 2 <= len(choices) <= 26 and all(isinstance(choice, str) for choice in choices)
