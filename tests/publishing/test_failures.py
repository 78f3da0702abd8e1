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
from tests.publishing.conftest import DATASET, TAG, Result
from tests.publishing.hub import STRANGER, TOKEN
from tests.publishing.hub import hub as running

NO_RIGHTS = "You don't have the rights to create a dataset under this namespace"
TAKEN = (
    f"the name NAME/{DATASET} is taken by something else: choose another --namespace, or rename it."
)
LOST = f"HUB cannot be reached, or not its storage (.*). {command.AGAIN}"
FAILED = f"HUB refused NAME/{DATASET} with status 500: as asked. {command.AGAIN}"
RIGHTS = command.ADVICE[403]


def stop():
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


FAULTS = [  # a path, what the Hub answers there, whether it does it before, and the line that says so
    ("/create", (409, ""), False, TAKEN),  # by something that we cannot see
    ("/info/lfs/", (403, "The storage is full"), False, f".* 403: The storage is full. {RIGHTS}"),
    ("/lfs/", (413, "too large: https://s/a?Signature=x"), False, f"HUB refused NAME/{DATASET} with status 413: .*"),
    ("/create", (500, "as asked"), False, FAILED), ("/commit/", (500, "as asked"), True, FAILED),
    ("/create", ("cut", ""), True, LOST), ("/commit/", ("cut", ""), False, LOST), ("/tag/", ("cut", ""), True, LOST),
    *((path, (stop, ""), False, None) for path in ("/lfs/", "/commit/", "/tag/")),
]  # fmt: skip


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
    line, summary = done.error.splitlines()
    assert summary == "publish: not sent: dataset, see above; 0 of 1 were."
    return line.removeprefix("dataset: ")


@pytest.mark.parametrize("path, answer, after, line", FAULTS)
def test_a_fault_is_one_line_without_a_signed_address_and_a_rerun_finishes_it(
    path, answer, after, line, hub, publish
):
    # which a shell turns off in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)
    namespace = f"faulty-{FAULTS.index((path, answer, after, line))}"
    hub.uploaded.clear()
    hub.misbehave(path, *answer, after=after)
    done = publish(namespace)
    if line is None:
        assert done == Result(
            130, "", "publish: stopped. Run this again: what is there is not sent again.\n"
        )
    else:
        pattern = (
            re.escape(line)
            .replace(r"\.\*", ".*")
            .replace("HUB", re.escape(hub.url))
            .replace("NAME", namespace)
        )
        assert re.fullmatch(pattern, refused(done))
        assert "Signature" not in done.error
    hub.fault = None
    assert publish(namespace).status == 0
    assert is_whole(sent(namespace))


@pytest.mark.parametrize(
    "words",
    [
        f"no rights: {TOKEN}",
        "Authorization: Bearer c3VwZXI6aGlkZGVu",
        "{'authorization': 'Basic c3VwZXI6aGlkZGVu'}",
        "forward to http://super:c3VwZXI6aGlkZGVu@host/path",
        "forward to http://host/path?signature=c3VwZXI6aGlkZGVu",
    ],
)
def test_what_the_hub_repeats_of_a_request_is_printed_without_secrets(words, hub, publish):
    hub.misbehave("/create", 403, error=words)
    done = publish("repeated")
    assert "with status 403: " in refused(done)
    for secret in (TOKEN, "c3VwZXI6aGlkZGVu"):
        assert secret not in done.error + done.out


