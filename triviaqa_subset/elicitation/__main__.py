"""The command line of a run: asks a language model for answers and confidences, and grades them."""

import shlex
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from time import monotonic

from .judging import summary
from .methods import DIALOGUES, Question
from .pipeline import graded_file, judge_summary, run
from .questions import load_own_questions, load_questions
from .runs import read_run
from .settings import RunSettings, run_settings
from .several import runs_of
from .summaries import RunLine, run_line, summarize_rows, summarize_usage, table

Loaded = dict[tuple[str, ...], list[Question]]


def main(argv: list[str] | None = None) -> int:
    """Run the command line.

    Returns
    -------
    int
        0; 1 if questions ended in an error; 2, with one line on stderr, if a run cannot start; 130 if it was
        interrupted.
    """
    stop, loaded = Event(), Loaded()
    lines: list[RunLine] = []
    status, runs = 0, []
    try:
        runs = runs_of(argv)
    except (ValueError, OSError) as error:
        return _refused(error)
    for each in runs:
        if stop.is_set():
            break
        try:
            questions = _questions(each, loaded)
            if each.dry_run:
                _show(questions, run_settings(each))
            else:
                lines.append(_run(questions, run_settings(each), stop, heading=len(runs) > 1))
        except KeyboardInterrupt:
            stop.set()
        except _failures() as error:
            status = _refused(error, each if len(runs) > 1 else None)
    if len(runs) > 1 and lines:
        files = shlex.join(str(graded_file(Path(each.out))) for each in runs if graded_file(Path(each.out)).exists())
        print(f"\n{table(lines)}\n\nthe metrics: ecuas score {files}")
    if stop.is_set():
        print("interrupted: the same command resumes here", file=sys.stderr)
        return 130
    return status or int(any(line.errors for line in lines))


def _failures() -> tuple[type[Exception], ...]:
    """Return what is no defect of ours. Datasets takes long to import: here it is, once something has failed."""
    from datasets.exceptions import DatasetsError

    return ValueError, OSError, DatasetsError


def _refused(error: Exception, arguments: Namespace | None = None) -> int:
    """Say in one line why a run, of several if it is given, cannot start; the others go on."""
    which = f"{arguments.name or f'{arguments.model} {arguments.method}'}: " if arguments else ""
    print(f"elicitation: {which}{' '.join(str(error).split())}", file=sys.stderr)
    return 2


def _questions(arguments: Namespace, loaded: Loaded) -> list[Question]:
    """Load the questions, once for all runs; those of a file are asked as triviaqa's or, with choices, as mmlu's."""
    where = {"dataset": arguments.dataset, "source": arguments.source, "questions": arguments.questions}
    key = (arguments.task, *where.values())
    if key not in loaded and Path(arguments.task).suffix:
        loaded[key] = load_own_questions(arguments.task)
    elif key not in loaded:
        loaded[key], remarks = load_questions(arguments.task, **where)
        for remark in remarks:
            print(remark, file=sys.stderr)
    if Path(arguments.task).suffix:
        arguments.task = "mmlu" if "choices" in loaded[key][0] else "triviaqa"
    return loaded[key][: arguments.limit]


def _run(questions: Sequence[Question], settings: RunSettings, stop: Event, *, heading: bool) -> RunLine:
    began = monotonic()
    if heading:
        print(f"\n{settings.system}")
    graded = run(questions, settings, stop)
    found = read_run(settings.out).rows if graded else {}
    rows = [found[row["question_id"]] for row in graded]
    seconds = monotonic() - began
    print("\n".join([*summary(graded, len(questions)), *summarize_rows(rows), *judge_summary(questions, settings)]))
    print("\n".join([*summarize_usage(rows, seconds, settings.prices), f"graded: {graded_file(settings.out)}"]))
    return run_line(settings.system, graded, rows, len(questions), settings.prices)


def _show(questions: Sequence[Question], settings: RunSettings) -> None:
    """Print what would be asked about the first two questions."""
    for question in questions[:2]:
        answers = {question["question_id"]: "(the answer)"} if settings.method == "is_true" else {}
        request = next(DIALOGUES[settings.method](question, replace(settings.setup, answers=answers)))
        print(f"--- {settings.method}, {question['question_id']}, {request._replace(messages=[])._asdict()}")
        print("\n".join(f"[{message['role']}] {message['content']}" for message in request.messages))


if __name__ == "__main__":
    sys.exit(main())
