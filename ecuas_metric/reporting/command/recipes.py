"""`ecuas read`: how files would be read, without a number."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated

from ...errors import FileError, InputError, Note
from ...files.asking import list_columns
from ...files.read import read_sheet
from ...files.recipe import Recipe, describe_recipes, recipes_to_json
from ...files.roles import ROLES_LACKING
from ...files.submissions import Submission
from ...files.write import write_whole
from ..report import Notes, prepare_open
from .flags import Flag
from .parameters import Files, MetricOptions, PredictionsAre, Renormalize, RowFlags
from .reading import list_recipes, read_files, without_truth

NO_LABELS = "No column is read as the labels: `ecuas score` needs them, `ecuas decide` does not."


def show_recipes(
    *,
    files: Files,
    rows: RowFlags,
    predictions_are: PredictionsAre = None,
    renormalize: Renormalize = False,
    output: Annotated[
        str | None, Flag("write the recipe to this file, for --recipe", "FILE", writes=("",))
    ] = None,
) -> Notes:
    """Print how files are read, and what their columns hold; they are refused where `ecuas score` refuses them."""
    metric = MetricOptions(predictions_are=predictions_are, renormalize=renormalize)
    submissions, remarks = _read(files, rows, metric)
    for one in submissions:  # whose numbers may be none of its form, as logits are no probabilities
        prepare_open([one], **metric.options())
    read_as = list_recipes(submissions)
    if remarks:
        read_as = list(map(without_truth, read_as))
    by_file: dict[str, dict[str, Recipe]] = {}
    for recipe in read_as:
        by_file.setdefault(recipe.source, {})[recipe.describe()] = recipe
    for recipes in by_file.values():
        _show(list(recipes.values()))
    if output is not None:
        _write(output, by_file)
    return remarks + [(one.name, note) for one in submissions for note in one.notes]


def _write(path: str, by_file: Mapping[str, Mapping[str, Recipe]]) -> None:
    """Write the recipes that each file has, by what they say, to a file; InputError if files have others."""
    ways = {tuple(recipes): list(recipes.values()) for recipes in by_file.values()}
    if len(ways) > 1:
        raise InputError("--output", "several_recipes", got=", ".join(by_file))
    text = recipes_to_json(*ways.values())
    write_whole(path, f"{text}\n".encode())


def _read(
    files: Sequence[str], rows: RowFlags, metric: MetricOptions
) -> tuple[list[Submission], Notes]:
    """Return the systems of files, or those of the new rows of one file, with a remark that they have no labels."""
    read = partial(
        read_files,
        files,
        rows,
        metric=metric,
        unlabelled="bounds",
    )
    try:
        return read(), []
    except FileError as error:
        if error.rule not in ROLES_LACKING or len(files) > 1:
            raise
        try:
            submissions = read(are_new=True)
        except FileError:
            raise error from None
        return submissions, [("", Note(NO_LABELS))]


def _show(recipes: Sequence[Recipe]) -> None:
    """Print how the systems of a file are read, and what the columns of a table hold."""
    print(*describe_recipes(recipes), sep="\n")
    first = recipes[0]
    if first.format == "run":
        return
    table = read_sheet(first.source, rows=first.path or None).table
    print(*(f"  {line}" for line in list_columns(table, len(table.column_names))), sep="\n")
