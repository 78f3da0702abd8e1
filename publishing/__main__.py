"""Publishes the metric, the dataset and the demo on the Hugging Face Hub, and registers `ecuas` on this machine."""

import argparse
import re
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import Any, NoReturn, TextIO

from huggingface_hub import HfApi, constants, get_session, get_token
from huggingface_hub.errors import HFValidationError, HTTPError, RepositoryNotFoundError
from huggingface_hub.utils import logging, validate_repo_id

from ecuas_metric import __version__

from .staging import PARTS, STATIC_METRIC, TOKENS, Part, check, require_committed, stage

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
    "--delete": "delete files there that this version does not have; by default they are kept and listed",
}
# some by the Hub itself
ANYBODYS = {".gitattributes", "README.md", "LICENSE", "index.html", "style.css"}
TAKEN = "the name {} is taken by something else: choose another --namespace, or rename it."
AGAIN = "Run this again later: what is there is not sent again."
ADVICE = {  # by the status of the Hub's answer
    402: "A static Space needs no plan: `publish.py metric --static`. evaluate.load works, and its page has no form.",
    403: "Is it a matter of rights? Use a token with write access, or another --namespace.",
    412: "It was changed by someone else at the same time: run this again.",
}
# in what is printed -> what stands there instead
HIDDEN = {
    TOKENS: "***",
    r"\b((?i:bearer|basic)\W+)(?=\S*[\dA-Z=])[\w.~+/=-]{6,}": r"\1***",
    r"(?<=://)[^/\s@]+@": "***@",
    # addresses may be signed, for anyone to write
    r"https?://[^\s'\"<>?]*\?[^\s'\"<>)]*": "(an address)",
}
# The demo has the dataset beside it on purpose.
warnings.filterwarnings("ignore", message="It seems that you are about to commit a data file")


class Refused(OSError):
    """A repository was refused or cannot be reached: in one line, with what to do."""


def publish(
    parts: list[Part],
    *,
    namespace: str,
    dry_run: bool,
    private: bool,
    delete: bool,
) -> None:
    """Stage and check the parts and list their files, then send each, one line for each; raise if one was refused."""
    if not dry_run and get_token() is None:
        raise PermissionError("not logged in: run `hf auth login`, or set HF_TOKEN.")
    require_committed()
    endpoint = constants.ENDPOINT.rstrip("/")
    api = HfApi(endpoint=endpoint)
    get_session().timeout = 120  # s without an answer, of one request
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]  # the client's warnings of a failing storage hold signed addresses
    refused = []
    with tempfile.TemporaryDirectory(prefix="publish-") as scratch:
        folders = {part.name: Path(scratch, part.name) for part in parts}
        for part in parts:
            _prepare(part, folders[part.name], namespace)
        for part in parts:
            repo_id = f"{namespace}/{part.repo_name}"
            url = f"{endpoint}/{constants.REPO_TYPES_URL_PREFIXES[part.repo_type]}{repo_id}"
            if dry_run:
                _say(f"{part.name}: would go to {url}")
                continue
            try:
                done = push(part, folders[part.name], api, repo_id, private, delete)
                _say(f"{part.name}: {url} {done}")
            except Refused as error:
                _say(f"{part.name}: {' '.join(str(error).split())}", sys.stderr)
                refused.append(part.name)
    if refused:
        raise Refused(
            f"not sent: {', '.join(refused)}, see above; {len(parts) - len(refused)} of {len(parts)} were."
        )


def _prepare(part: Part, folder: Path, namespace: str) -> None:
    """Stage a part, check it and list its files."""
    stage(part, folder, namespace)
    check(part, folder, __version__)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    sizes = [path.stat().st_size for path in files]
    _say(f"{part.name}: {len(files)} files, {sum(sizes):,} bytes, checked")
    for path, size in zip(files, sizes, strict=True):
        _say(f"  {size:>9,}  {path.relative_to(folder).as_posix()}")


