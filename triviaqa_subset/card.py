"""The metadata of the dataset card: what `load_dataset` needs to know about the Parquet files."""

from pathlib import Path

from datasets import Dataset, DatasetInfo
from datasets.info import DatasetInfosDict
from datasets.splits import SplitDict, SplitInfo
from huggingface_hub import DatasetCard

SPLIT = "validation"  # the split of TriviaQA from which every question comes
DEFAULT = "curated"


def write_card(template: Path, card: Path, tables: dict[str, Dataset], data: Path, remark: str = "") -> None:
    """Write the card with `configs` and `dataset_info` of these tables; keep the rest of the template.

    Parameters
    ----------
    template : Path
        A card, whose text and other metadata are kept.
    card : Path
        The file to write.
    tables : dict of str to Dataset
        One configuration each.
    data : Path
        The folder of their Parquet files, for the sizes.
    remark : str
        What distinguishes this copy from the one that the text describes, to be set above the text.
    """
    page = DatasetCard.load(template)
    page.data.configs = [_config(name) for name in tables]
    infos = DatasetInfosDict({name: _info(name, table, data) for name, table in tables.items()})
    infos.to_dataset_card_data(page.data)
    if remark:
        page.text = f"\n> This copy: {remark}.\n" + page.text
    page.save(card)


def _config(name: str) -> dict[str, object]:
    files = {"data_files": [{"split": SPLIT, "path": f"data/{name}.parquet"}]}
    return {"config_name": name, **({"default": True} if name == DEFAULT else {}), **files}


def _info(name: str, table: Dataset, data: Path) -> DatasetInfo:
    split = SplitInfo(name=SPLIT, num_bytes=table.data.nbytes, num_examples=len(table))
    return DatasetInfo(
        config_name=name,
        features=table.features,
        splits=SplitDict({SPLIT: split}),
        download_size=(data / f"{name}.parquet").stat().st_size,
        dataset_size=table.data.nbytes,
    )
