"""What can go wrong between here and the Hub: one line, exit code 2, and a remote that is as it was."""

import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from publishing import __main__ as command
from publishing.staging import PARTS, Part
from tests.publishing.conftest import CONFIGURATIONS, SPACE, build_with_text
from tests.publishing.server import NOT_OURS


@pytest.fixture
def send(staged, hub, online):
    """Return a function that sends the staged dataset from this process, as `publish.py dataset` does."""

    def send(namespace, *, endpoint=hub.url, folder=staged, private=False):
        dataset = [PARTS["dataset"]]
        command.send(dataset, folder, namespace, endpoint=endpoint, private=private, dry_run=False)

    return send


def dataset(namespace):
    return "datasets", f"{namespace}/triviaqa-curated"


def test_not_logged_in(hub, online, monkeypatch, capsys):
    monkeypatch.delenv("HF_TOKEN")
    before = len(hub.store.requests())
    assert command.main(["all", "--namespace", "NAME", "--endpoint", hub.url]) == 2
    assert capsys.readouterr() == ("", "publish: not logged in: run `hf auth login`, or set HF_TOKEN.\n")
    assert len(hub.store.requests()) == before


def test_a_token_that_is_not_accepted(hub, send, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    with pytest.raises(ConnectionError) as refusal:
        send("new")
    message = f"not logged in: {hub.url} does not accept the token. Run `hf auth login`, or set HF_TOKEN."
    assert str(refusal.value) == message
    assert hub.store.repository(*dataset("new")) is None


def test_no_rights(hub, send):
    with pytest.raises(ConnectionError) as refusal:
        send(NOT_OURS)
    rest = "use a token with write access to it, or another --namespace."
    assert str(refusal.value) == f"no right to write {NOT_OURS}/triviaqa-curated: {rest}"
    assert hub.store.repository(*dataset(NOT_OURS)) is None


def test_a_name_taken_by_something_else_of_ours(hub, send):
    hub.store.put(*dataset("taken"), {"README.md": b"recipes", "recipes.csv": b"soup"})
    before = hub.store.files(*dataset("taken"))
    rest = "is taken by another dataset: choose another --namespace, or rename it."
    with pytest.raises(ValueError, match=f"^the name taken/triviaqa-curated {rest}$"):
        send("taken")
    assert hub.store.files(*dataset("taken")) == before


def test_a_name_taken_by_something_we_cannot_see(hub, send):
    hub.store.misbehave("/api/repos/create", 409)
    with pytest.raises(ValueError, match=r"^the name hidden/triviaqa-curated is taken by another dataset"):
        send("hidden")


def test_a_commit_in_between(hub, send):
    hub.store.misbehave("/commit/", 409)
    with pytest.raises(ConnectionError) as refusal:
        send("changing", private=True)
    rest = "was changed by someone else at the same time: run this again."
    assert str(refusal.value) == f"changing/triviaqa-curated {rest}"
    assert hub.store.commits(*dataset("changing")) == []
    assert hub.store.repository(*dataset("changing"))["private"] is True


def test_what_is_public_is_not_taken_for_private(hub, send):
    send("public")
    commits = hub.store.commits(*dataset("public"))
    rest = "exists and is public: make it private there, or leave out --private."
    with pytest.raises(ValueError, match=f"^public/triviaqa-curated {rest}$"):
        send("public", private=True)
    assert hub.store.commits(*dataset("public")) == commits


def test_an_upload_that_is_refused(start_hub, send):
    hub = start_hub()
    hub.store.misbehave("/lfs/", 402)
    with pytest.raises(ConnectionError) as refusal:
        send("NAME", endpoint=hub.url)
    expected = f"{hub.url} answered with status 402: NAME/triviaqa-curated is as it was before"
    assert str(refusal.value).startswith(expected)
    assert hub.store.commits(*dataset("NAME")) == []


def test_nobody_there(send):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    with pytest.raises(ConnectionError) as refusal:
        send("NAME", endpoint=url)
    assert str(refusal.value).startswith(f"{url} cannot be reached (")
    assert str(refusal.value).endswith("NAME/triviaqa-curated is as it was before, run this again later.")


def demo(folder, *stray):
    """Return a part that is a small page, with stray files beside it."""

    def gather(out):
        (out / "README.md").write_text(SPACE["README.md"])
        (out / "app.py").write_text("")
        for name in stray:
            (out / name).touch()

    return Part("space", "space", "ecuas-demo", folder, "app.py", gather)


def test_what_must_not_be_sent_stops_everything(hub, online, tmp_path, monkeypatch, capsys):
    """Every part is checked before the first is sent."""
    parts = {"space": demo(tmp_path), "dataset": demo(tmp_path, "test_views.py")._replace(name="dataset")}
    monkeypatch.setattr(command, "PARTS", parts)
    before = len(hub.store.requests())
    assert command.main(["all", "--namespace", "NAME", "--endpoint", hub.url]) == 2
    line = "publish: caches, tests and hidden files must not be sent; got test_views.py. Remove it.\n"
    printed = capsys.readouterr()
    assert printed.err == line
    assert printed.out.startswith("space: 2 files, ")  # the first part was fit to be sent
    assert len(hub.store.requests()) == before


@pytest.mark.parametrize("arguments", [[], ["metric"], ["models", "--namespace", "NAME"], ["register", "--dry-run"]])
def test_a_command_line_that_makes_no_sense(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        command.main(arguments)
    assert stop.value.code == 2
    assert capsys.readouterr().err.startswith("usage: publish.py")


def test_a_folder_that_does_not_exist(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "PARTS", {"space": demo(tmp_path / "space")})
    assert command.chosen("all") == []
    assert capsys.readouterr().out == "space: left out, there is no folder space/\n"
    assert command.main(["space", "--namespace", "NAME", "--dry-run"]) == 2
    assert capsys.readouterr().err == "publish: there is no folder space/ to publish.\n"


def test_an_error_of_several_lines_is_one_line(capsys):
    assert command.main(["dataset", "--namespace", "no\nname", "--dry-run"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_hub_that_dies_while_it_reads_the_commit(start_hub, send, staged, tmp_path, capsys):
    def uploads():
        return sum(request.startswith("PUT") for request in hub.store.requests())

    hub = start_hub()
    send("NAME", endpoint=hub.url)
    files, tags = hub.store.files(*dataset("NAME")), hub.store.tags(*dataset("NAME"))
    sent = uploads()
    assert sent == len(CONFIGURATIONS)

    build_with_text(tmp_path / "dataset", staged / "dataset")
    changed = {
        path.relative_to(tmp_path / "dataset").as_posix()
        for path in (tmp_path / "dataset").rglob("*")
        if path.is_file() and path.read_bytes() != files[path.relative_to(tmp_path / "dataset").as_posix()]
    }
    assert {"data/curated.parquet", "data/pool.parquet", "data/SHA256SUMS"} <= changed
    hub.store.misbehave("/commit/", None)
    with pytest.raises(ConnectionError) as refusal:
        send("NAME", endpoint=hub.url, folder=tmp_path)
    assert str(refusal.value).startswith(f"{hub.url} cannot be reached (Server disconnected")
    assert (hub.store.files(*dataset("NAME")), hub.store.tags(*dataset("NAME"))) == (files, tags)
    sent = uploads()
    assert sent == len(CONFIGURATIONS) + sum(name.endswith(".parquet") for name in changed)

    hub.store.behave()
    hub.restart()
    capsys.readouterr()
    send("NAME", endpoint=hub.url, folder=tmp_path)
    first, second = hub.store.commits(*dataset("NAME"))
    assert set(second["received"]) == changed
    assert uploads() == sent  # what had arrived was not sent again
    stays = f"stays at {first['oid'][:7]}: raise the version to tag this commit"
    assert stays in capsys.readouterr().out  # a tag is a promise
    assert hub.store.tags(*dataset("NAME")) == tags


def test_a_hub_that_dies_while_it_reads_a_table_and_comes_back(start_hub, send, staged, capsys):
    hub = start_hub()
    hub.store.misbehave("/lfs/", None)
    with ThreadPoolExecutor() as pool:
        sending = pool.submit(send, "NAME", endpoint=hub.url)
        hub.process.wait(60)
        assert hub.store.commits(*dataset("NAME")) == []
        hub.store.behave()
        hub.restart()
        sending.result(60)
    (commit,) = hub.store.commits(*dataset("NAME"))
    assert f"committed {commit['oid'][:7]}, tagged" in capsys.readouterr().out
    for name, content in hub.store.received(commit).items():
        if name.endswith(".parquet"):
            assert content == (staged / "dataset" / name).read_bytes()
