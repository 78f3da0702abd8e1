"""The dataset card: what `load_dataset` needs to know about the Parquet files, and the licence."""

from collections.abc import Mapping
from pathlib import Path

from datasets import Dataset
from huggingface_hub import DatasetCard

SPLIT = "validation"  # the split of TriviaQA from which every question comes
DEFAULT = "curated"
TEXT_LICENSE = "unknown"  # what TriviaQA's own card on the Hub says of the texts


def write_card(
    template: Path,
    card: Path,
    tables: Mapping[str, Dataset],
    remark: str = "",
) -> None:
    """Write the card with the `configs` of these tables, and a remark on how this copy differs."""
    page = DatasetCard.load(template)
    page.data.configs = []
    for name in tables:
        default = {"default": True} if name == DEFAULT else {}
        files = [{"split": SPLIT, "path": f"data/{name}.parquet"}]
        page.data.configs.append({"config_name": name, **default, "data_files": files})
    if any("question" in table.column_names for table in tables.values()):
        page.data.license = TEXT_LICENSE
    if remark:
        page.text = f"\n> This copy: {remark}.\n" + page.text
    page.save(card)
