"""Publishes the metric, the dataset and the demo on the Hugging Face Hub, and registers `ecuas` on this machine."""

import argparse
import re
import sys
import tempfile
import warnings
from pathlib import Path

from huggingface_hub import HfApi, constants, get_session, get_token
from huggingface_hub.errors import HTTPError, RepositoryNotFoundError

from ecuas_metric import __version__

from .staging import PARTS, STATIC_METRIC, Part, check, stage

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
ANYBODYS = {".gitattributes", "README.md", "LICENSE", "index.html", "style.css"}  # some by the Hub itself
TAKEN = "the name {} is taken by something else: choose another --namespace, or rename it."
AGAIN = " Run this again later: what is there is not sent again."
RIGHTS = " If it is a matter of rights, use a token with write access, or another --namespace."
STATIC = " A static Space needs no plan: `publish.py metric --static`. evaluate.load works, and its page has no form."
# The demo has the dataset beside it on purpose.
warnings.filterwarnings("ignore", message="It seems that you are about to commit a data file")


class Refused(OSError):
    """One repository was refused or cannot be reached: in one line, with what to do."""


def publish(
    parts: list[Part], *, namespace: str, endpoint: str | None, dry_run: bool, private: bool, delete: bool
) -> None:
    """Stage and check the parts and list their files, then send each, one line for each; raise if one was refused."""
    if not dry_run and get_token() is None:
        raise PermissionError("not logged in: run `hf auth login`, or set HF_TOKEN.")
    api, refused = HfApi(endpoint=endpoint and endpoint.rstrip("/")), []
    get_session().timeout = 120  # s without an answer, of one request
    with tempfile.TemporaryDirectory(prefix="publish-") as scratch:
        for part in parts:
            folder = Path(scratch, part.name)
            stage(part, folder, namespace)
            check(part, folder, __version__)
            sizes = {
                file.relative_to(folder).as_posix(): file.stat().st_size for file in folder.rglob("*") if file.is_file()
            }
            print(f"{part.name}: {len(sizes)} files, {sum(sizes.values()):,} bytes, checked")
            print(*(f"  {size:>9,}  {name}" for name, size in sorted(sizes.items())), sep="\n", flush=True)
        for part in parts:
            repo_id = f"{namespace}/{part.repo_name}"
            url = f"{api.endpoint}/{constants.REPO_TYPES_URL_PREFIXES[part.repo_type]}{repo_id}"
            try:
                done = "" if dry_run else push(part, Path(scratch, part.name), api, repo_id, private, delete)
                print(f"{part.name}: {url} {done}" if done else f"{part.name}: would go to {url}", flush=True)
            except Refused as error:
                print(f"{part.name}: {' '.join(str(error).split())}", file=sys.stderr, flush=True)
                refused.append(part.name)
    if refused:
        raise Refused(f"not sent: {', '.join(refused)}, see above; {len(parts) - len(refused)} of {len(parts)} were.")


def push(part: Part, folder: Path, api: HfApi, repo_id: str, private: bool = False, delete: bool = False) -> str:
    """Put the staged files into the repository in one commit, tag it once for all, and return what was done."""
    kind = part.repo_type
    try:
        if not api.repo_exists(repo_id, repo_type=kind):
            api.create_repo(repo_id, repo_type=kind, private=private or None, space_sdk=part.sdk, exist_ok=True)
        base, is_private = (info := api.repo_info(repo_id, repo_type=kind)).sha, info.private
        names = set(api.list_repo_files(repo_id, repo_type=kind, revision=base)) - {".gitattributes"}
        staged = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
        if names - ANYBODYS and not names & staged - ANYBODYS:
            raise Refused(TAKEN.format(repo_id))
        if private and not is_private:
            raise Refused(f"{repo_id} exists and is public: make it private there, or leave out --private.")
        commit = api.upload_folder(
            repo_id=repo_id,
            repo_type=kind,
            folder_path=folder,
            commit_message=f"Publish {__version__}",
            parent_commit=base,
            delete_patterns="*" if delete else None,
        ).oid
        tag = _tag(api, repo_id, kind, commit)
    except (HTTPError, ConnectionError, RuntimeError) as error:  # the last is what the client wraps a failed upload in
        raise _explain(error, part, api.endpoint, repo_id) from error
    what = "deleted" if delete else "kept, since this version has no such files (--delete)"
    others = f"; {what}: {', '.join(sorted(names - staged))}" if names - staged else ""
    return f"{'unchanged' if commit == base else 'committed'} {commit[:7]}, {tag}{others}"


def _tag(api: HfApi, repo_id: str, kind: str, commit: str) -> str:
    if TAG is None:
        return "no tag, since this is a development version"
    api.create_tag(repo_id, repo_type=kind, tag=TAG, revision=commit, exist_ok=True)
    tagged = api.repo_info(repo_id, repo_type=kind, revision=TAG).sha
    return f"tag {TAG}" + ("" if tagged == commit else f" stays at {str(tagged)[:7]}: raise the version to tag this")


def _explain(error: BaseException, part: Part, endpoint: str, repo_id: str) -> OSError:
    """Return the error that explains the Hub's refusal or absence, in the Hub's own words where it has some."""
    while isinstance(error, RuntimeError) and error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, RepositoryNotFoundError):  # it is there, and we cannot see it
        return Refused(TAKEN.format(repo_id))
    # The client of large files has the status in its text alone; and addresses may be signed, for anyone to write.
    told = re.search(r"HTTP status (?:client|server) error \((\d{3}) ", str(error))
    status = error.response.status_code if hasattr(error, "response") else int(told[1]) if told else None
    words = str(getattr(error, "server_message", None) or error)
    words = re.sub(r"https?://[^\s'\"<>?]*\?[^\s'\"<>)]*", "(an address)", words).rstrip(".")
    if status is None:
        return Refused(f"{endpoint} cannot be reached, or not its storage ({words}).{AGAIN}")
    if status == 401:
        return PermissionError(f"{endpoint} does not accept the token: run `hf auth login`, or set HF_TOKEN.")
    if status in (409, 412):
        return Refused(f"{repo_id} was changed by someone else at the same time: run this again.")
    advice = {402: STATIC * (part.name == "metric"), 403: RIGHTS, 404: RIGHTS, 413: ""}.get(status, AGAIN)
    return Refused(f"{endpoint} refused {repo_id} with status {status}: {words}.{advice}")


def main(argv: list[str] | None = None) -> int:
    """Run the command line; 2 and one line on stderr when something cannot be done."""
    parser = argparse.ArgumentParser(
        prog="publish.py", description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=(*PARTS, "all", "register", "unregister"))
    parser.add_argument("--namespace", metavar="NAME", help="a user or an organisation of the Hub")
    parser.add_argument("--endpoint", metavar="URL", help=f"the Hub (default: {constants.ENDPOINT})")
    for flag, text in FLAGS.items():
        parser.add_argument(flag, action="store_true", help=text)
    asked = vars(parser.parse_args(argv))
    command, static = asked.pop("command"), asked.pop("static")
    try:
        if command.endswith("register"):
            from . import registration  # takes Evaluate's second to import

            print(registration.register(__version__) if command == "register" else registration.unregister())
        elif asked["namespace"] is None:
            raise ValueError("whose repositories? Add --namespace NAME.")
        else:
            parts = PARTS | ({"metric": STATIC_METRIC} if static else {})
            publish(list(parts.values()) if command == "all" else [parts[command]], **asked)
    except (ValueError, OSError) as error:
        print(f"publish: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("publish: stopped. Run this again: what is there is not sent again.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