def test_a_command_line_and_a_fault_of_ours_are_printed_without_the_token(
    online, monkeypatch, capsys
):
    with pytest.raises(SystemExit):
        command.main(["dataset", "--token", TOKEN])
    monkeypatch.setattr(command, "stage", lambda *_: {}[TOKEN])
    assert command.main(["dataset", "--namespace", "NAME", "--dry-run"]) == 1
    error = capsys.readouterr().err
    assert "KeyError: '***'" in error
    assert TOKEN not in error


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
        (None, "new", "publish: not logged in: run `hf auth login`, or set HF_TOKEN."),
        (
            "hf_wrong",
            "new",
            "publish: HUB does not accept the token: run `hf auth login`, or set HF_TOKEN.",
        ),
        (
            TOKEN,
            STRANGER,
            f"dataset: HUB refused {STRANGER}/{DATASET} with status 403: {NO_RIGHTS}. {RIGHTS}",
        ),
    ],
)
def test_who_may_not_write_is_told_so_and_nothing_is_sent(
    token, namespace, line, hub, publish, monkeypatch
):
    monkeypatch.delenv("HF_TOKEN")
    if token:
        monkeypatch.setenv("HF_TOKEN", token)
    done = publish(namespace)
    assert (done.status, done.out, done.error.splitlines()[0]) == (
        2,
        "",
        line.replace("HUB", hub.url),
    )
    assert sent(namespace) is None


def test_what_is_there_is_not_overwritten_taken_for_private_or_moved(
    hub, publish, staged, monkeypatch
):
    recipes = hub.put(
        "datasets", f"taken/{DATASET}", {"README.md": b"recipes", "recipes.csv": b"soup"}
    )
    before = recipes.commits[-1].files
    assert refused(publish("taken")) == TAKEN.replace("NAME", "taken")
    assert recipes.commits[-1].files == before
    publish("private", "dataset", "--private")
    assert sent("private").private
    monkeypatch.setattr(command, "TAG", None)
    assert publish("public").out.endswith("no tag, since this is a development version")
    line = f"public/{DATASET} exists and is public: make it private there, or leave out --private."
    assert refused(publish("public", "dataset", "--private")) == line
    monkeypatch.setattr(command, "TAG", TAG)
    first = sent("public").commits[1].oid
    assert publish("public").out.endswith(f"unchanged {first[:7]}, tag {TAG}")
    (staged / "dataset/LICENSE").write_text("another")
    hub.misbehave(
        "/preupload/", lambda: sent("public").commit("theirs", {"thumb [1].jpg": b"thumb"})
    )
    assert refused(publish("public")).endswith(command.ADVICE[412])
    assert sent("public").commits[-1].summary == "theirs"
    kept = "; kept, since this version has no such files (--delete): thumb [1].jpg"
    assert publish("public").out.endswith(
        f"tag {TAG} stays at {first[:7]}: raise the version to tag this{kept}"
    )
    assert publish("public", "dataset", "--delete").out.endswith("; deleted: thumb [1].jpg")
    assert set(sent("public").commits[-1].files) == {".gitattributes", "a.parquet", "LICENSE"}
    assert sent("public").tags == {TAG: first}


def test_a_plan_without_programs_holds_back_nothing_else(hub, publish):
    """A free account cannot create a Space with Gradio: the Hub's own sentence is shown, and the dataset goes."""
    publish("free")
    hub.misbehave("/api/repos/create", 402, error="Hosting Gradio Spaces requires PRO")
    done = publish("free", "all")
    reason = f"with status 402: Hosting Gradio Spaces requires PRO. {command.ADVICE[402]}"
    metric = f"metric: {hub.url} refused free/ecuas {reason}"
    summary = "publish: not sent: metric, space, see above; 1 of 3 were."
    assert done.error.splitlines() == [
        metric,
        f"space: {hub.url} refused free/ecuas-demo {reason}",
        summary,
    ]
    hub.fault = None
    assert publish("free", "metric", "--static").status == 0
    assert hub.repositories["spaces", "free/ecuas"].sdk == "static"


def test_nobody_there_and_a_name_that_is_none(publish):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    done = publish("NAME", "all", url=url)
    assert re.findall(r"^(\w+): http\S+ cannot be reached", done.error, re.MULTILINE) == list(PARTS)
    assert get_session().timeout.read == 120  # no request waits for ever
    assert command.main(["metric"]) == 2
    assert publish("no\nname").error.count("\n") == 1
