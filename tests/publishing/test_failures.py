"""What can go wrong between here and the Hub: one line, exit code 2, and a rerun finishes it."""

import re
import signal
import socket
import threading

import pytest
from huggingface_hub import get_session

from publishing import __main__ as command
from publishing.staging import PARTS
from tests.publishing.conftest import DATASET, TAG
from tests.publishing.hub import STRANGER, TOKEN
from tests.publishing.hub import hub as running

NO_RIGHTS = "You don't have the rights to create a dataset under this namespace"


def stop():
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


FAULTS = [  # a path, what the Hub answers there, and whether it does it before
    ("/info/lfs/", (403, "The storage is full"), False), ("/lfs/", (413, "too large: https://s/a?Signature=x"), False),
    ("/create", (500, "as asked"), False), ("/commit/", (500, "as asked"), True),
    ("/create", ("cut", ""), True), ("/commit/", ("cut", ""), False), ("/tag/", ("cut", ""), True),
    *((path, (stop, ""), False) for path in ("/lfs/", "/commit/", "/tag/")),
]  # fmt: skip


@pytest.fixture
def staged(tmp_path):
    """Stage parts of one file of each of the two kinds that the Hub distinguishes."""
    for name in PARTS:
        (tmp_path / name).mkdir(exist_ok=True)
        for file in ("a.parquet", "LICENSE"):
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
    """Return the line that says why a part was not sent."""
    assert done.status == 2
    (line,) = done.error.splitlines()
    return line.removeprefix("publish: ")


@pytest.mark.parametrize("path, answer, after", FAULTS)
def test_a_fault_is_one_line_without_a_signed_address_and_a_rerun_finishes_it(
    path, answer, after, hub, publish
):
    # which a shell turns off in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)
    namespace = f"faulty-{FAULTS.index((path, answer, after))}"
    hub.uploaded.clear()
    hub.misbehave(path, *answer, after=after)
    done = publish(namespace)
    if answer[0] is stop:
        assert (done.status, done.error) == (130, f"publish: stopped. {command.AGAIN}\n")
    else:
        assert refused(done).endswith(command.AGAIN)
        assert "Signature" not in done.error
    hub.fault = None
    assert publish(namespace).status == 0
    assert is_whole(sent(namespace))


@pytest.mark.parametrize("namespace", ["a/b", "-a", "a..b", "no name", "no\nname", ""])
def test_a_namespace_is_checked_before_anything_is_staged(namespace, monkeypatch, capsys):
    monkeypatch.setattr(command, "stage", None)
    for flags in (["--dry-run"], []):
        assert command.main(["all", f"--namespace={namespace}", *flags]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("publish: --namespace must be the name of a user or an organisation")


@pytest.mark.parametrize(
    "token, namespace, line",
    [
        (None, "new", "not logged in: run `hf auth login`, or set HF_TOKEN."),
        ("hf_wrong", "new", "HUB: Invalid username or password. "),
        (TOKEN, STRANGER, f"HUB: {NO_RIGHTS}. "),
    ],
)
def test_who_may_not_write_is_told_so_and_nothing_is_sent(
    token, namespace, line, hub, publish, monkeypatch
):
    monkeypatch.delenv("HF_TOKEN")
    if token:
        monkeypatch.setenv("HF_TOKEN", token)
    assert refused(publish(namespace)).startswith(line.replace("HUB", hub.url))
    assert sent(namespace) is None


def test_what_is_there_is_not_overwritten_taken_for_private_or_moved(
    hub, publish, staged, monkeypatch
):
    recipes = {"README.md": b"recipes", "recipes.csv": b"soup"}
    before = hub.put("datasets", f"taken/{DATASET}", recipes).commits[-1].files
    taken = f"the name taken/{DATASET} is taken by something else: choose another --namespace"
    assert refused(publish("taken")).startswith(taken)
    assert sent("taken").commits[-1].files == before
    publish("private", "dataset", "--private")
    assert sent("private").private
    monkeypatch.setattr(command, "TAG", None)
    assert publish("public").status == 0
    assert sent("public").tags == {}
    line = f"public/{DATASET} exists and is public: make it private there, or leave out --private."
    assert refused(publish("public", "dataset", "--private")) == line
    monkeypatch.setattr(command, "TAG", TAG)
    publish("public")
    assert is_whole(sent("public"))
    first = sent("public").commits[1].oid
    sent("public").commit("theirs", {"thumb [1].jpg": b"thumb"})
    (staged / "dataset/LICENSE").write_text("another")
    publish("public")
    assert "thumb [1].jpg" in sent("public").commits[-1].files
    publish("public", "dataset", "--delete")
    assert set(sent("public").commits[-1].files) == {".gitattributes", "a.parquet", "LICENSE"}
    assert sent("public").tags == {TAG: first}


def test_a_plan_without_programs_has_the_dataset_and_a_metric_without_one(hub, publish):
    """A free account cannot create a Space with Gradio: the Hub's own sentence is shown, after the dataset went."""
    publish("free")
    hub.misbehave("/api/repos/create", 402, error="Hosting Gradio Spaces requires PRO")
    reason = f"{hub.url}: Hosting Gradio Spaces requires PRO. {command.AGAIN}"
    done = publish("free", "all")
    assert refused(done) == reason
    assert re.findall(r"^\w+", done.out, re.MULTILINE) == ["dataset", "metric"]
    hub.fault = None
    assert publish("free", "metric", "--static").status == 0
    assert hub.repositories["spaces", "free/ecuas"].sdk == "static"


def test_nobody_there_and_a_name_that_is_none(publish):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    assert refused(publish("NAME", "all", url=url)).startswith(f"{url}: ")
    assert get_session().timeout.read == 120  # no request waits for ever
    assert command.main(["metric"]) == 2
    assert publish("no\nname").error.count("\n") == 1