def push(
    part: Part,
    folder: Path,
    api: HfApi,
    repo_id: str,
    private: bool,
    delete: bool,
) -> str:
    """Put the staged files into the repository in one commit, tag it once for all, and return what was done."""
    kind = part.repo_type
    staged = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
    try:
        _create(part, api, repo_id, private)
        base = api.repo_info(repo_id, repo_type=kind)
        files = api.list_repo_files(repo_id, repo_type=kind, revision=base.sha)
        names = set(files) - {".gitattributes"}
        if names - ANYBODYS and not names & staged - ANYBODYS:
            raise Refused(TAKEN.format(repo_id))
        if private and not base.private:
            raise Refused(
                f"{repo_id} exists and is public: make it private there, or leave out --private."
            )
        commit = api.upload_folder(
            repo_id=repo_id,
            repo_type=kind,
            folder_path=folder,
            commit_message=f"Publish {__version__}",
            parent_commit=base.sha,
            delete_patterns="*" if delete else None,
        ).oid
        tag = _tag(api, repo_id, kind, commit)
    # the last is what the client wraps a failed upload in
    except (HTTPError, ConnectionError, RuntimeError) as error:
        raise _explain(error, api.endpoint, repo_id) from error
    done = "unchanged" if commit == base.sha else "committed"
    return f"{done} {commit[:7]}, {tag}{_others(names - staged, delete)}"


def _create(part: Part, api: HfApi, repo_id: str, private: bool) -> None:
    """Create the repository unless it is there, which a token that may only write to it could not."""
    if not api.repo_exists(repo_id, repo_type=part.repo_type):
        api.create_repo(
            repo_id,
            repo_type=part.repo_type,
            private=private or None,
            space_sdk=part.sdk,
            exist_ok=True,
        )


def _others(names: set[str], delete: bool) -> str:
    if not names:
        return ""
    what = "deleted" if delete else "kept, since this version has no such files (--delete)"
    return f"; {what}: {', '.join(sorted(names))}"


def _tag(
    api: HfApi,
    repo_id: str,
    kind: str,
    commit: str,
) -> str:
    if TAG is None:
        return "no tag, since this is a development version"
    api.create_tag(repo_id, repo_type=kind, tag=TAG, revision=commit, exist_ok=True)
    tagged = api.repo_info(repo_id, repo_type=kind, revision=TAG).sha
    return f"tag {TAG}" + (
        "" if tagged == commit else f" stays at {str(tagged)[:7]}: raise the version to tag this"
    )


def _explain(error: BaseException, endpoint: str, repo_id: str) -> OSError:
    """Return the error that explains the Hub's refusal or absence, in the Hub's own words where it has some."""
    while isinstance(error, RuntimeError) and error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, RepositoryNotFoundError):  # it is there, and we cannot see it
        return Refused(TAKEN.format(repo_id))
    words = str(getattr(error, "server_message", None) or error).rstrip(".")
    if not hasattr(error, "response"):
        return Refused(f"{endpoint} cannot be reached, or not its storage ({words}). {AGAIN}")
    status = error.response.status_code
    if status == 401:
        return PermissionError(
            f"{endpoint} does not accept the token: run `hf auth login`, or set HF_TOKEN."
        )
    return Refused(
        f"{endpoint} refused {repo_id} with status {status}: {words}. {ADVICE.get(status, AGAIN)}"
    )


def main(argv: list[str] | None = None) -> int:
    """Run the command line; 2 and one line on stderr when something cannot be done."""
    options = vars(_parser().parse_args(argv))
    try:
        _run(options.pop("command"), options.pop("static"), **options)
    except (ValueError, OSError) as error:
        _say(f"publish: {' '.join(str(error).split())}", sys.stderr)
        return 2
    except KeyboardInterrupt:
        _say("publish: stopped. Run this again: what is there is not sent again.", sys.stderr)
        return 130
    except Exception:
        _say(traceback.format_exc(), sys.stderr)
        return 1
    return 0


def _say(text: str, stream: TextIO | None = None) -> None:
    print(without_secrets(text), file=stream or sys.stdout, flush=True)


def without_secrets(text: str) -> str:
    """Return text without the token in use, what looks like another one, passwords and signatures in addresses."""
    token = get_token()
    text = text.replace(token, "***") if token else text
    for pattern, instead in HIDDEN.items():
        text = re.sub(pattern, instead, text)
    return text


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        super().error(without_secrets(message))


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
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
        _say(registration.register(__version__) if is_new else registration.unregister())
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
