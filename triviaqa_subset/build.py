"""Builds the dataset: our curation + TriviaQA -> Parquet, the card's YAML and SHA256SUMS."""

import argparse
import hashlib
import json
import shutil
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
from datasets import Dataset
from datasets.exceptions import DatasetsError
from huggingface_hub import DatasetCard

from .configurations import SCORES_LICENSE, make_configurations
from .croissant import describe
from .folders import BUILT, FOLDER
from .labels import CURATION, STRATA, read_labels
from .pool import HUB, START, SUFFIXES, Pool, TriviaRow, draw_pool, read_source
from .selection import AUTHORS, choose, weights

SUMS = "SHA256SUMS"
CROISSANT = "croissant.json"
TEXT_LICENSE = "unknown"  # what TriviaQA's own card on the Hub says of the texts
NOT_REDRAWN = (
    "the source has the pool's questions only: joined by question_id, the redraw was not checked"
)
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
    curation: Path = CURATION,
) -> list[str]:
    """Build the dataset into a folder, which a build that fails leaves as it was; return lines on what was built."""
    labels = read_labels(curation)
    lines = ["made from the curation alone: the redraw and the question texts were not checked"]
    texts: dict[str, TriviaRow] = {}
    if source is not None or not without_text:
        pool = draw_pool(read_source(source), labels.questions)
        texts = pool.texts
        lines = _remarks(pool)
    selected = labels.questions["selected"]
    remark = ""
    if selection is not None:
        selected, remark = choose(labels.questions, selection)
        lines.append(remark)
    weight = weights(labels.questions, selected)
    tables = make_configurations(labels, selected, weight, {} if without_text else texts)
    write(tables, Path(out), remark)
    return lines + [f"{name}: {len(table)} rows" for name, table in tables.items()]


def write(
    tables: dict[str, Dataset],
    out: Path,
    remark: str = "",
) -> None:
    """Write everything to a folder within `out`, then move it into place, so that a failure leaves what was there."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out, prefix=".build-") as folder:
        stage = Path(folder)
        data = stage / "data"
        data.mkdir()
        sums = {}
        for name, table in sorted(tables.items()):
            path = data / f"{name}.parquet"
            pq.write_table(
                table.with_format("arrow")[:],
                path,
                compression="zstd",
                write_page_index=True,
            )
            sums[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
        shutil.copyfile(CURATION / SCORES_LICENSE, data / SCORES_LICENSE)
        (data / SUMS).write_text("".join(f"{sha256}  {name}\n" for name, sha256 in sums.items()))
        has_text = any("question" in table.column_names for table in tables.values())
        write_card(stage / "README.md", has_text=has_text, remark=remark)
        license = DatasetCard.load(stage / "README.md").data.license
        (data / CROISSANT).write_text(json.dumps(describe(tables, sums, license), indent=1) + "\n")
        if (out / "data").exists():
            (out / "data").rename(stage / "old")
        data.rename(out / "data")
        (stage / "README.md").replace(out / "README.md")


def write_card(card: Path, *, has_text: bool, remark: str) -> None:
    """Write the card with the licence of texts, if there are some, and a remark on how this copy differs."""
    page = DatasetCard.load(FOLDER / "README.md")
    if has_text:
        page.data.license = TEXT_LICENSE
    if remark:
        page.text = f"\n> This copy: {remark}.\n" + page.text
    page.save(card)


def _remarks(pool: Pool) -> list[str]:
    """Return what of the texts was checked."""
    other = [question_id for question_id, agrees in pool.aliases.items() if not agrees]
    first = ", ".join(other[:3]) + (", ..." if len(other) > 3 else "")
    golds = [row["answer"] for row in pool.texts.values()]
    without_alias = [gold for gold in golds if not gold["aliases"] + gold["normalized_aliases"]]
    return [
        "the redraw agrees with the curation" if pool.redrawn else NOT_REDRAWN,
        f"question texts checked by hash: {len(pool.texts)} of {len(pool.texts)}; "
        f"by that of their first {START} characters: {', '.join(pool.by_start) or 'none'}",
        f"gold aliases checked by hash: {len(pool.aliases)} of {len(pool.texts)}; "
        f"other than those of the curation: {f'{len(other)} ({first})' if other else 'none'}",
        f"questions without a gold alias in this source: {len(without_alias)}",
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m triviaqa_subset.build",
        description=f"Build the curated TriviaQA subset ({sum(STRATA.values())} questions).",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    files = ", ".join(SUFFIXES)
    parser.add_argument(
        "--source", metavar="FILE", help=f"file with TriviaQA's rows ({files}), instead of the Hub"
    )
    parser.add_argument(
        "--without-text", action="store_true", help="leave questions and answers out"
    )
    releases = "`authors`, `curation-1`, `curation-2`, or a file or a Hub dataset of questions"
    parser.add_argument("--selection", metavar="NAME", help=releases)
    parser.add_argument(
        "--out", metavar="DIR", help="the folder to write to (default: see the examples)"
    )
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
