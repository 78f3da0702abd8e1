"""From a staged folder to its repository on the Hub: one commit, one tag, and errors in words."""

import warnings
from pathlib import Path
from typing import Any

from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError, HTTPError, RepositoryNotFoundError

from .staging import Part

INITIAL = {".gitattributes", "README.md"}  # what the Hub itself puts into a new repository


def push(part: Part, stage: Path, *, api: HfApi, repo_id: str, tag: str, private: bool = False) -> str:
    """Make the repository what the staged folder is, and tag it.

    The Hub takes a commit whole or not at all, so that a failure leaves the repository as it was. What is unchanged
    makes no commit; what a failed run has already uploaded is not uploaded again.

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
    tag : str
        For the version. A tag that exists is never moved.
    private : bool
        Make a new repository private; refuse one that is public.

    Returns
    -------
    str
        What was done.

    Raises
    ------
    ValueError
        The repository holds something else, or is public where it should be private.
    ConnectionError
        The Hub refused, or cannot be reached.
    """
    repo: dict[str, Any] = {"repo_id": repo_id, "repo_type": part.repo_type}
    try:
        before = _last_commit(part, api, repo, private)
        commit = _upload(stage, api, repo, tag)
        done = "unchanged" if commit.oid == before else "committed"
        return f"{done} {commit.oid[:7]}, {_tag(api, repo, tag, commit.oid)}"
    except (HTTPError, ConnectionError, RuntimeError) as error:  # the last is what the client wraps a failed upload in
        raise ConnectionError(in_words(error, api.endpoint, repo_id)) from error


def _last_commit(part: Part, api: HfApi, repo: dict[str, Any], private: bool) -> str | None:
    """Return the last commit of the repository, which is made if it does not exist and must be ours if it does."""
    try:
        info = api.repo_info(**repo)
    except RepositoryNotFoundError:
        _create(part, api, repo, private)
        return api.repo_info(**repo).sha
    names = set(api.list_repo_files(**repo))
    if part.mark not in names and not names <= INITIAL:
        raise ValueError(_taken(part, repo))
    if private and info.private is False:
        raise ValueError(f"{repo['repo_id']} exists and is public: make it private there, or leave out --private.")
    return info.sha


def _create(part: Part, api: HfApi, repo: dict[str, Any], private: bool) -> None:
    try:
        api.create_repo(**repo, private=private or None, space_sdk="gradio" if part.repo_type == "space" else None)
    except HfHubHTTPError as error:
        if error.response.status_code == 409:  # there is one, and we cannot see it
            raise ValueError(_taken(part, repo)) from error
        raise


def _taken(part: Part, repo: dict[str, Any]) -> str:
    return f"the name {repo['repo_id']} is taken by another {part.repo_type}: choose another --namespace, or rename it."


def _upload(stage: Path, api: HfApi, repo: dict[str, Any], tag: str) -> Any:
    with warnings.catch_warnings():
        # The demo has the dataset beside it on purpose.
        warnings.filterwarnings("ignore", message="It seems that you are about to commit a data file")
        return api.upload_folder(**repo, folder_path=stage, delete_patterns="*", commit_message=f"Publish {tag}")


def _tag(api: HfApi, repo: dict[str, Any], tag: str, oid: str) -> str:
    try:
        tagged = api.repo_info(**repo, revision=tag).sha
    except HfHubHTTPError as error:
        if error.response.status_code != 404:
            raise
        api.create_tag(**repo, tag=tag, revision=oid)
        return f"tagged {tag}"
    if tagged == oid:
        return f"tag {tag}"
    return f"tag {tag} stays at {(tagged or '')[:7]}: raise the version to tag this commit"


def in_words(error: BaseException, endpoint: str, repo_id: str) -> str:
    """Say in one line what the Hub's refusal or absence means, and what to do."""
    while isinstance(error, RuntimeError) and error.__cause__ is not None:
        error = error.__cause__
    status = getattr(getattr(error, "response", None), "status_code", None)
    known = {
        401: f"not logged in: {endpoint} does not accept the token. Run `hf auth login`, or set HF_TOKEN.",
        403: f"no right to write {repo_id}: use a token with write access to it, or another --namespace.",
        409: f"{repo_id} was changed by someone else at the same time: run this again.",
    }
    known[412] = known[409]
    if status in known:
        return known[status]
    if status is not None:
        return f"{endpoint} answered with status {status}: {repo_id} is as it was before, run this again later. {error}"
    return f"{endpoint} cannot be reached ({error}): {repo_id} is as it was before, run this again later."
