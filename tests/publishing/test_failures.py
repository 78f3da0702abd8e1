"""What can go wrong between here and the Hub: one line, exit code 2, and a rerun finishes it."""

import re
import signal
import socket
import threading
from itertools import product

import pytest
from huggingface_hub import get_session

from publishing import __main__ as command
from publishing.staging import PARTS
from tests.publishing.conftest import DATASET, TAG
from tests.publishing.hub import READ, STRANGER, TOKEN
from tests.publishing.hub import hub as running

AGAIN = "Run this again later: what is there is not sent again."
RIGHTS = "If it is a matter of rights, use a token with write access, or another --namespace."
TAKEN = "the name {}/triviaqa-curated is taken by something else: choose another --namespace, or rename it."


@pytest.fixture
def staged(tmp_path):
    """Stage parts of one file of each of the two kinds that the Hub distinguishes."""
    for name, file in product(PARTS, ("a.parquet", "LICENSE")):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / file).write_text(file)
    return tmp_path


def sent(namespace):
    """Find the dataset of a namespace."""
    return running.repositories.get(("datasets", f"{namespace}/{DATASET}"))


def is_whole(dataset):
    """Return whether it is there, in one commit with one tag."""
    _, commit = dataset.commits
    return dataset.tags == {TAG: commit.oid}


def refused(done):
    """Return what one line said of the dataset, which was not sent."""
    assert done.status == 2
    line, rest = done.error.splitlines()
    assert rest == "publish: not sent: dataset, see above; 0 of 1 were."
    return line.removeprefix("dataset: ")


def test_who_may_not_write_is_told_so_and_nothing_is_sent(hub, publish, staged, monkeypatch):
    before = len(hub.requests)
    monkeypatch.delenv("HF_TOKEN")
    assert publish("NAME", "all").error == "publish: not logged in: run `hf auth login`, or set HF_TOKEN.\n"
    assert len(hub.requests) == before
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    line = f"publish: {hub.url} does not accept the token: run `hf auth login`, or set HF_TOKEN.\n"
    assert publish("new", "all") == (2, "", line)
    reason = "You don't have the rights to create a dataset under this namespace"
    for namespace, token in (("new", READ), (STRANGER, TOKEN)):
        monkeypatch.setenv("HF_TOKEN", token)
        line = f"{hub.url} refused {namespace}/{DATASET} with status 403: {reason}. {RIGHTS}"
        assert refused(publish(namespace)) == line
        assert sent(namespace) is None
    publish("reader")
    (staged / "dataset/LICENSE").write_text("another")
    monkeypatch.setenv("HF_TOKEN", READ)
    assert refused(publish("reader")).endswith(f"with status 403: Authorization error. {RIGHTS}")
    assert is_whole(sent("reader"))


def test_what_is_there_already_is_not_overwritten_and_not_taken_for_private(hub, publish):
    recipes = hub.put("datasets", f"taken/{DATASET}", {"README.md": b"recipes", "recipes.csv": b"soup"})
    before = recipes.commits[-1].files
    assert refused(publish("taken")) == TAKEN.format("taken")
    assert recipes.commits[-1].files == before
    publish("private", "dataset", "--private")
    assert sent("private").private
    publish("public")
    line = f"public/{DATASET} exists and is public: make it private there, or leave out --private."
    assert refused(publish("public", "dataset", "--private")) == line


@pytest.mark.parametrize(
    ("path", "status", "error", "said"),
    [
        ("/api/repos/create", 409, "", TAKEN),  # by something that we cannot see
        ("/info/lfs/", 403, "The storage is full: see https://h/s", "status 403: The storage is full: see https://h/s"),
        ("/lfs/", 413, "too large: https://s/a?Signature=x", "refused {}/triviaqa-curated with status 413: "),
    ],
)
def test_what_the_hub_refuses_is_one_line_that_shows_no_signature(path, status, error, said, hub, publish):
    namespace = f"refuses-{status}"
    hub.uploaded.clear()
    hub.misbehave(path, status, error)
    line = refused(publish(namespace))
    assert said.format(namespace) in line
    assert "Signature" not in line
    assert sent(namespace) is None or len(sent(namespace).commits) == 1


def stop():
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


FAULTS = [(500, "/create", False), (500, "/commit/", True), (500, "/tag/", False)]  # status, where, after doing it
FAULTS += [("cut", "/create", True), ("cut", "/commit/", False), ("cut", "/tag/", True)]
FAULTS += [(stop, path, False) for path in ("/create", "/lfs/", "/commit/", "/tag/")]


