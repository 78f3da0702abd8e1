"""What can go wrong between here and the Hub: one line, exit code 2, and a remote that is as it was."""

import shutil
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest
from huggingface_hub import HfApi, get_session

from ecuas_metric import __version__
from publishing import __main__ as command
from publishing import checks, staging
from publishing.pushing import STATIC, in_words, push
from publishing.staging import PARTS, Part
from tests.publishing.conftest import CONFIGURATIONS, SPACE, build_with_text, dataset_of
from tests.publishing.server import NOT_OURS, READ


def test_not_logged_in(hub, online, monkeypatch, capsys):
    monkeypatch.delenv("HF_TOKEN")
    before = len(hub.store.requests())
    assert command.main(["all", "--namespace", "NAME", "--endpoint", hub.url]) == 2
    assert capsys.readouterr() == ("", "publish: not logged in: run `hf auth login`, or set HF_TOKEN.\n")
    assert len(hub.store.requests()) == before


def test_a_token_that_is_not_accepted(hub, send, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    with pytest.raises(PermissionError) as refusal:
        send("new")
    message = f"not logged in: {hub.url} does not accept the token. Run `hf auth login`, or set HF_TOKEN."
    assert str(refusal.value) == message
    assert hub.store.repository(*dataset_of("new")) is None


ADVICE = "If it is a matter of rights, use a token with write access, or another --namespace."


@pytest.mark.parametrize("namespace", [*NOT_OURS, "read-only"])
def test_no_rights(namespace, hub, send, monkeypatch):
    """Not ours, not there (the Hub says the same of both), or ours with a token that may only read."""
    if namespace == "read-only":
        monkeypatch.setenv("HF_TOKEN", READ)
    with pytest.raises(ConnectionError) as refusal:
        send(namespace)
    reason = f"refused with status 403: You don't have the rights to create a dataset under this namespace. {ADVICE}"
    assert str(refusal.value) == f"{hub.url} {reason} {namespace}/triviaqa-curated does not exist."
    assert hub.store.repository(*dataset_of(namespace)) is None


def test_a_token_that_may_only_read_what_is_there(hub, send, staged, tmp_path, monkeypatch):
    send("reader")
    before = hub.store.repository(*dataset_of("reader"))
    shutil.copytree(staged / "dataset", tmp_path / "dataset")
    (tmp_path / "dataset/LICENSE").write_text("another")
    monkeypatch.setenv("HF_TOKEN", READ)
    with pytest.raises(ConnectionError) as refusal:
        send("reader", folder=tmp_path)
    left = "reader/triviaqa-curated is as it was before."
    assert str(refusal.value) == f"{hub.url} refused with status 403: Authorization error. {ADVICE} {left}"
    assert hub.store.repository(*dataset_of("reader")) == before


def test_a_name_taken_by_something_else_of_ours(hub, send):
    hub.store.put(*dataset_of("taken"), {"README.md": b"recipes", "recipes.csv": b"soup"})
    before = hub.store.files(*dataset_of("taken"))
    rest = "is taken by another dataset: choose another --namespace, or rename it."
    with pytest.raises(ValueError, match=f"^the name taken/triviaqa-curated {rest}$"):
        send("taken")
    assert hub.store.files(*dataset_of("taken")) == before


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
    assert hub.store.commits(*dataset_of("changing")) == []
    assert hub.store.repository(*dataset_of("changing"))["private"] is True


def test_what_is_public_is_not_taken_for_private(hub, send):
    send("public")
    commits = hub.store.commits(*dataset_of("public"))
    rest = "exists and is public: make it private there, or leave out --private."
    with pytest.raises(ValueError, match=f"^public/triviaqa-curated {rest}$"):
        send("public", private=True)
    assert hub.store.commits(*dataset_of("public")) == commits


def test_an_upload_that_is_refused(start_hub, send):
    hub = start_hub()
    hub.store.misbehave("/info/lfs/", 403, error="The storage of this account is full: see https://hub/settings")
    with pytest.raises(ConnectionError) as refusal:
        send("NAME", endpoint=hub.url)
    reason = f"{hub.url} refused with status 403: The storage of this account is full: see https://hub/settings. "
    assert str(refusal.value).startswith(reason)
    assert str(refusal.value).endswith("NAME/triviaqa-curated was made, and is empty.")
    hub.store.misbehave("/lfs/", 413, error="too large: https://storage.example/a?X-Amz-Signature=secret")
    with pytest.raises(ConnectionError) as refusal:
        send("NAME", endpoint=hub.url)
    assert "refused with status 413" in str(refusal.value)
    assert str(refusal.value).endswith("NAME/triviaqa-curated is as it was before.")
    assert "?" not in str(refusal.value)
    assert hub.store.commits(*dataset_of("NAME")) == []


@pytest.mark.parametrize(
    ("path", "after", "left"),
    [
        ("/api/repos/create", False, "{} does not exist."),
        ("/api/repos/create", True, "{} was made, and is empty."),
        ("/commit/", False, "{} was made, and is empty."),
        ("/commit/", True, "{} has the new files (commit {}), but not the tag {}."),
        ("/tag/", False, "{} has the new files (commit {}), but not the tag {}."),
        ("/tag/", True, "{} has the new files (commit {}) and the tag {}."),
    ],
)
def test_what_a_failure_left_is_said_and_a_rerun_finishes_it(path, after, left, hub, send, capsys):
    namespace = f"fails{path.strip('/').replace('/', '-')}-{after}"
    hub.store.misbehave(path, 500, after=after)
    with pytest.raises(ConnectionError) as refusal:
        send(namespace)
    hub.store.behave()
    commits = hub.store.commits(*dataset_of(namespace))
    oid = commits[0]["oid"][:7] if commits else ""
    said = (
        left.format(dataset_of(namespace)[1], oid, f"v{__version__}")
        if commits
        else left.format(dataset_of(namespace)[1])
    )
    assert str(refusal.value) == f"{hub.url} refused with status 500: as asked. {said} Run this again later."
    send(namespace)
    (commit,) = hub.store.commits(*dataset_of(namespace))
    assert hub.store.tags(*dataset_of(namespace)) == {f"v{__version__}": commit["oid"]}
    assert f" {commit['oid'][:7]}, tag" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("client error (403 Forbidden), domain: http://h/api", f"(403 Forbidden), domain: http://h/api). {ADVICE}"),
        ("server error (500 Internal Server Error)", "(500 Internal Server Error))."),
    ],
)
def test_refusals_of_the_client_of_large_files_have_a_status_too(text, said):
    """Seen of hf_xet, which says this in the text of a plain exception."""
    error = RuntimeError(f"Network error: Request error: HTTP status {text})")
    words = in_words(error, "http://hub", "NAME/triviaqa-curated")
    assert words == f"http://hub refused with status {text.split('(')[1][:3]}: " + words.partition(": ")[2]
    assert words.endswith(said)


