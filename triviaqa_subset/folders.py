"""The folder of the committed dataset, and the one that a build with text goes to."""

from pathlib import Path

FOLDER = Path(__file__).resolve().parent
# An installed package must not write beside itself; in a clone the place does not depend on where a command starts.
_INSTALLED = bool({"site-packages", "dist-packages"} & set(FOLDER.parts))
BUILT = (Path() if _INSTALLED else FOLDER.parent) / "build" / "triviaqa_subset"


def dataset_folder() -> Path:
    """Return the folder of the build with text, if there is one, else the committed one."""
    return BUILT if (BUILT / "data").is_dir() else FOLDER
