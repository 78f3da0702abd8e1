"""The bare name: `evaluate.load("ecuas")` on this machine, from Evaluate's own cache of modules."""

import hashlib
import json
import shutil
import tempfile
from pathlib import Path

from evaluate import config

from .staging import SCRIPT, imported

# Evaluate looks here when the Hub has no evaluate-metric/ecuas or cannot be reached, and takes the youngest version.
CACHE = (
    config.HF_MODULES_CACHE
    / config.MODULE_NAME_FOR_DYNAMIC_MODULES
    / "metrics"
    / "evaluate-metric--ecuas"
)
NOTE = "ecuas.json"  # Evaluate's own note has other keys


def register(version: str) -> str:
    """Put the metric into Evaluate's cache, in place of an earlier one, and return what was done."""
    unregister()
    CACHE.mkdir(parents=True, exist_ok=True)
    for package in (CACHE.parent, CACHE):
        (package / "__init__.py").touch()
    names = (SCRIPT.name, *imported(SCRIPT))
    files = {name: (SCRIPT.parent / name).read_bytes() for name in names}
    digest = hashlib.sha256(b"".join(files.values()))
    files["__init__.py"] = b""
    files[NOTE] = json.dumps({"registered": version}).encode()
    folder = Path(tempfile.mkdtemp(dir=CACHE, prefix=".new-"))
    for name, content in files.items():
        (folder / name).write_bytes(content)
    target = CACHE / digest.hexdigest()
    folder.rename(target)  # whole or not at all
    return f'evaluate.load("ecuas") is version {version}: {target}'


def unregister() -> str:
    """Remove the registered metric from Evaluate's cache; files that Evaluate put there itself stay."""
    notes = [
        note
        for note in CACHE.glob(f"{'?' * 64}/{NOTE}")
        if "registered" in json.loads(note.read_text())
    ]
    for note in notes:
        shutil.rmtree(note.parent)
    return f"removed {len(notes)} registered version{'' if len(notes) == 1 else 's'}"
