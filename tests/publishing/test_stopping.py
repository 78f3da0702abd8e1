"""Stopped half-way: by the user, a full disk, a lost network or another publisher. A rerun finishes it."""

import errno
import signal
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from huggingface_hub import HfApi

from ecuas_metric import __version__
from publishing import __main__ as command
from publishing import checks, staging
from publishing.pushing import push
from publishing.staging import PARTS
from tests.publishing.conftest import dataset_of

TAG = f"v{__version__}"


@pytest.fixture
def publish(hub, online, tmp_path, monkeypatch, capsys):
    """Return a function that runs the command on the dataset, and looks that it leaves no file behind."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(staging, "BUILT", tmp_path / "nothing")

    def publish(namespace):
        status = command.main(["dataset", "--namespace", namespace, "--endpoint", hub.url])
        assert not list((tmp_path / "temporary").iterdir())
        return status, capsys.readouterr().err

    return publish


def is_whole(hub, namespace):
    (commit,) = hub.store.commits(*dataset_of(namespace))
    return hub.store.tags(*dataset_of(namespace)) == {TAG: commit["oid"]}


def interrupt():
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


STOP_THE_PARENT = "import os, signal, time; os.kill(os.getppid(), signal.SIGINT); time.sleep(60)"


@pytest.mark.parametrize(
    "stage", ["staging", "checks", "/create", "/preupload/", "/batch", "/lfs/", "/commit/", "/tag/"]
)
def test_ctrl_c_at_any_stage_is_one_line_and_a_rerun_finishes(stage, hub, publish, monkeypatch):
    namespace = f"stopped-{stage.strip('/')}"
    monkeypatch.setattr(checks, "LOAD_DATASET", STOP_THE_PARENT if stage == "checks" else "")
    if stage == "staging":
        monkeypatch.setattr(command, "stage", lambda *_: interrupt())
    stopped = stop_at(stage, hub, lambda: publish(namespace)) if "/" in stage else publish(namespace)
    assert stopped == (130, "publish: stopped. Run this again: what is there is not sent again.\n")
    monkeypatch.setattr(checks, "LOAD_DATASET", "")
    monkeypatch.setattr(command, "stage", staging.stage)
    assert publish(namespace) == (0, "")
    assert is_whole(hub, namespace)


def stop_at(path, hub, work):
    """Interrupt this process while it waits for the answer to a request of this path."""
    before, done = len(hub.store.requests()), threading.Event()
    hub.store.misbehave(path, "stall")

    def watch():
        while not any(path in request for request in hub.store.requests()[before:]):
            if done.wait(0.02):
                return
        interrupt()
        hub.store.behave()

    with ThreadPoolExecutor(1) as pool:
        watching = pool.submit(watch)
        stopped = work()
        done.set()
        watching.result()
    return stopped


def test_a_full_disk_is_said_and_no_fault_of_the_part(dataset, publish, hub, monkeypatch):
    """While files are staged, and while the process that checks them writes its cache."""
    full = OSError(errno.ENOSPC, "No space left on device", "curated.parquet")
    monkeypatch.setattr(command, "stage", raising(full))
    assert publish("full") == (2, f"publish: {full}\n")
    monkeypatch.setattr(checks, "LOAD_DATASET", "open('/dev/full', 'wb', 0).write(b'x')")
    with pytest.raises(OSError, match=r"^no space left in .* to check the staged dataset: set TMPDIR\.$"):
        checks.check_runs(PARTS["dataset"], dataset)
    assert hub.store.repository(*dataset_of("full")) is None


def raising(error):
    def fail(*_, **__):
        raise error

    return fail


def test_a_network_that_is_lost_after_the_first_part(hub, send, capsys):
    """The next part would wait for the same network: it is not tried, and named."""
    hub.store.misbehave("spaces/", "cut")
    with pytest.raises(ConnectionError, match="^not sent: metric, space, see above; 1 of 3 were.$"):
        send("lost", parts=["dataset", "metric", "space"])
    assert is_whole(hub, "lost")
    said = capsys.readouterr().err
    assert said.startswith(f"metric: {hub.url} cannot be reached, or not its storage (peer closed connection")
    assert said.endswith("What lost/ecuas is now cannot be seen. Run this again later.\n")
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("path", "left"),
    [
        ("/create", "{} was made, and is empty."),
        ("/commit/", "{} has the new files (commit {}), but not the tag {}."),
        ("/tag/", "{} has the new files (commit {}) and the tag {}."),
    ],
)
def test_an_answer_that_is_lost(path, left, hub, send):
    """The Hub did what was asked, and nobody heard of it."""
    namespace = f"unheard-{path.strip('/')}"
    hub.store.misbehave(path, "cut", after=True)
    with pytest.raises(ConnectionError) as refusal:
        send(namespace)
    hub.store.behave()
    repository = hub.store.repository(*dataset_of(namespace))
    said = left.format(dataset_of(namespace)[1], repository["commits"][-1]["oid"][:7], TAG)
    assert str(refusal.value).endswith(f"). {said} Run this again later.")
    send(namespace)
    assert is_whole(hub, namespace)


class Late(HfApi):
    """A client that another one overtakes just before one of its requests."""

    def overtake(self, method, other):
        ours = getattr(self, method)

        def late(*arguments, **named):
            setattr(self, method, ours)
            other()
            return ours(*arguments, **named)

        setattr(self, method, late)
        return self


@pytest.mark.parametrize(
    ("method", "done"),
    [
        ("create_repo", "unchanged {}, tag {}"),
        ("upload_folder", "committed {}, tag {}"),
        ("create_tag", "committed {}, tag {}"),
    ],
)
def test_two_publishers_at_once(method, done, hub, send, staged):
    """Whoever comes second finds the same files there, and sends nothing again."""
    namespace = f"twice-{method.replace('_', '-')}"
    api = Late(endpoint=hub.url).overtake(method, lambda: send(namespace))
    said = push(PARTS["dataset"], staged / "dataset", api=api, repo_id=dataset_of(namespace)[1], tag=TAG)
    assert is_whole(hub, namespace)
    assert said == done.format(hub.store.commits(*dataset_of(namespace))[0]["oid"][:7], TAG)


def test_a_private_publication_does_not_follow_a_public_one(hub, send, staged):
    api = Late(endpoint=hub.url).overtake("create_repo", lambda: send("in-between"))
    with pytest.raises(ValueError, match="^in-between/triviaqa-curated exists and is public"):
        push(PARTS["dataset"], staged / "dataset", api=api, repo_id=dataset_of("in-between")[1], tag=TAG, private=True)


def test_names_in_another_case_are_others_and_said_to_be(hub, send, capsys):
    send("cased")
    added = {
        "license": hub.store.keep(b"ours"),
        "Data/Curated.parquet": hub.store.keep(b"old"),
        "LICENCE.txt": hub.store.keep(b"-"),
    }
    hub.store.commit(*dataset_of("cased"), "theirs", added)
    capsys.readouterr()
    send("cased")
    kept = "kept, since this version has no such files (--delete): Data/Curated.parquet, LICENCE.txt, license"
    alike = "A clone on Windows or macOS lacks those whose names differ in case only: Data/Curated.parquet, license"
    assert capsys.readouterr().out.endswith(f"; {kept}. {alike}\n")


def test_a_static_space_that_the_hub_filled_is_empty(hub, tmp_path, online):
    """Of a run that ended after the creation: the Hub puts a page into it."""
    repository = ("spaces", "started/ecuas")
    welcome = dict.fromkeys((".gitattributes", "README.md", "index.html", "style.css"), b"welcome")
    hub.store.put(*repository, welcome)
    staging.stage(staging.STATIC_METRIC, tmp_path / "metric", "started")
    sent = {"api": HfApi(endpoint=hub.url), "repo_id": repository[1], "tag": TAG}
    with pytest.raises(ValueError, match="^the name started/ecuas is taken by another space"):
        push(PARTS["metric"], tmp_path / "metric", **sent)
    done = push(staging.STATIC_METRIC, tmp_path / "metric", **sent)
    assert done.endswith("; kept, since this version has no such files (--delete): style.css")
