"""Publishes the metric, the dataset and the demo on the Hugging Face Hub, and registers `ecuas` on this machine."""

import argparse
import re
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

from huggingface_hub import HfApi, constants, get_session, get_token
from huggingface_hub.errors import HFValidationError, HTTPError
from huggingface_hub.utils import logging, validate_repo_id

from ecuas_metric import __version__

from .staging import PARTS, STATIC_METRIC, Part, check, require_committed, stage

TAG = None if "dev" in __version__ else f"v{__version__}"
EPILOG = """\
dataset (with text if build/triviaqa_subset exists) goes to NAME/triviaqa-curated, metric to the Space NAME/ecuas, space
to the Space NAME/ecuas-demo. It needs `hf auth login` or HF_TOKEN; --dry-run does not. Every part is checked before
anything is sent. After a failure run this again: what is there is not sent again. A development version gets no tag.
register makes evaluate.load("ecuas") work on this machine, online and offline; unregister undoes it."""
FLAGS = {
    "--dry-run": "check and list the files without uploading",
    "--static": "the metric as a Space without a program, which a free account can create",
    "--private": "make new repositories private",
    "--delete": "delete files there that this version does not have",
}
# some by the Hub itself
ANYBODYS = {".gitattributes", "README.md", "LICENSE", "index.html", "style.css"}
AGAIN = "Run this again: what is there is not sent again."
# The demo has the dataset beside it on purpose.
warnings.filterwarnings("ignore", message="It seems that you are about to commit a data file")


def publish(
    parts: list[Part],
    *,
    namespace: str,
    dry_run: bool,
    private: bool,
    delete: bool,
) -> None:
    """Stage and check all parts and list their files, then upload one after the other."""
    if not dry_run and get_token() is None:
        raise PermissionError("not logged in: run `hf auth login`, or set HF_TOKEN.")
    require_committed()
    api = HfApi(endpoint=constants.ENDPOINT)
    get_session().timeout = 120  # s without an answer, of one request
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]  # warnings of a failing storage hold signed addresses
    with tempfile.TemporaryDirectory(prefix="publish-") as scratch:
        folders = {part.name: Path(scratch, part.name) for part in parts}
        for part in parts:
            _prepare(part, folders[part.name], namespace)
        for part in parts:
            repo_id = f"{namespace}/{part.repo_name}"
            url = f"{api.endpoint}/{constants.REPO_TYPES_URL_PREFIXES[part.repo_type]}{repo_id}"
            print(f"{part.name}: {'would go' if dry_run else 'goes'} to {url}", flush=True)
            if not dry_run:
                commit = upload(part, folders[part.name], api, repo_id, private, delete)
                print(f"{part.name}: is there as commit {commit[:7]}", flush=True)


def _prepare(part: Part, folder: Path, namespace: str) -> None:
    """Stage a part, check it and list its files."""
    stage(part, folder, namespace)
    check(part, folder, __version__)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    sizes = [path.stat().st_size for path in files]
    print(f"{part.name}: {len(files)} files, {sum(sizes):,} bytes, checked")
    for path, size in zip(files, sizes, strict=True):
        print(f"  {size:>9,}  {path.relative_to(folder).as_posix()}")


def upload(
    part: Part,
    folder: Path,
    api: HfApi,
    repo_id: str,
    private: bool,
    delete: bool,
) -> str:
    """Put the staged files into the repository in one commit, tag it unless the tag is there, and return its id."""
    kind = part.repo_type
    api.create_repo(
        repo_id, repo_type=kind, private=private or None, space_sdk=part.sdk, exist_ok=True
    )
    if private and not api.repo_info(repo_id, repo_type=kind).private:
        raise ValueError(
            f"{repo_id} exists and is public: make it private there, or leave out --private."
        )
    others = set(api.list_repo_files(repo_id, repo_type=kind)) - ANYBODYS
    if others and others.isdisjoint(
        path.relative_to(folder).as_posix() for path in folder.rglob("*")
    ):
        raise ValueError(
            f"the name {repo_id} is taken by something else: choose another --namespace, or rename it."
        )
    commit = api.upload_folder(
        repo_id=repo_id,
        repo_type=kind,
        folder_path=folder,
        commit_message=f"Publish {__version__}",
        delete_patterns="*" if delete else None,
    )
    if TAG:
        api.create_tag(repo_id, repo_type=kind, tag=TAG, revision=commit.oid, exist_ok=True)
    return commit.oid


def main(argv: list[str] | None = None) -> int:
    """Run the command line; 2 and one line on stderr when something cannot be done."""
    options = vars(_parser().parse_args(argv))
    try:
        _run(options.pop("command"), options.pop("static"), **options)
    except (HTTPError, RuntimeError) as error:  # of the Hub, in its own words where it has some
        reason = getattr(error, "server_message", None) or error
        return _refuse(f"{constants.ENDPOINT}: {str(reason).rstrip('.')}. {AGAIN}")
    except (ValueError, OSError) as error:
        return _refuse(str(error))
    except KeyboardInterrupt:
        _refuse(f"stopped. {AGAIN}")
        return 130
    return 0


def _refuse(reason: str) -> int:
    """Print why in one line, without the queries of addresses, which may be signed for anyone to write."""
    line = re.sub(r"(https?://[^\s?]*)\?\S*", r"\1", " ".join(reason.split()))
    print(f"publish: {line}", file=sys.stderr)
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="publish.py",
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=(*PARTS, "all", "register", "unregister"))
    parser.add_argument("--namespace", metavar="NAME", help="a user or an organisation of the Hub")
    for flag, text in FLAGS.items():
        parser.add_argument(flag, action="store_true", help=text)
    return parser


def _run(command: str, static: bool, **options: Any) -> None:
    if command.endswith("register"):
        from . import registration  # takes Evaluate's second to import

        is_new = command == "register"
        print(registration.register(__version__) if is_new else registration.unregister())
        return
    if options["namespace"] is None:
        raise ValueError("whose repositories? Add --namespace NAME.")
    parts = dict(PARTS)
    if static:
        parts["metric"] = STATIC_METRIC
    chosen = list(parts.values()) if command == "all" else [parts[command]]
    for part in chosen:
        try:
            validate_repo_id(f"{options['namespace']}/{part.repo_name}")
        except HFValidationError as error:
            raise ValueError(
                f"--namespace must be the name of a user or an organisation: {error}"
            ) from None
    publish(chosen, **options)


if __name__ == "__main__":
    sys.exit(main())
