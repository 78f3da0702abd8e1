"""Publishes the metric, the dataset and the demo on the Hugging Face Hub, and registers `ecuas` on this machine."""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from huggingface_hub import HfApi, constants, get_token
from huggingface_hub.utils import validate_repo_id

from ecuas_metric import __version__

from .checks import check
from .pushing import push
from .staging import PARTS, ROOT, Part, dataset_folder, stage

EPILOG = """\
examples
  python publish.py all --namespace NAME --dry-run
      check and list what would be uploaded; needs no account or network
  python publish.py all --namespace NAME
      upload it: the metric to the Space NAME/ecuas, the dataset to NAME/triviaqa-curated (with text if
      build/triviaqa_subset exists), the demo to the Space NAME/ecuas-demo. Needs `hf auth login` or HF_TOKEN
  python publish.py register
      make evaluate.load("ecuas") work on this machine, online and offline

Every part is checked before anything is uploaded. After a failure, run the command again: files that are already on
the Hub are not uploaded again.
"""


def publish(
    parts: list[Part], namespace: str, *, endpoint: str | None = None, private: bool = False, dry_run: bool = False
) -> None:
    """Stage and check the parts, then send them; print what is done, one line at a time.

    Parameters
    ----------
    parts : list of Part
        What to send, in this order.
    namespace : str
        A user or an organisation.
    endpoint : str, optional
        The Hub's URL. Default HF_ENDPOINT, else https://huggingface.co.
    private : bool
        Make new repositories private; refuse public ones.
    dry_run : bool
        Only list the files.

    Raises
    ------
    ValueError
        A part is not fit to be sent, or its name is taken.
    OSError
        A file is missing, nobody is logged in, or the Hub refuses or cannot be reached.
    """
    for part in parts:
        validate_repo_id(f"{namespace}/{part.repo_name}")
        if not part.folder.is_dir():
            raise FileNotFoundError(f"there is no folder {part.folder.name}/ to publish.")
    if not dry_run and get_token() is None:
        raise PermissionError("not logged in: run `hf auth login`, or set HF_TOKEN.")
    with tempfile.TemporaryDirectory(prefix="publish-") as folder:
        prepare(parts, Path(folder), namespace)
        send(parts, Path(folder), namespace, endpoint=endpoint, private=private, dry_run=dry_run)


def prepare(parts: list[Part], folder: Path, namespace: str) -> None:
    """Stage each part in a folder of its name inside `folder`, check it and list its files."""
    for part in parts:
        stage(part, folder / part.name, namespace)
        check(part, folder / part.name, __version__)
        print("\n".join(_listing(part, folder / part.name)), flush=True)


def send(
    parts: list[Part], folder: Path, namespace: str, *, endpoint: str | None, private: bool, dry_run: bool
) -> None:
    """Send what `prepare` left in `folder`, or say where it would go; see `publish`."""
    api, tag = HfApi(endpoint=endpoint), f"v{__version__}"
    for part in parts:
        repo_id = f"{namespace}/{part.repo_name}"
        url = f"{api.endpoint}/{constants.REPO_TYPES_URL_PREFIXES[part.repo_type]}{repo_id}"
        if dry_run:
            print(f"{part.name}: would go to {url}, tag {tag}")
        else:
            done = push(part, folder / part.name, api=api, repo_id=repo_id, tag=tag, private=private)
            print(f"{part.name}: {url} {done}", flush=True)


def _listing(part: Part, folder: Path) -> list[str]:
    sizes = {path.relative_to(folder).as_posix(): path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    files = [f"  {size:>9,}  {name}" for name, size in sorted(sizes.items())]
    origin = dataset_folder() if part.name == "dataset" else part.folder
    origin = origin.relative_to(ROOT) if origin.is_relative_to(ROOT) else origin
    return [f"{part.name}: {len(sizes)} files, {sum(sizes.values()):,} bytes, from {origin}/, checked", *files]


def chosen(name: str) -> list[Part]:
    """Return the parts of a name of the command line; `all` does without a part whose folder does not exist."""
    if name != "all":
        return [PARTS[name]]
    for part in PARTS.values():
        if not part.folder.is_dir():
            print(f"{part.name}: left out, there is no folder {part.folder.name}/")
    return [part for part in PARTS.values() if part.folder.is_dir()]


def parser() -> argparse.ArgumentParser:
    """Make the command line."""
    made = argparse.ArgumentParser(
        prog="publish.py", description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in (*PARTS, "all"):
        command = commands.add_parser(name, help=f"publish the {name}" if name != "all" else "publish all three")
        command.add_argument("--namespace", required=True, metavar="NAME", help="a user or an organisation of the Hub")
        endpoint = command.add_argument("--endpoint", metavar="URL", help=f"the Hub (default: {constants.ENDPOINT})")
        endpoint.type = lambda url: url.rstrip("/")
        command.add_argument("--private", action="store_true", help="make new repositories private")
        command.add_argument("--dry-run", action="store_true", help="check and list the files without uploading")
    commands.add_parser("register", help='make evaluate.load("ecuas") work on this machine')
    commands.add_parser("unregister", help="undo register")
    return made


def run(command: str, **options: Any) -> None:
    """Do what one command line asks."""
    if command in ("register", "unregister"):
        from . import registration  # takes Evaluate's second to import

        print(registration.register(__version__) if command == "register" else registration.unregister())
    else:
        publish(chosen(command), **options)


def main(argv: list[str] | None = None) -> int:
    """Run the command line; 2 and one line on stderr when something cannot be done."""
    try:
        run(**vars(parser().parse_args(argv)))
    except (ValueError, OSError) as error:
        print(f"publish: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
