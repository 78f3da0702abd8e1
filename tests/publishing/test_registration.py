"""The bare name: `evaluate.load("ecuas")` from Evaluate's cache, with and without a Hub."""

import shutil

import pytest
from evaluate import config

from ecuas_metric import __version__
from publishing import __main__ as command
from publishing import registration
from tests.publishing.hub import TOKEN

LOAD = """
import evaluate
ecuas = evaluate.load("ecuas")
print(ecuas.description.split()[0], ecuas.compute(predictions=[0.5], references=[1], n=1))
"""
LOADED = "{'ecuas_1': 0.25, "
pytestmark = pytest.mark.e2e
ONLINE = "import os, evaluate\nevaluate.config.HF_EVALUATE_OFFLINE = False\n"
OFFLINE = "import os, evaluate\nevaluate.config.HF_EVALUATE_OFFLINE = True\n"
OUT_OF_REACH = f"""{ONLINE}
evaluate.config.HUB_EVALUATE_URL, there = "http://127.0.0.1:9/", evaluate.config.HUB_EVALUATE_URL  # nobody listens
try:
    evaluate.load("ecuas")
finally:
    evaluate.config.HUB_EVALUATE_URL = there
"""


@pytest.fixture
def cache(client):
    inside = registration.CACHE.relative_to(config.HF_MODULES_CACHE)
    yield client.home / "modules" / inside
    shutil.rmtree(client.home / "modules" / inside)


@pytest.fixture
def script(cache, staged, tmp_path, monkeypatch):
    """A metric to change, registered in the client's cache from this process."""
    metric = shutil.copytree(staged / "metric", tmp_path / "metric")
    monkeypatch.setattr(registration, "SCRIPT", metric / "ecuas.py")
    monkeypatch.setattr(registration, "CACHE", cache)
    return metric / "ecuas.py"


def versions(cache):
    """Return the versions in Evaluate's cache."""
    return sorted(cache.glob("?" * 64))


def test_registered_loads_with_and_without_a_hub_until_unregistered(hub, client, script, cache, capsys):
    assert command.main(["register"]) == 0
    (folder,) = versions(cache)
    assert capsys.readouterr().out == f'evaluate.load("ecuas") is version {__version__}: {folder}\n'
    script.unlink()  # it does not need its source
    for surroundings in (OFFLINE, OUT_OF_REACH, ONLINE, ONLINE + f"os.environ['HF_TOKEN'] = {TOKEN!r}\n"):
        done = client.run(surroundings + LOAD)
        assert done.out.startswith(f"ECUAS_n {LOADED}"), done.error
    assert "HEAD /spaces/evaluate-metric/ecuas/resolve/main/ecuas.py" in hub.requests

    assert command.main(["unregister"]) == 0
    assert capsys.readouterr().out == "removed 1 registered version\n"
    assert versions(cache) == []
    assert client.run(OFFLINE + LOAD).error.rstrip().splitlines()[-1].startswith("FileNotFoundError")


def test_registering_again_changes_nothing_and_a_new_version_replaces_the_old(client, script, cache):
    def register():
        registration.register("1.0.0")
        return {path: path.read_bytes() for path in cache.rglob("*") if path.is_file()}

    first = register()
    assert register() == first
    script.write_text(script.read_text().replace("ECUAS_n is the expected", "Second: ECUAS_n is the expected"))
    second = register()
    (folder,) = versions(cache)
    assert not [path for path in second if path.name == "ecuas.py" and path.parent != folder]
    assert client.run(OFFLINE + LOAD).out.startswith(f"Second: {LOADED}")


def test_what_evaluate_itself_fetched_stays(hub, client, script, cache):
    files = {path.name: path.read_bytes() for path in script.parent.glob("*.py")}
    hub.put("spaces", "evaluate-metric/ecuas", files)
    client.run(ONLINE + LOAD)
    (fetched,) = versions(cache)
    registration.register("1.0.0")
    assert len(versions(cache)) == 2
    assert registration.unregister() == "removed 1 registered version"
    assert versions(cache) == [fetched]
    assert LOADED in client.run(OFFLINE + LOAD).out
