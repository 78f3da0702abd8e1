"""`ecuas publish-results`: the results of a model, on the boards of the Hub."""

from pathlib import Path
from typing import Annotated

from ...costs import ECUAS_N
from ...errors import InputError
from ...files.systems import prepare_submissions
from ...files.write import write_whole
from ...hub.eval_results import (
    eval_result_entries,
    make_entry_files,
    open_pull_request,
    require_repository,
)
from ...hub.every_eval_ever import make_evaluation_files
from ...metric import Key
from ...options import LEVEL
from ..report import Notes, make_report
from .flags import Flag
from .parameters import Files, MetricOptions, RowFlags, list_set_options, match_keys
from .reading import list_notes, read_files


def publish_results(
    *,
    model: Annotated[str, Flag("the model's repository on the Hub, NAMESPACE/NAME", "MODEL")],
    files: Files,
    rows: RowFlags,
    metric: MetricOptions,
    benchmark: Annotated[
        str, Flag("the dataset on the Hub that the questions are of, NAMESPACE/NAME", "DATASET")
    ] = "",
    metrics: Annotated[
        str | None, Flag("the metrics, each a task of the benchmark (default ecuas_1)", "METRIC,..")
    ] = None,
    source: Annotated[
        str | None, Flag("an address where the evaluation can be seen", "URL")
    ] = None,
    every_eval_ever: Annotated[
        str | None,
        Flag(
            "also write all metrics and samples to this folder, as Every Eval Ever has them",
            "DIR",
            writes=("*",),
        ),
    ] = None,
    organization: Annotated[
        str, Flag("who evaluated the model", "NAME", needs=("every_eval_ever",))
    ] = "unknown",
    pull_request: Annotated[
        bool, Flag("open the pull request; without it the files are only printed")
    ] = False,
) -> Notes:
    """Print the results of one model as the Hub's boards take them, or open a pull request with them."""
    require_repository(model, "MODEL")
    if not benchmark:
        raise InputError(
            "--benchmark", "is missing: the dataset on the Hub that the questions are of"
        )
    options = metric.options() | {"confidence_level": LEVEL}
    systems = prepare_submissions(read_files(files, rows, metric=metric), **options)
    if len(systems) > 1:
        raise InputError(
            "publish-results",
            "takes the answers of one system on one task",
            got=", ".join(systems),
            advice="Of a run, choose a task with --tasks; of a table of several systems, save the rows of one.",
        )
    ((name, system),) = systems.items()
    results = make_report(systems).results[name]
    keys = [Key(ECUAS_N.name, 1.0)]
    if metrics is not None:
        keys = match_keys(metrics, list(results.estimates), list_set_options(options))
    entries = eval_result_entries(results, benchmark=benchmark, only=keys, source=source)
    texts = make_entry_files(entries)
    for path, text in texts.items():
        print(f"# {path} of {model}", text, sep="\n")
    if every_eval_ever is not None:
        written = make_evaluation_files(
            system, results, model=model, benchmark=benchmark, organization=organization
        )
        for place, content in written.items():
            write_whole(Path(every_eval_ever, place), content.encode())
    if pull_request:
        print(open_pull_request(model, texts, title=f"Add results on {benchmark}"))
    return list_notes({name: system})
