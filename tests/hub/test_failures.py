"""What can go wrong between here and the Hub: one line, exit code 2, and a remote that is as it was."""

import socket
import subprocess
import sys

import pytest

from tests.hub.conftest import build_with_text, environment, publish
from tests.hub.server import NOT_OURS, TOKEN


@pytest.fixture(scope="module")
def source(make_checkout):
    return make_checkout()


def refused(done):
    """Return the one line that says why."""
    assert done.status == 2, done
    line, end = done.error.split("\n")
    assert line.startswith("publish: ")
    assert end == ""
    return line.removeprefix("publish: ")


def dataset(namespace):
    return "datasets", f"{namespace}/triviaqa-curated"


def test_not_logged_in(hub, source, home):
    before = len(hub.store.requests())
    done = publish(source, hub, home, "all", "--namespace", "NAME", token=None)
    assert refused(done) == "not logged in: run `hf auth login`, or set HF_TOKEN."
    assert len(hub.store.requests()) == before


def test_a_token_that_is_not_accepted(hub, source, home):
    done = publish(source, hub, home, "dataset", "--namespace", "new", token="hf_wrong")
    assert refused(done) == (
        f"not logged in: {hub.url} does not accept the token. Run `hf auth login`, or set HF_TOKEN."
    )
    assert hub.store.repository(*dataset("new")) is None


def test_no_rights(hub, source, home):
    done = publish(source, hub, home, "dataset", "--namespace", NOT_OURS)
    assert refused(done) == (
        f"no right to write {NOT_OURS}/triviaqa-curated: use a token with write access to it, or another --namespace."
    )
    assert hub.store.repository(*dataset(NOT_OURS)) is None


def test_a_name_taken_by_something_else_of_ours(hub, source, home):
    hub.store.put(*dataset("taken"), {"README.md": b"recipes", "recipes.csv": b"soup"})
    before = hub.store.files(*dataset("taken"))
    done = publish(source, hub, home, "dataset", "--namespace", "taken")
    assert refused(done) == (
        "the name taken/triviaqa-curated is taken by another dataset: choose another --namespace, or rename it."
    )
    assert hub.store.files(*dataset("taken")) == before


def test_a_name_taken_by_something_we_cannot_see(hub, source, home):
    hub.store.misbehave("/api/repos/create", 409)
    done = publish(source, hub, home, "dataset", "--namespace", "hidden")
    assert refused(done).startswith("the name hidden/triviaqa-curated is taken by another dataset")


def test_a_commit_in_between(hub, source, home):
    hub.store.misbehave("/commit/", 409)
    done = publish(source, hub, home, "dataset", "--namespace", "changing", "--private")
    assert refused(done) == "changing/triviaqa-curated was changed by someone else at the same time: run this again."
    assert hub.store.commits(*dataset("changing")) == []
    assert hub.store.repository(*dataset("changing"))["private"] is True


def test_an_upload_that_is_refused(start_hub, source, home):
    hub = start_hub()
    hub.store.misbehave("/lfs/", 402)
    done = publish(source, hub, home, "dataset", "--namespace", "NAME")
    assert refused(done).startswith(f"{hub.url} answered with status 402: NAME/triviaqa-curated is as it was before")
    assert hub.store.commits(*dataset("NAME")) == []


def test_what_must_not_be_sent_stops_everything(hub, checkout, home):
    (checkout / "space/test_views.py").touch()
    before = len(hub.store.requests())
    done = publish(checkout, hub, home, "space", "--namespace", "NAME")
    assert refused(done) == "caches, tests and hidden files must not be sent; got space/test_views.py. Remove it."
    assert len(hub.store.requests()) == before


def test_nobody_there(source, hub, home):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    done = publish(source, hub, home, "dataset", "--namespace", "NAME", "--endpoint", f"{url}/")
    assert refused(done).startswith(f"{url} cannot be reached (")
    assert "NAME/triviaqa-curated is as it was before, run this again later." in done.error


@pytest.mark.parametrize("arguments", [[], ["metric"], ["models", "--namespace", "NAME"], ["register", "--dry-run"]])
def test_a_command_line_that_makes_no_sense(hub, source, home, arguments):
    done = publish(source, hub, home, *arguments)
    assert done.status == 2
    assert done.error.startswith("usage: publish.py")


def test_a_hub_that_dies_while_it_reads_the_commit(start_hub, checkout, home):
    def uploads():
        return sum(request.startswith("PUT") for request in hub.store.requests())

    hub = start_hub()
    assert publish(checkout, hub, home, "dataset", "--namespace", "NAME").status == 0
    files, tags = hub.store.files(*dataset("NAME")), hub.store.tags(*dataset("NAME"))
    assert uploads() == 4

    build_with_text(checkout / "build/triviaqa_subset", checkout / "triviaqa_subset")
    hub.store.misbehave("/commit/", None)
    done = publish(checkout, hub, home, "dataset", "--namespace", "NAME")
    assert refused(done).startswith(f"{hub.url} cannot be reached (Server disconnected")
    assert (hub.store.files(*dataset("NAME")), hub.store.tags(*dataset("NAME"))) == (files, tags)
    assert uploads() == 6

    hub.store.behave()
    hub.restart()
    done = publish(checkout, hub, home, "dataset", "--namespace", "NAME")
    assert done.status == 0, done.error
    first, second = hub.store.commits(*dataset("NAME"))
    changed = {"README.md", "data/SHA256SUMS", "data/curated.parquet", "data/pool.parquet"}
    assert set(second["received"]) == changed
    assert uploads() == 6  # what had arrived was not sent again
    assert f"stays at {first['oid'][:7]}: raise the version to tag this commit" in done.out  # a tag is a promise
    assert hub.store.tags(*dataset("NAME")) == tags


def test_a_hub_that_dies_while_it_reads_a_table_and_comes_back(start_hub, checkout, home):
    hub = start_hub()
    hub.store.misbehave("/lfs/", None)
    command = [sys.executable, "publish.py", "dataset", "--namespace", "NAME"]
    env = environment(home, hub.url, HF_TOKEN=TOKEN)
    with subprocess.Popen(command, cwd=checkout, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as publisher:
        hub.process.wait(60)
        assert hub.store.commits(*dataset("NAME")) == []
        hub.store.behave()
        hub.restart()
        out, error = publisher.communicate(timeout=60)
    assert publisher.returncode == 0, error
    (commit,) = hub.store.commits(*dataset("NAME"))
    assert f"committed {commit['oid'][:7]}, tagged" in out.decode()
    for name, content in hub.store.received(commit).items():
        if name.endswith(".parquet"):
            assert content == (checkout / "triviaqa_subset" / name).read_bytes()
