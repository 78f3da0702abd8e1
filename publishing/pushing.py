"""From a staged folder to its repository on the Hub: one commit, one tag, and errors in words."""

import glob
import re
import warnings
from pathlib import Path
from typing import Any, NamedTuple

from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError, HTTPError, RepositoryNotFoundError

from .staging import Part

INITIAL = {".gitattributes", "README.md"}  # what the Hub itself puts into a new repository
INITIAL_STATIC = INITIAL | {"index.html", "style.css"}
FAILURES = (HTTPError, ConnectionError, RuntimeError)  # the last is what the client wraps a failed upload in
STATIC = (
    " `publish.py metric --static` sends the metric as a static Space, which needs no plan: evaluate.load works, and "
    "its page has no form."
)


class Refused(ConnectionError):
    """The Hub refused one repository; the next one may be taken."""


class Before(NamedTuple):
    """What a repository was before anything was sent: its last commit, None where it did not exist, and its files."""

    oid: str | None
    names: frozenset[str] = frozenset()


def push(
    part: Part,
    stage: Path,
    *,
    api: HfApi,
    repo_id: str,
    tag: str | None,
    private: bool = False,
    delete: bool = False,
) -> str:
    """Put what is in the staged folder into the repository, and tag it.

    The Hub takes a commit whole or not at all. What is unchanged makes no commit; what a failed run has already
    uploaded is not uploaded again. A commit of someone else since the repository was looked at is an error.

    Parameters
    ----------
    part : Part
        What was staged.
    stage : Path
        Where.
    api : HfApi
        The Hub.
    repo_id : str
        `namespace/name`.
    tag : str, optional
        For the version; None makes no tag. A tag that exists is never moved.
    private : bool
        Make a new repository private; refuse one that is public.
    delete : bool
        Delete the files that the staged folder does not have; by default they are kept, and named.

    Returns
    -------
    str
        What was done.

    Raises
    ------
    ValueError
        The repository holds something else, or is public where it should be private.
    PermissionError
        The Hub does not accept the token.
    Refused
        The Hub refused; what it left is said.
    ConnectionError
        The Hub cannot be reached.
    """
    repo: dict[str, Any] = {"repo_id": repo_id, "repo_type": part.repo_type}
    before, commit = Before(None), None
    try:
        before = _look(part, api, repo, private)
        base = before.oid or _create(part, api, repo, private)
        others = sorted(name for name in before.names - {".gitattributes"} if not (stage / name).is_file())
        commit = _upload(stage, api, repo, f"Publish {tag or 'unreleased changes'}", base, others if delete else []).oid
        done = f"{'unchanged' if commit == base else 'committed'} {commit[:7]}, {_tag(api, repo, tag, commit)}"
    except FAILURES as error:
        raise _explained(error, part, api, repo, before=before, commit=commit, tag=tag) from error
    return done + _about(others, stage, deleted=delete)


def _look(part: Part, api: HfApi, repo: dict[str, Any], private: bool) -> Before:
    """Return what the repository is, which must be ours if it exists."""
    try:
        info = api.repo_info(**repo)
    except RepositoryNotFoundError:
        return Before(None)
    names = frozenset(api.list_repo_files(**repo, revision=info.sha))
    if part.mark not in names and not names <= _initial(part):
        raise ValueError(_taken(part, repo))
    if private and info.private is False:
        raise ValueError(f"{repo['repo_id']} exists and is public: make it private there, or leave out --private.")
    return Before(info.sha, names)


def _create(part: Part, api: HfApi, repo: dict[str, Any], private: bool) -> str:
    """Make the repository and return its first commit, or the last one if somebody made it since we looked."""
    try:
        api.create_repo(**repo, private=private or None, space_sdk=part.sdk if part.repo_type == "space" else None)
    except HfHubHTTPError as error:
        if error.response.status_code != 409:
            raise
        if (made := _look(part, api, repo, private).oid) is None:  # there is one, and we cannot see it
            raise ValueError(_taken(part, repo)) from error
        return made
    return api.repo_info(**repo).sha or ""


def _initial(part: Part) -> set[str]:
    return INITIAL_STATIC if part.sdk == "static" else INITIAL


def _taken(part: Part, repo: dict[str, Any]) -> str:
    return f"the name {repo['repo_id']} is taken by another {part.repo_type}: choose another --namespace, or rename it."


def _upload(stage: Path, api: HfApi, repo: dict[str, Any], message: str, base: str | None, unwanted: list[str]) -> Any:
    if unwanted:
        print(f"{repo['repo_id']}: deletes {', '.join(unwanted)}", flush=True)
    with warnings.catch_warnings():
        # The demo has the dataset beside it on purpose.
        warnings.filterwarnings("ignore", message="It seems that you are about to commit a data file")
        return api.upload_folder(
            **repo,
            folder_path=stage,
            delete_patterns=[glob.escape(name) for name in unwanted] or None,
            commit_message=message,
            parent_commit=base,
        )


