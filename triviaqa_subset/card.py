"""The machine-read part of the dataset card: what `load_dataset` needs to know of the Parquet files."""

from pathlib import Path

from datasets import Dataset, DatasetInfo
from datasets.info import DatasetInfosDict
from datasets.splits import SplitDict, SplitInfo
from huggingface_hub import DatasetCard

SPLIT = "validation"  # of TriviaQA, where every question comes from
DEFAULT = "curated"


def write_card(template: Path, card: Path, tables: dict[str, Dataset], data: Path, remark: str = "") -> None:
    """Write the card with `configs` and `dataset_info` of these tables; keep the rest of the template.

    Parameters
    ----------
    template : Path
        A card; its text and its other metadata are kept.
    card : Path
        Where to write.
    tables : dict of str to Dataset
        One configuration each.
    data : Path
        The folder of their Parquet files, for the sizes.
    remark : str
        A remark to set above the text: what makes this copy another one than the text describes.
    """
    made = DatasetCard.load(template)
    made.data.configs = [_config(name) for name in tables]
    infos = DatasetInfosDict({name: _info(name, table, data) for name, table in tables.items()})
    infos.to_dataset_card_data(made.data)
    if remark:
        made.text = f"\n> This copy: {remark}.\n" + made.text
    made.save(card)


def _config(name: str) -> dict:
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
