"""The questions of a task, with what grades their answers."""

from pathlib import Path
from string import ascii_uppercase

import pyarrow.parquet as pq
from datasets import load_dataset

from .matching import sha256
from .pool import Row, read_rows, read_source

HERE = Path(__file__).parent
BUILT = Path("build/triviaqa_subset")
MMLU = {"path": "cais/mmlu", "name": "all", "split": "test"}
GET_TEXT = (
    "build it with text first: python -m triviaqa_subset.build (or with --source FILE), "
    "or give TriviaQA's rows here as --source FILE"
)


def load_questions(
    task: str, *, dataset: str | Path | None = None, source: str | None = None
) -> tuple[list[Row], list[str]]:
    """Load the questions of a task.

    Parameters
    ----------
    task : {"triviaqa", "mmlu"}
    dataset : path, optional
        For `triviaqa`: a folder that `triviaqa_subset.build` made with text, by default
        `build/triviaqa_subset`.
    source : str, optional
        A file: TriviaQA's rows, of which those of the curated subset are taken; or MMLU's `question`,
        `choices` and `answer` (a letter, or a number from 0), in place of the Hub's `cais/mmlu`.

    Returns
    -------
    questions : list of dict
        question_id, question, answer; for `triviaqa` weight, for `mmlu` choices, `answer` being a letter.
    remarks : list of str
        What a user should know of them, a line each.

    Raises
    ------
    ValueError
        Questions without text, or not all of them; a row that does not fit, with its place.
    OSError
        A file, or the Hub, out of reach.
    """
    if task == "mmlu":
        rows = load_dataset(**MMLU).to_list() if source is None else read_rows(source)
        return [_mmlu(row, number, f"{source or MMLU['path']}, row {number}") for number, row in enumerate(rows)], []
    if source is not None:
        return _joined(source)
    return _built(Path(dataset) if dataset else BUILT if BUILT.exists() else HERE), []


def _built(folder: Path) -> list[Row]:
    file = folder / "data" / "curated.parquet"
    if not file.exists():
        raise ValueError(f"{folder} is no dataset: {file} does not exist; {GET_TEXT}")
    rows = pq.read_table(file).to_pylist()
    if not rows or "question" not in rows[0]:
        raise ValueError(f"the dataset in {folder} has no question texts; {GET_TEXT}")
    return [_triviaqa(row, row) for row in rows]


def _joined(source: str) -> tuple[list[Row], list[str]]:
    curated = pq.read_table(HERE / "data" / "curated.parquet").to_pylist()
    texts = {row["question_id"]: row for row in reversed(read_source(source))}
    missing = [row["question_id"] for row in curated if row["question_id"] not in texts]
    if missing:
        raise ValueError(
            f"{source} must have the {len(curated)} questions of the curated subset; {len(missing)} are missing, "
            f"the first is {missing[0]}"
        )
    questions = [_triviaqa(row, texts[row["question_id"]]) for row in curated]
    changed = _changed(questions)
    return questions, [f"{source}: {changed} question texts are not those of the curation"] if changed else []


def _changed(questions: list[Row]) -> int:
    columns = ["question_id", "question_sha256"]
    pool = pq.read_table(HERE / "data" / "pool.parquet", columns=columns).to_pylist()
    hashes = {row["question_id"]: row["question_sha256"] for row in pool}
    known = [(row["question"], hashes[row["question_id"]]) for row in questions]
    return sum(sha256(text) != expected for text, expected in known if expected)


def _triviaqa(row: Row, text: Row) -> Row:
    return {
        "question_id": row["question_id"],
        "question": text["question"],
        "answer": text["answer"],
        "weight": row["weight"],
    }


def _mmlu(row: Row, number: int, place: str) -> Row:
    question, choices, answer = (row.get(name) for name in ("question", "choices", "answer"))
    if not isinstance(question, str) or not isinstance(choices, list) or not _are_texts(choices):
        raise ValueError(f"{place}: needs a question (text) and choices (two to 26 texts); it has {', '.join(row)}")
    letters = list(ascii_uppercase[: len(choices)])
    letter = letters[answer] if type(answer) is int and 0 <= answer < len(letters) else answer
    if letter not in letters:
        raise ValueError(f"{place}: answer must be one of {', '.join(letters)} or its number from 0; it is {answer!r}")
    own_id = str(row.get("question_id") or f"{row.get('subject') or 'mmlu'}-{number}")
    return {"question_id": own_id, "question": question, "choices": choices, "answer": letter}


def _are_texts(choices: list) -> bool:
    return 2 <= len(choices) <= 26 and all(isinstance(choice, str) for choice in choices)