def _tag(api: HfApi, repo: dict[str, Any], tag: str | None, oid: str) -> str:
    if tag is None:
        return "no tag, since CHANGELOG.md has unreleased changes: give them a version to tag it"
    tagged = _tagged(api, repo, tag)
    if tagged is None:
        try:
            api.create_tag(**repo, tag=tag, revision=oid)
            return f"tagged {tag}"
        except HfHubHTTPError as error:
            if error.response.status_code != 409:
                raise
            tagged = _tagged(api, repo, tag)  # somebody made it since we looked
    if tagged == oid:
        return f"tag {tag}"
    return f"tag {tag} stays at {(tagged or '')[:7]}: raise the version to tag this commit"


def _tagged(api: HfApi, repo: dict[str, Any], tag: str) -> str | None:
    """Return the commit that a tag names, None if there is no such tag."""
    try:
        return api.repo_info(**repo, revision=tag).sha or ""
    except HfHubHTTPError as error:
        if error.response.status_code != 404:
            raise
        return None


def _about(others: list[str], stage: Path, *, deleted: bool) -> str:
    if not others:
        return ""
    if deleted:
        return f"; deleted: {', '.join(others)}"
    ours = {path.relative_to(stage).as_posix().lower() for path in stage.rglob("*")}
    alike = [name for name in others if name.lower() in ours]
    warning = f". A clone on Windows or macOS lacks those whose names differ in case only: {', '.join(alike)}"
    kept = f"; kept, since this version has no such files (--delete): {', '.join(others)}"
    return kept + (warning if alike else "")


def _explained(
    error: Exception,
    part: Part,
    api: HfApi,
    repo: dict[str, Any],
    *,
    before: Before,
    commit: str | None,
    tag: str | None,
) -> OSError:
    """Return the error that says in one line what was refused, what is on the Hub now, and what to do."""
    cause = _cause(error)
    status, words = _status(cause), in_words(cause, api.endpoint, repo["repo_id"])
    if status == 401:
        return PermissionError(words)
    if status in (409, 412):
        return Refused(words)
    left = left_as(part, api, repo, before=before, commit=commit, tag=tag)
    if status is None:
        return ConnectionError(f"{words} {left} Run this again later.")
    if status == 402 and part.name == "metric":
        return Refused(f"{words} {left}{STATIC}")
    return Refused(f"{words} {left}" + ("" if status in (402, 403, 404, 413) else " Run this again later."))


def left_as(
    part: Part, api: HfApi, repo: dict[str, Any], *, before: Before, commit: str | None, tag: str | None
) -> str:
    """Look at the repository after a failure, whose answer may have been lost, and say what it is."""
    name = repo["repo_id"]
    try:
        now = api.repo_info(**repo).sha
        empty = set(api.list_repo_files(**repo)) <= _initial(part)
        tagged = tag is not None and _tagged(api, repo, tag) == now
    except RepositoryNotFoundError:
        return f"{name} does not exist."
    except FAILURES:
        return f"What {name} is now cannot be seen."
    if now == before.oid and commit is None:
        return f"{name} is as it was before."
    if empty:
        return f"{name} was made, and is empty."
    return f"{name} has the new files (commit {(now or '')[:7]}){_and_tag(tagged, tag)}."


def _and_tag(tagged: bool, tag: str | None) -> str:
    return "" if tag is None else f" and the tag {tag}" if tagged else f", but not the tag {tag}"


def _cause(error: BaseException) -> BaseException:
    while isinstance(error, RuntimeError) and error.__cause__ is not None:
        error = error.__cause__
    return error


def _status(error: BaseException) -> int | None:
    """Return the status of a refusal; the client of large files has it in its text alone."""
    if (response := getattr(error, "response", None)) is not None:
        return int(response.status_code)
    found = re.search(r"HTTP status (?:client|server) error \((\d{3}) ", str(error))
    return int(found[1]) if found else None


def in_words(error: BaseException, endpoint: str, repo_id: str) -> str:
    """Say in one line what the Hub's refusal or absence means, in its own words where it has some."""
    status = _status(error)
    if status is None:
        return f"{endpoint} cannot be reached, or not its storage ({without_addresses(str(error))})."
    if status == 401:
        return f"not logged in: {endpoint} does not accept the token. Run `hf auth login`, or set HF_TOKEN."
    if status in (409, 412):
        return f"{repo_id} was changed by someone else at the same time: run this again."
    own = getattr(error, "server_message", None) or ("" if hasattr(error, "response") else str(error))
    reason = without_addresses(own or "without a reason").rstrip(".")
    advice = " If it is a matter of rights, use a token with write access, or another --namespace."
    return f"{endpoint} refused with status {status}: {reason}.{advice if status in (403, 404) else ''}"


def without_addresses(text: str) -> str:
    """Return a text without the addresses that carry a signature, with which anyone could write.

    >>> without_addresses("see https://huggingface.co/pro, not https://s3.example/a?X-Amz-Signature=1")
    'see https://huggingface.co/pro, not (an address)'
    """
    return re.sub(r"https?://[^\s'\"<>?]*\?[^\s'\"<>)]*", "(an address)", text)
