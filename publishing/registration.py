"""The bare name: `evaluate.load("ecuas")` on this machine, from Evaluate's own cache of modules."""

import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path

from evaluate import config

from .staging import SCRIPT, imported

# Evaluate looks here when the Hub has no evaluate-metric/ecuas or cannot be reached, and takes the youngest version.
CACHE = config.HF_MODULES_CACHE / config.MODULE_NAME_FOR_DYNAMIC_MODULES / "metrics" / "evaluate-metric--ecuas"
NOTE = "ecuas.json"  # Evaluate's own note has other keys


def register(version: str) -> str:
    """Put the metric into Evaluate's cache, in place of the version that was registered before.

    Parameters
    ----------
    version : str
        Its version.

    Returns
    -------
    str
        What was done.
    """
    files = {name: (SCRIPT.parent / name).read_bytes() for name in (SCRIPT.name, *imported(SCRIPT))}
    target = CACHE / hashlib.sha256(b"".join(b"%b\n%b" % (n.encode(), c) for n, c in files.items())).hexdigest()
    CACHE.mkdir(parents=True, exist_ok=True)
    for package in (CACHE.parent, CACHE):
        (package / "__init__.py").touch()
    if not target.exists():
        _write(target, files | {"__init__.py": b"", NOTE: json.dumps({"registered": version}).encode()})
    os.utime(target / SCRIPT.name)
    _remove(registered() - {target})
    return f'evaluate.load("ecuas") is version {version}: {target}'


def unregister() -> str:
    """Take what was registered out of Evaluate's cache again; what Evaluate put there itself stays."""
    found = registered()
    _remove(found)
    if not _versions():
        shutil.rmtree(CACHE, ignore_errors=True)
    return f"removed {len(found)} registered version{'' if len(found) == 1 else 's'}"


def registered() -> set[Path]:
    """Return the folders of registered versions."""
    return {folder for folder in _versions() if "registered" in _note(folder)}


def _versions() -> list[Path]:
    return [path for path in CACHE.glob("*") if len(path.name) == 64]


def _note(folder: Path) -> dict[str, str]:
    return json.loads((folder / NOTE).read_text()) if (folder / NOTE).is_file() else {}


def _write(target: Path, files: dict[str, bytes]) -> None:
    """Write a folder whole or not at all."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".new-") as scratch:
        made = Path(scratch, "made")
        made.mkdir()
        for name, content in files.items():
            (made / name).write_bytes(content)
        made.rename(target)


def _remove(folders: set[Path]) -> None:
    for folder in folders:
        shutil.rmtree(folder)
