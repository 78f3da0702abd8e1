"""The command line of a run: asks a language model for answers and confidences, and grades them."""

import sys
from threading import Event

from datasets.exceptions import DatasetsError

from .command import parser
from .judging import summary
from .pipeline import graded_file, judge_summary, run
from .questions import load_questions
from .runs import read_run
from .settings import run_settings
from .summaries import summarize_rows


def main(argv: list[str] | None = None) -> int:
    """Run the command line.

    Returns
    -------
    int
        0; 1 if questions ended in an error; 2, with one line on stderr, if it cannot start; 130 if it was interrupted.
    """
    arguments, stop = parser().parse_args(argv), Event()
    try:
        questions, remarks = load_questions(arguments.task, dataset=arguments.dataset, source=arguments.source)
        for remark in remarks:
            print(remark, file=sys.stderr)
        questions = questions[: arguments.limit]
        settings = run_settings(arguments)
        graded = run(questions, settings, stop)
        found = read_run(settings.out).rows if graded else {}
        rows = [found[row["question_id"]] for row in graded]
        lines = [*summary(graded, len(questions)), *summarize_rows(rows), *judge_summary(questions, settings)]
        lines.append(f"graded: {graded_file(settings.out)}")
        print("\n".join(lines))
    except (ValueError, OSError, DatasetsError) as error:
        print(f"elicitation: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        stop.set()
    if stop.is_set():
        print("interrupted: the same command resumes here", file=sys.stderr)
        return 130
    return 1 if any(row["error"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
