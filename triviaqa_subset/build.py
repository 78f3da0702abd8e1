"""Builds the dataset: our curation + TriviaQA -> Parquet, the card's YAML and SHA256SUMS."""

import argparse
import hashlib
import json
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
from datasets import Dataset
from datasets.exceptions import DatasetsError
from huggingface_hub import DatasetCard

from .card import PAGE, card_tables, fill, write_card
from .configurations import make_configurations
from .croissant import describe
from .folders import BUILT, FOLDER
from .labels import STRATA, read_labels
from .pool import HUB, START, SUFFIXES, Pool, draw_pool, read_source
from .selection import AUTHORS, check_ours, choose, weights

SUMS = "SHA256SUMS"
CROISSANT = "croissant.json"
EPILOG = f"""\
examples
  python -m triviaqa_subset.build
      with text from the Hub's {HUB["path"]}, into build/triviaqa_subset of the clone
  python -m triviaqa_subset.build --source trivia_qa.parquet --out ~/triviaqa
      with text from a file
  python -m triviaqa_subset.build --without-text
      ids, labels and hashes only, into the folder of the package: the form that is committed
  python -m triviaqa_subset.build --selection authors
      the questions of {AUTHORS} instead of ours
  python -m triviaqa_subset.build --selection curation-1
      our questions of the first curation; --selection curation-2 of the second
"""


def build(
    out: str | Path,
    *,
    source: str | None = None,  # instead of the Hub, see `read_source`
    without_text: bool = False,  # needs no source, and only checks a given one
    selection: str | None = None,  # other questions for the subset, see `choose`
    curation: str | Path = FOLDER / "curation",  # what `read_labels` reads
) -> list[str]:
    """Build the dataset into a folder, which a build that fails leaves as it was; return lines on what was built."""
    labels = read_labels(curation)
    check_ours(labels.questions)
    from_text = source is not None or not without_text
    pool = draw_pool(read_source(source), labels.questions) if from_text else None
    texts = pool.texts if pool else {}
    selected, remark = labels.questions["selected"], ""
    if selection is not None:
        selected, remark = choose(labels.questions, selection, texts)
    weight = weights(labels.questions, selected)
    tables = make_configurations(labels, selected, weight, {} if without_text else texts)
    made = card_tables(labels)
    write(tables, Path(out), remark, made)
    if Path(out) == FOLDER and PAGE.exists():
        PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), made), encoding="utf-8")
    sizes = [f"{name}: {len(table)} rows" for name, table in tables.items()]
    return [*_remarks(pool), *([remark] if remark else []), *sizes]


def write(tables: dict[str, Dataset], out: Path, remark: str = "", made: dict[str, str] | None = None) -> None:
    """Write everything to a folder within `out`, then move it into place: all changes together or not at all."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out, prefix=".build-") as folder:
        stage = Path(folder)
        (stage / "data").mkdir()
        for name, table in tables.items():
            path = stage / "data" / f"{name}.parquet"
            pq.write_table(table.with_format("arrow")[:], path, compression="zstd", write_page_index=True)
        files = sorted((stage / "data").iterdir())
        sums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
        (stage / "data" / SUMS).write_text("".join(f"{sha256}  {name}\n" for name, sha256 in sums.items()))
        write_card(FOLDER / "README.md", stage / "README.md", tables, remark, made)
        license = DatasetCard.load(stage / "README.md").data.license
        (stage / "data" / CROISSANT).write_text(json.dumps(describe(tables, sums, license), indent=1) + "\n")
        _replace(stage, out, ("data", "README.md"))


def _replace(stage: Path, out: Path, names: tuple[str, ...]) -> None:
    """Move what was made into its place; on any failure move everything back."""
    (stage / "old").mkdir()
    done: list[tuple[Path, Path]] = []

    def move(source: Path, target: Path) -> None:
        source.rename(target)
        done.append((source, target))

    try:
        for name in names:
            if (out / name).exists():
                move(out / name, stage / "old" / name)
            move(stage / name, out / name)
    except BaseException:
        for source, target in reversed(done):
            target.rename(source)
        raise


def _remarks(pool: Pool | None) -> list[str]:
    if pool is None:
        return ["made from the curation alone: the redraw and the question texts were not checked"]
    draw = "the redraw agrees with the curation"
    if not pool.redrawn:
        draw = "the source has the pool's questions only: joined by question_id, the redraw was not checked"
    other = [question_id for question_id, agrees in pool.aliases.items() if not agrees]
    named = f"{len(other)} ({', '.join(other[:3])}{', ...' if len(other) > 3 else ''})" if other else "none"
    golds = [row["answer"] for row in pool.texts.values()]
    without_alias = sum(not (gold["aliases"] or gold["normalized_aliases"]) for gold in golds)
    return [
        draw,
        f"question texts checked by hash: {len(pool.texts)} of {len(pool.texts)}; "
        f"by that of their first {START} characters: {', '.join(pool.by_start) or 'none'}",
        f"gold aliases checked by hash: {len(pool.aliases)} of {len(pool.texts)}; "
        f"other than those of the curation: {named}",
        f"questions without a gold alias in this source: {without_alias}",
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m triviaqa_subset.build",
        description=f"Build the curated TriviaQA subset ({sum(STRATA.values())} questions).",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--source", metavar="FILE", help=f"file with TriviaQA's rows ({', '.join(SUFFIXES)}), instead of the Hub")
    add("--without-text", action="store_true", help="leave questions and answers out")
    named = "`authors`, `curation-1`, `curation-2`, or a file or a Hub dataset of questions"
    add("--selection", metavar="NAME", help=named)
    add("--curation", metavar="DIR", default=FOLDER / "curation", help="the folder of the curation's CSV files")
    add("--out", metavar="DIR", help="the folder to write to (default: see the examples)")
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return 2, with one line on stderr, if the dataset cannot be built."""
    options = vars(_parser().parse_args(argv))
    committed = options["without_text"] and options["selection"] is None
    out = Path(options.pop("out") or (FOLDER if committed else BUILT))
    try:
        lines = build(out, **options)
    except (ValueError, OSError, DatasetsError) as error:
        print(f"build: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    print("\n".join([*lines, f"written to {out}"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