def test_a_plan_without_programs_holds_back_nothing_else(hub, staged, online, tmp_path, capsys):
    """A free account cannot create a Space with Gradio: the Hub's own sentence is shown, and the dataset goes."""
    hub.store.misbehave("/api/repos/create", 402, error="Hosting Gradio Spaces requires PRO: see https://hub/pro")
    hub.store.create("datasets", "free/triviaqa-curated")
    parts = [PARTS["metric"], PARTS["dataset"]]
    with pytest.raises(ConnectionError, match="^not sent: metric, see above; 1 of 2 were.$"):
        command.send(parts, staged, "free", endpoint=hub.url)
    printed = capsys.readouterr()
    reason = f"metric: {hub.url} refused with status 402: Hosting Gradio Spaces requires PRO: see https://hub/pro."
    assert printed.err == f"{reason} free/ecuas does not exist.{STATIC}\n"
    assert "dataset: " in printed.out

    hub.store.behave()
    staging.stage(staging.STATIC_METRIC, tmp_path / "metric", "free")
    checks.check_files(tmp_path / "metric")
    checks.check_front_matter(staging.STATIC_METRIC, tmp_path / "metric")
    command.send([staging.STATIC_METRIC], tmp_path, "free", endpoint=hub.url)
    assert hub.store.repository("spaces", "free/ecuas")["sdk"] == "static"
    files = hub.store.files("spaces", "free/ecuas")
    assert {"index.html", "ecuas.py", "LICENSE", "thumbnail.png"} <= set(files)
    assert not {"app.py", "requirements.txt"} & set(files)
    assert b'evaluate.load("free/ecuas")' in files["index.html"]


def test_the_order_is_what_any_account_can_have_first():
    assert list(PARTS) == ["dataset", "metric", "space"]
    assert command.chosen("all", static=True)[1].sdk == "static"


def test_a_commit_since_the_repository_was_looked_at_stops_ours(hub, send, staged, online):
    class Slow(HfApi):
        def upload_folder(self, **arguments):
            theirs = {"data/stray.txt": hub.store.keep(b"theirs")}
            hub.store.commit(*dataset_of("between"), "theirs", theirs)
            return super().upload_folder(**arguments)

    sent = {"repo_id": dataset_of("between")[1], "tag": "v1"}
    with pytest.raises(ConnectionError, match="^between/triviaqa-curated was changed by someone else at the same time"):
        push(PARTS["dataset"], staged / "dataset", api=Slow(endpoint=hub.url), **sent)
    assert [commit["summary"] for commit in hub.store.commits(*dataset_of("between"))] == ["theirs"]


