"""What can go wrong between here and the Hub: one line, exit code 2, and a rerun finishes it."""

import re
import shutil
import signal
import socket
import threading

import pytest
from huggingface_hub import get_session

from publishing import __main__ as command
from publishing.staging import PARTS
from tests.publishing.conftest import TAG, dataset_of
from tests.publishing.hub import READ, STRANGER

AGAIN = "Run this again later: what is there is not sent again."
RIGHTS = "If it is a matter of rights, use a token with write access, or another --namespace."


def is_whole(hub, namespace):
    """Return whether the dataset is there, in one commit with one tag."""
    (commit,) = hub.commits(*dataset_of(namespace))
    return hub.repositories[dataset_of(namespace)].tags == {TAG: commit["oid"]}


def refused(done):
    """Return what one line said of the dataset, which was not sent."""
    assert done.status == 2
    line, rest = done.error.splitlines()
    assert rest == "publish: not sent: dataset, see above; 0 of 1 were."
    return line.removeprefix("dataset: ")


def test_not_logged_in(hub, publish, monkeypatch):
    before = len(hub.requests)
    monkeypatch.delenv("HF_TOKEN")
    assert publish("NAME", "all").error == "publish: not logged in: run `hf auth login`, or set HF_TOKEN.\n"
    assert len(hub.requests) == before
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    line = f"publish: {hub.url} does not accept the token: run `hf auth login`, or set HF_TOKEN.\n"
    assert publish("new", "all") == (2, "", line)
    assert dataset_of("new") not in hub.repositories


@pytest.mark.parametrize("namespace", [STRANGER, "read-only"])
def test_no_rights(namespace, hub, publish, monkeypatch):
    if namespace == "read-only":
        monkeypatch.setenv("HF_TOKEN", READ)
    reason = "You don't have the rights to create a dataset under this namespace"
    name = dataset_of(namespace)[1]
    assert refused(publish(namespace)) == f"{hub.url} refused {name} with status 403: {reason}. {RIGHTS}"
    assert dataset_of(namespace) not in hub.repositories


def test_a_token_that_may_only_read_what_is_there(hub, publish, staged, monkeypatch, tmp_path):
    publish("reader")
    monkeypatch.setenv("HF_TOKEN", READ)
    shutil.copytree(staged / "dataset", tmp_path / "dataset")
    (tmp_path / "dataset/LICENSE").write_text("another")
    monkeypatch.setattr(command, "stage", lambda part, out, _: shutil.copytree(tmp_path / "dataset", out))
    assert refused(publish("reader")).endswith(f"with status 403: Authorization error. {RIGHTS}")
    assert is_whole(hub, "reader")


def test_a_name_taken_by_something_else(hub, publish):
    line = "the name {}/triviaqa-curated is taken by something else: choose another --namespace, or rename it."
    hub.put(*dataset_of("taken"), {"README.md": b"recipes", "recipes.csv": b"soup"})
    before = hub.files(*dataset_of("taken"))
    assert refused(publish("taken")) == line.format("taken")
    assert hub.files(*dataset_of("taken")) == before
    hub.misbehave("/api/repos/create", 409)  # by something that we cannot see
    assert refused(publish("hidden")) == line.format("hidden")


def test_what_is_public_is_not_taken_for_private(hub, publish):
    publish("public")
    rest = "exists and is public: make it private there, or leave out --private."
    assert refused(publish("public", "dataset", "--private")) == f"public/triviaqa-curated {rest}"
    assert is_whole(hub, "public")
    publish("private", "dataset", "--private")
    assert hub.repositories[dataset_of("private")].private


@pytest.mark.parametrize(
    ("path", "status", "error", "said"),
    [
        (
            "/info/lfs/",
            403,
            "The storage is full: see https://hub/settings",
            "The storage is full: see https://hub/settings",
        ),
        ("/lfs/", 413, "too large: https://storage/a?X-Amz-Signature=secret", ""),
    ],
)
def test_an_upload_that_is_refused(path, status, error, said, hub, publish):
    hub.contents.clear()
    hub.misbehave(path, status, error)
    line = refused(publish(f"upload-{status}"))
    assert f"refused upload-{status}/triviaqa-curated with status {status}: {said}" in line
    assert "Signature" not in line
    assert hub.commits(*dataset_of(f"upload-{status}")) == []


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("path", ["/api/repos/create", "/commit/", "/tag/"])
@pytest.mark.parametrize("status", [500, "cut"])
def test_after_a_failure_or_an_answer_that_was_lost_a_rerun_finishes_it(status, path, after, hub, publish):
    namespace = f"fails-{status}-{path.strip('/').replace('/', '-')}-{after}"
    hub.misbehave(path, status, after=after)
    line = refused(publish(namespace))
    assert line.startswith(f"{hub.url} {'refused' if status == 500 else 'cannot be reached, or not its storage ('}")
    assert line.endswith(AGAIN)
    hub.fault = None
    assert publish(namespace).status == 0
    assert is_whole(hub, namespace)


