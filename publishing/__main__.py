"""Publishes the metric, the dataset and the demo on the Hugging Face Hub, and registers `ecuas` on this machine."""

import argparse
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from huggingface_hub import HfApi, constants, get_session, get_token
from huggingface_hub.utils import validate_repo_id

from ecuas_metric import __version__

from .checks import check
from .pushing import Refused, push
from .staging import PARTS, ROOT, STATIC_METRIC, Part, dataset_folder, stage

CHANGELOG = ROOT / "CHANGELOG.md"
SECONDS = 120  # without an answer, of one request

EPILOG = """\
examples
  python publish.py all --namespace NAME --dry-run
      check and list what would be uploaded; needs no account or network
  python publish.py all --namespace NAME
      upload it: the dataset to NAME/triviaqa-curated (with text if build/triviaqa_subset exists), the metric to the
      Space NAME/ecuas, the demo to the Space NAME/ecuas-demo. Needs `hf auth login` or HF_TOKEN
  python publish.py all --namespace NAME --static
      the metric as a Space without a program, which a free account can create
  python publish.py register
      make evaluate.load("ecuas") work on this machine, online and offline

Every part is checked before anything is uploaded, and a part that the Hub refuses does not stop the next one. After a
failure, run the command again: files that are already on the Hub are not uploaded again. Files on the Hub that this
version does not have, such as a thumbnail, are kept and listed; --delete deletes them. What CHANGELOG.md lists under
"Unreleased" is uploaded without a tag.
"""


def publish(
    parts: list[Part], namespace: str, *, endpoint: str | None = None, dry_run: bool = False, **how: bool
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
    dry_run : bool
        Only list the files.
    **how : bool
        `private` and `delete`, see `push`.

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
        send(parts, Path(folder), namespace, endpoint=endpoint, dry_run=dry_run, **how)


def prepare(parts: list[Part], folder: Path, namespace: str) -> None:
    """Stage each part in a folder of its name inside `folder`, check it and list its files."""
    for part in parts:
        stage(part, folder / part.name, namespace)
        check(part, folder / part.name, __version__)
        print("\n".join(_listing(part, folder / part.name)), flush=True)


def send(
    parts: list[Part], folder: Path, namespace: str, *, endpoint: str | None, dry_run: bool = False, **how: bool
) -> None:
    """Send what `prepare` left in `folder`, or say where it would go; see `publish`."""
    api, tag, missing = HfApi(endpoint=endpoint), version_tag(), []
    _bound_waiting()
    for part in parts:
        repo_id = f"{namespace}/{part.repo_name}"
        url = f"{api.endpoint}/{constants.REPO_TYPES_URL_PREFIXES[part.repo_type]}{repo_id}"
        if dry_run:
            print(f"{part.name}: would go to {url}, {f'tag {tag}' if tag else 'without a tag'}")
            continue
        try:
            done = push(part, folder / part.name, api=api, repo_id=repo_id, tag=tag, **how)
            print(f"{part.name}: {url} {done}", flush=True)
        except (ConnectionError, ValueError) as error:
            if len(parts) == 1:
                raise
            print(f"{part.name}: {' '.join(str(error).split())}", file=sys.stderr, flush=True)
            missing.append(part.name)
            if not isinstance(error, Refused | ValueError):  # the next one cannot be reached either
                missing += [later.name for later in parts[parts.index(part) + 1 :]]
                break
    if missing:
        raise Refused(f"not sent: {', '.join(missing)}, see above; {len(parts) - len(missing)} of {len(parts)} were.")


def version_tag() -> str | None:
    """Return the tag of this version, None if there are changes that no version has yet."""
    text = CHANGELOG.read_text(encoding="utf-8") if CHANGELOG.is_file() else ""
    unreleased = re.search(r"^## Unreleased\n(.*?)(?=^## |\Z)", text, flags=re.MULTILINE | re.DOTALL)
    return None if unreleased and unreleased[1].strip() else f"v{__version__}"


def _bound_waiting() -> None:
    """Let no request wait for ever, and the client of large files give up after a few attempts."""
    get_session().timeout = SECONDS
    os.environ.setdefault("HF_XET_CLIENT_RETRY_MAX_ATTEMPTS", "2")


def _listing(part: Part, folder: Path) -> list[str]:
    sizes = {path.relative_to(folder).as_posix(): path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    files = [f"  {size:>9,}  {name}" for name, size in sorted(sizes.items())]
    origin = dataset_folder() if part.name == "dataset" else part.folder
    origin = origin.relative_to(ROOT) if origin.is_relative_to(ROOT) else origin
    return [f"{part.name}: {len(sizes)} files, {sum(sizes.values()):,} bytes, from {origin}/, checked", *files]


def chosen(name: str, *, static: bool = False) -> list[Part]:
    """Return the parts of a name of the command line; `all` does without a part whose folder does not exist."""
    parts = PARTS | ({"metric": STATIC_METRIC} if static else {})
    if name != "all":
        return [parts[name]]
    for part in parts.values():
        if not part.folder.is_dir():
            print(f"{part.name}: left out, there is no folder {part.folder.name}/")
    return [part for part in parts.values() if part.folder.is_dir()]


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
        command.add_argument("--delete", action="store_true", help="delete files there that this version does not have")
        if name in ("metric", "all"):
            command.add_argument(
                "--static", action="store_true", help="the metric as a Space that any account can create"
            )
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
        publish(chosen(command, static=options.pop("static", False)), **options)


def main(argv: list[str] | None = None) -> int:
    """Run the command line; 2 and one line on stderr when something cannot be done."""
    try:
        run(**vars(parser().parse_args(argv)))
    except (ValueError, OSError) as error:
        print(f"publish: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("publish: stopped. Run this again: what is there is not sent again.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
