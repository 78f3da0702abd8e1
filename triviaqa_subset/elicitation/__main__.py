"""The command line of a run: asks a language model for answers and confidences, and grades them."""

import sys
from threading import Event

from datasets.exceptions import DatasetsError

from .command import parser
from .judging import summary
from .pipeline import graded_file, run
from .questions import load_questions
from .settings import run_settings


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return 2, with one line on stderr, if it cannot start, and 130 if it was interrupted."""
    arguments, stop = parser().parse_args(argv), Event()
    try:
        questions, remarks = load_questions(arguments.task, dataset=arguments.dataset, source=arguments.source)
        for remark in remarks:
            print(remark, file=sys.stderr)
        questions = questions[: arguments.limit]
        settings = run_settings(arguments)
        graded = run(questions, settings, stop)
        print("\n".join([*summary(graded, len(questions)), f"graded: {graded_file(settings.out)}"]))
    except (ValueError, OSError, DatasetsError) as error:
        print(f"elicitation: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        stop.set()
    if stop.is_set():
        print("interrupted: the same command resumes here", file=sys.stderr)
    return 130 if stop.is_set() else 0


if __name__ == "__main__":
    sys.exit(main())