@pytest.mark.parametrize("status", [403, 500])
def test_refusals_of_the_client_of_large_files_have_a_status_too(status):
    """Seen of hf_xet, which says this in the text of a plain exception."""
    error = RuntimeError(f"Network error: Request error: HTTP status client error ({status} No), domain: http://h/api)")
    line = str(command._explained(error, PARTS["dataset"], "http://hub", "NAME/a"))
    assert line.startswith(f"http://hub refused NAME/a with status {status}: Network error")
    assert line.endswith(RIGHTS if status == 403 else AGAIN)


def test_a_plan_without_programs_holds_back_nothing_else(hub, publish):
    """A free account cannot create a Space with Gradio: the Hub's own sentence is shown, and the dataset goes."""
    hub.create("datasets", "free/triviaqa-curated")
    hub.misbehave("/api/repos/create", 402, error="Hosting Gradio Spaces requires PRO: see https://hub/pro")
    done = publish("free", "all")
    metric, space, last = done.error.splitlines()
    reason = f"{hub.url} refused free/{{}} with status 402: Hosting Gradio Spaces requires PRO: see https://hub/pro."
    assert metric == f"metric: {reason.format('ecuas')}{command.STATIC}"
    assert space == f"space: {reason.format('ecuas-demo')}"
    assert last == "publish: not sent: metric, space, see above; 1 of 3 were."
    assert is_whole(hub, "free")
    hub.fault = None
    assert publish("free", "metric", "--static").status == 0
    assert hub.repositories["spaces", "free/ecuas"].sdk == "static"


def test_a_commit_since_the_repository_was_looked_at_stops_ours(hub, publish):
    theirs = lambda: hub.commit(*dataset_of("between"), "theirs", {"data/stray.txt": b"theirs"})  # noqa: E731
    hub.misbehave("/preupload/", theirs)
    line = "between/triviaqa-curated was changed by someone else at the same time: run this again."
    assert refused(publish("between")) == line
    assert [commit["summary"] for commit in hub.commits(*dataset_of("between"))] == ["theirs"]


def test_what_the_owner_added_stays_unless_asked(hub, publish):
    publish("owner")
    hub.commit(*dataset_of("owner"), "a picture", {"thumb [1].jpg": b"thumb"})
    kept = "; kept, since this version has no such files (--delete): thumb [1].jpg"
    assert publish("owner").out.endswith(kept)
    assert "thumb [1].jpg" in hub.files(*dataset_of("owner"))
    assert publish("owner", "dataset", "--delete").out.endswith("; deleted: thumb [1].jpg")
    assert "thumb [1].jpg" not in hub.files(*dataset_of("owner"))
    assert ".gitattributes" in hub.files(*dataset_of("owner"))


def test_a_development_version_gets_no_tag_and_a_tag_never_moves(hub, publish, monkeypatch):
    monkeypatch.setattr(command, "TAG", None)
    assert publish("versions").out.endswith("no tag, since this is a development version")
    monkeypatch.setattr(command, "TAG", TAG)
    assert publish("versions").out.endswith(
        f"unchanged {hub.commits(*dataset_of('versions'))[0]['oid'][:7]}, tag {TAG}"
    )
    hub.commit(*dataset_of("versions"), "changed", {"LICENSE": b"changed"})
    first = hub.commits(*dataset_of("versions"))[0]["oid"]
    assert f"tag {TAG} stays at {first[:7]}: raise the version" in publish("versions").out
    assert hub.repositories[dataset_of("versions")].tags == {TAG: first}


@pytest.mark.parametrize("path", ["/create", "/lfs/", "/commit/", "/tag/"])
def test_ctrl_c_at_any_stage_is_one_line_and_a_rerun_finishes(path, hub, publish):
    namespace = f"stopped-{path.strip('/')}"
    hub.contents.clear()
    hub.misbehave(path, lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGINT))
    stopped = publish(namespace)
    assert stopped == (130, "", "publish: stopped. Run this again: what is there is not sent again.\n")
    assert publish(namespace).status == 0
    assert is_whole(hub, namespace)


def test_nobody_there_and_no_request_waits_for_ever(publish):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    done = publish("NAME", "all", url=url)
    assert re.findall(r"^(\w+): http\S+ cannot be reached", done.error, re.MULTILINE) == list(PARTS)
    assert get_session().timeout.read == 120


@pytest.mark.parametrize("arguments", [[], ["models", "--namespace", "NAME"], ["metric", "--what"]])
def test_a_command_line_that_makes_no_sense(arguments, capsys):
    with pytest.raises(SystemExit, match="2"):
        command.main(arguments)
    assert capsys.readouterr().err.startswith("usage: publish.py")


def test_errors_are_one_line(publish):
    assert command.main(["metric"]) == 2
    assert publish("no\nname").error.count("\n") == 1
