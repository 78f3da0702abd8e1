"""The command line of a run: asks a language model for answers and confidences, and grades them."""

import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from time import monotonic

from datasets.exceptions import DatasetsError

from .command import parser
from .judging import summary
from .methods import DIALOGUES, Question
from .pipeline import graded_file, judge_summary, run
from .questions import load_own_questions, load_questions
from .runs import read_run
from .settings import RunSettings, run_settings
from .summaries import summarize_rows, summarize_usage


def main(argv: list[str] | None = None) -> int:
    """Run the command line.

    Returns
    -------
    int
        0; 1 if questions ended in an error; 2, with one line on stderr, if it cannot start; 130 if it was interrupted.
    """
    arguments, stop = parser().parse_args(argv), Event()
    status = 0
    try:
        questions = _questions(arguments)
        for each in _runs(arguments):
            if arguments.dry_run:
                _show(questions, run_settings(each))
            elif not stop.is_set():
                status = max(status, _run(questions, run_settings(each), stop))
    except (ValueError, OSError, DatasetsError) as error:
        print(f"elicitation: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        stop.set()
    if stop.is_set():
        print("interrupted: the same command resumes here", file=sys.stderr)
    return 130 if stop.is_set() else status


def _questions(arguments: Namespace) -> list[Question]:
    """Load the questions; those of a file are asked and graded as triviaqa's or, with choices, as mmlu's."""
    if Path(arguments.task).suffix:
        questions = load_own_questions(arguments.task)
        arguments.task = "mmlu" if "choices" in questions[0] else "triviaqa"
        return questions[: arguments.limit]
    where = {"dataset": arguments.dataset, "source": arguments.source, "questions": arguments.questions}
    questions, remarks = load_questions(arguments.task, **where)
    for remark in remarks:
        print(remark, file=sys.stderr)
    return questions[: arguments.limit]


def _runs(arguments: Namespace) -> list[Namespace]:
    """Return the arguments of each method; is_true asks about the answers of sequence_posterior, if that is one."""
    if not arguments.methods:
        return [arguments]
    folder, shared = Path(arguments.out), "sequence_posterior" in arguments.methods
    runs = []
    for method in sorted(arguments.methods, key=list(DIALOGUES).index):
        answers = str(folder / "sequence_posterior.jsonl") if shared and method == "is_true" else None
        name = f"{arguments.name} {method}" if arguments.name else None
        own = {"method": method, "out": str(folder / f"{method}.jsonl"), "answers": answers, "name": name}
        if arguments.dry_run:
            own["answers"] = None
        runs.append(Namespace(**vars(arguments) | own))
    return runs


def _run(questions: Sequence[Question], settings: RunSettings, stop: Event) -> int:
    began = monotonic()
    graded = run(questions, settings, stop)
    found = read_run(settings.out).rows if graded else {}
    rows = [found[row["question_id"]] for row in graded]
    print("\n".join([*summary(graded, len(questions)), *summarize_rows(rows), *judge_summary(questions, settings)]))
    print("\n".join([*summarize_usage(rows, monotonic() - began), f"graded: {graded_file(settings.out)}"]))
    return 1 if any(row["error"] for row in rows) else 0


def _show(questions: Sequence[Question], settings: RunSettings) -> None:
    """Print what would be asked about the first two questions."""
    for question in questions[:2]:
        answers = {question["question_id"]: "(the answer)"} if settings.method == "is_true" else {}
        request = next(DIALOGUES[settings.method](question, replace(settings.setup, answers=answers)))
        print(f"--- {settings.method}, {question['question_id']}, {request._replace(messages=[])._asdict()}")
        print("\n".join(f"[{message['role']}] {message['content']}" for message in request.messages))


if __name__ == "__main__":
    sys.exit(main())
