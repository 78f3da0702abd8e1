"""`ecuas read`: how files would be read, without a number."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from ...errors import InputError
from ...files.read import read_sheet
from ...files.recipe import Recipe, describe, lines_of
from .flags import Flag
from .parameters import Columns, Files, MetricOptions, Notes, RowFlags
from .reading import read_files, recipes_of


def show_recipes(
    *,
    files: Files,
    columns: Columns,
    right: Annotated[str | None, Flag("as of `ecuas score`", "WORD")] = None,
    labels: Annotated[str | None, Flag("as of `ecuas score`", "CLASS,..")] = None,
    output: Annotated[str | None, Flag("write the recipe to this file, for --recipe", "FILE")] = None,
) -> Notes:
    """Print how files are read, and what their columns hold."""
    rows = RowFlags(**asdict(columns), right=right, labels=labels)
    outputs = [] if output is None else [output]
    submissions = read_files(files, rows, groups=None, metric=MetricOptions(), unlabelled="bounds", outputs=outputs)
    recipes = {recipe.source: recipe for recipe in recipes_of(submissions) if recipe is not None}
    for recipe in recipes.values():
        _show(recipe)
    if output is not None:
        if len({recipe.said() for recipe in recipes.values()}) > 1:
            raise InputError("--output", "several_recipes", got=", ".join(recipes))
        Path(output).write_text(next(iter(recipes.values())).to_json() + "\n", encoding="utf-8")
    return [(one.name, note) for one in submissions for note in one.notes]


def _show(recipe: Recipe) -> None:
    """Print how a file is read, and what the columns of a table hold."""
    print(*lines_of([recipe]), sep="\n")
    if recipe.format == "run":
        return
    table = read_sheet(recipe.source, rows=recipe.path or None).table
    for name in table.column_names:
        print(f"  {describe(table, name)}")