@pytest.mark.parametrize(("status", "path", "after"), FAULTS)
def test_after_a_failure_a_lost_answer_or_ctrl_c_a_rerun_finishes_it(status, path, after, hub, publish):
    namespace = f"fails-{FAULTS.index((status, path, after))}"
    hub.uploaded.clear()
    hub.misbehave(path, status, after=after)
    done = publish(namespace)
    if status == stop:
        assert done == (130, "", "publish: stopped. Run this again: what is there is not sent again.\n")
    else:
        said = "refused" if status == 500 else "cannot be reached, or not its storage ("
        assert re.fullmatch(re.escape(f"{hub.url} {said}") + ".*" + re.escape(AGAIN), refused(done))
    hub.fault = None
    assert publish(namespace).status == 0
    assert is_whole(sent(namespace))


def test_refusals_of_the_client_of_large_files_have_a_status_too():
    """Seen of hf_xet, which says this in the text of a plain exception."""
    for status, advice in ((403, RIGHTS), (500, AGAIN)):
        error = RuntimeError(f"Network error: HTTP status client error ({status} No), domain: http://h/api)")
        line = str(command._explain(error, PARTS["dataset"], "http://hub", "NAME/a"))
        assert line.startswith(f"http://hub refused NAME/a with status {status}: Network error")
        assert line.endswith(advice)


def test_a_plan_without_programs_holds_back_nothing_else(hub, publish):
    """A free account cannot create a Space with Gradio: the Hub's own sentence is shown, and the dataset goes."""
    publish("free")
    hub.misbehave("/api/repos/create", 402, error="Hosting Gradio Spaces requires PRO: see https://hub/pro")
    done = publish("free", "all")
    reason = "with status 402: Hosting Gradio Spaces requires PRO: see https://hub/pro."
    lines = [f"metric: {hub.url} refused free/ecuas {reason}{command.STATIC}"]
    lines += [f"space: {hub.url} refused free/ecuas-demo {reason}"]
    assert done.error.splitlines() == [*lines, "publish: not sent: metric, space, see above; 1 of 3 were."]
    assert is_whole(sent("free"))
    hub.fault = None
    assert publish("free", "metric", "--static").status == 0
    assert hub.repositories["spaces", "free/ecuas"].sdk == "static"


def test_what_others_commit_stops_ours_meanwhile_and_stays_unless_it_is_to_be_deleted(hub, publish, staged):
    publish("shared")
    (staged / "dataset/LICENSE").write_text("another")
    hub.misbehave("/preupload/", lambda: sent("shared").commit("theirs", {"thumb [1].jpg": b"thumb"}))
    line = f"shared/{DATASET} was changed by someone else at the same time: run this again."
    assert refused(publish("shared")) == line
    assert sent("shared").commits[-1].summary == "theirs"
    kept = "; kept, since this version has no such files (--delete): thumb [1].jpg"
    assert publish("shared").out.endswith(kept)
    assert "thumb [1].jpg" in sent("shared").commits[-1].files
    assert publish("shared", "dataset", "--delete").out.endswith("; deleted: thumb [1].jpg")
    assert set(sent("shared").commits[-1].files) == {".gitattributes", "a.parquet", "LICENSE"}


def test_a_development_version_gets_no_tag_and_a_tag_never_moves(publish, monkeypatch):
    monkeypatch.setattr(command, "TAG", None)
    assert publish("versions").out.endswith("no tag, since this is a development version")
    monkeypatch.setattr(command, "TAG", TAG)
    first = sent("versions").commits[1].oid
    assert publish("versions").out.endswith(f"unchanged {first[:7]}, tag {TAG}")
    sent("versions").commit("changed", {"LICENSE": b"changed"})
    assert f"tag {TAG} stays at {first[:7]}: raise the version" in publish("versions").out
    assert sent("versions").tags == {TAG: first}


def test_nobody_there_and_a_name_that_is_none(publish):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    done = publish("NAME", "all", url=url)
    assert re.findall(r"^(\w+): http\S+ cannot be reached", done.error, re.MULTILINE) == list(PARTS)
    assert get_session().timeout.read == 120  # no request waits for ever
    assert command.main(["metric"]) == 2
    assert publish("no\nname").error.count("\n") == 1