def test_what_the_owner_added_stays_unless_asked(hub, staged, online, capsys):
    sent = {"api": HfApi(endpoint=hub.url), "repo_id": dataset_of("owner")[1], "tag": "v1"}
    push(PARTS["dataset"], staged / "dataset", **sent)
    hub.store.commit(*dataset_of("owner"), "a picture", {"thumb [1].jpg": hub.store.keep(b"thumb")})
    done = push(PARTS["dataset"], staged / "dataset", **sent)
    assert done.endswith("kept, since this version has no such files (--delete): thumb [1].jpg")
    assert "thumb [1].jpg" in hub.store.files(*dataset_of("owner"))
    assert push(PARTS["dataset"], staged / "dataset", delete=True, **sent).endswith("; deleted: thumb [1].jpg")
    assert capsys.readouterr().out == "owner/triviaqa-curated: deletes thumb [1].jpg\n"
    assert "thumb [1].jpg" not in hub.store.files(*dataset_of("owner"))


def test_unreleased_changes_get_no_tag(hub, send, released, capsys):
    released.write_text("# Changelog\n\n## Unreleased\n- new\n\n## 0.3.0\n")
    send("unreleased")
    assert "no tag, since CHANGELOG.md has unreleased changes" in capsys.readouterr().out
    assert hub.store.tags(*dataset_of("unreleased")) == {}
    released.write_text(f"# Changelog\n\n## Unreleased\n\n## {__version__}\n- new\n\n## 0.3.0\n")
    send("unreleased")
    (commit,) = hub.store.commits(*dataset_of("unreleased"))
    assert hub.store.tags(*dataset_of("unreleased")) == {f"v{__version__}": commit["oid"]}


def test_stopping_it_is_one_line(monkeypatch, capsys):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "publish", stop)
    assert command.main(["dataset", "--namespace", "NAME"]) == 130
    assert capsys.readouterr().err == "publish: stopped. Run this again: what is there is not sent again.\n"


def test_no_request_waits_for_ever(hub, send):
    send("waiting")
    assert get_session().timeout.read == command.SECONDS


def test_nobody_there(send):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    with pytest.raises(ConnectionError) as refusal:
        send("NAME", endpoint=url)
    assert str(refusal.value).startswith(f"{url} cannot be reached, or not its storage (")
    left = "What NAME/triviaqa-curated is now cannot be seen. Run this again later."
    assert str(refusal.value).endswith(left)


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
    assert printed.out.startswith("space: 4 files, ")  # the first part was fit to be sent
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
    files, tags = hub.store.files(*dataset_of("NAME")), hub.store.tags(*dataset_of("NAME"))
    sent = uploads()
    assert sent == len(CONFIGURATIONS)

    build_with_text(tmp_path / "dataset", staged / "dataset")
    changed = {
        path.relative_to(tmp_path / "dataset").as_posix()
        for path in (tmp_path / "dataset").rglob("*")
        if path.is_file() and path.read_bytes() != files[path.relative_to(tmp_path / "dataset").as_posix()]
    }
    assert {"data/curated.parquet", "data/pool.parquet", "data/SHA256SUMS"} <= changed
    hub.store.misbehave("/commit/", "die")
    with pytest.raises(ConnectionError) as refusal:
        send("NAME", endpoint=hub.url, folder=tmp_path)
    assert str(refusal.value).startswith(f"{hub.url} cannot be reached, or not its storage (Server disconnected")
    assert (hub.store.files(*dataset_of("NAME")), hub.store.tags(*dataset_of("NAME"))) == (files, tags)
    sent = uploads()
    assert sent == len(CONFIGURATIONS) + sum(name.endswith(".parquet") for name in changed)

    hub.store.behave()
    hub.restart()
    capsys.readouterr()
    send("NAME", endpoint=hub.url, folder=tmp_path)
    first, second = hub.store.commits(*dataset_of("NAME"))
    assert set(second["received"]) == changed
    assert uploads() == sent  # what had arrived was not sent again
    stays = f"stays at {first['oid'][:7]}: raise the version to tag this commit"
    assert stays in capsys.readouterr().out  # a tag is a promise
    assert hub.store.tags(*dataset_of("NAME")) == tags


def test_a_hub_that_dies_while_it_reads_a_table_and_comes_back(start_hub, send, staged, capsys):
    hub = start_hub()
    hub.store.misbehave("/lfs/", "die")
    with ThreadPoolExecutor() as pool:
        sending = pool.submit(send, "NAME", endpoint=hub.url)
        hub.process.wait(60)
        assert hub.store.commits(*dataset_of("NAME")) == []
        hub.store.behave()
        hub.restart()
        sending.result(60)
    (commit,) = hub.store.commits(*dataset_of("NAME"))
    assert f"committed {commit['oid'][:7]}, tagged" in capsys.readouterr().out
    for name, content in hub.store.received(commit).items():
        if name.endswith(".parquet"):
            assert content == (staged / "dataset" / name).read_bytes()
