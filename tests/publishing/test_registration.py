"""The bare name: `evaluate.load("ecuas")` from Evaluate's cache, with and without a Hub."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from evaluate import config

from ecuas_metric import __version__
from publishing import __main__ as command
from publishing import registration
from tests.publishing.conftest import environment, run
from tests.publishing.server import TOKEN

LOAD = """
import evaluate
ecuas = evaluate.load("ecuas")
print(ecuas.description.split()[0], ecuas.compute(predictions=[0.5], references=[1], n=1))
"""
LOADED = "{'ecuas_1': 0.25, "
pytestmark = pytest.mark.e2e
NOWHERE = "http://127.0.0.1:9"  # the port of the discard service, which is not there


@pytest.fixture
def env(home):
    return environment(home, NOWHERE, HF_EVALUATE_OFFLINE="1")


def versions(home):
    """Return the versions in Evaluate's cache."""
    return sorted(home.glob("modules/evaluate_modules/metrics/evaluate-metric--ecuas/" + "?" * 64))


@pytest.fixture
def script(home, metric, monkeypatch):
    """A metric to change, registered in the cache of `home` from this process."""
    monkeypatch.setattr(registration, "SCRIPT", metric / "ecuas.py")
    inside = registration.CACHE.relative_to(config.HF_MODULES_CACHE)
    monkeypatch.setattr(registration, "CACHE", home / "modules" / inside)
    return metric / "ecuas.py"


def test_registered_loads_with_and_without_a_hub_until_unregistered(start_hub, script, home, env, tmp_path, capsys):
    assert command.main(["register"]) == 0
    (folder,) = versions(home)
    assert capsys.readouterr().out == f'evaluate.load("ecuas") is version {__version__}: {folder}\n'
    script.unlink()  # it does not need its source

    hub = start_hub()
    surroundings = (
        {"HF_EVALUATE_OFFLINE": "0"},  # a Hub out of reach
        {"HF_EVALUATE_OFFLINE": "0", "HF_ENDPOINT": hub.url},  # a Hub without the metric; the same, logged in
        {"HF_EVALUATE_OFFLINE": "0", "HF_ENDPOINT": hub.url, "HF_TOKEN": TOKEN},
    )
    with ThreadPoolExecutor() as pool:
        for done in pool.map(lambda more: run("-c", LOAD, cwd=tmp_path, env=env | more), surroundings):
            assert done.out.startswith(f"ECUAS_n {LOADED}"), done.error
    assert "HEAD /spaces/evaluate-metric/ecuas/resolve/main/ecuas.py" in hub.store.requests()

    assert command.main(["unregister"]) == 0
    assert capsys.readouterr().out == "removed 1 registered version\n"
    assert versions(home) == []
    assert run("-c", LOAD, cwd=tmp_path, env=env).error.rstrip().splitlines()[-1].startswith("FileNotFoundError")


def test_registering_again_changes_nothing_and_a_new_version_replaces_the_old(script, home, env, tmp_path):
    def register():
        registration.register("1.0.0")
        return {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}

    first = register()
    assert register() == first
    script.write_text(script.read_text().replace("ECUAS_n is the expected", "Second: ECUAS_n is the expected"))
    second = register()
    (folder,) = versions(home)
    assert not [path for path in second if path.name == "ecuas.py" and path.parent != folder]
    assert run("-c", LOAD, cwd=tmp_path, env=env).out.startswith(f"Second: {LOADED}")


def test_what_evaluate_itself_fetched_stays(start_hub, script, home, env, tmp_path):
    hub = start_hub()
    files = {path.name: path.read_bytes() for path in script.parent.glob("*.py")}
    hub.store.put("spaces", "evaluate-metric/ecuas", files)
    run("-c", LOAD, cwd=tmp_path, env=env | {"HF_ENDPOINT": hub.url, "HF_EVALUATE_OFFLINE": "0"})
    (fetched,) = versions(home)
    registration.register("1.0.0")
    assert len(versions(home)) == 2
    assert registration.unregister() == "removed 1 registered version"
    assert versions(home) == [fetched]
    assert LOADED in run("-c", LOAD, cwd=tmp_path, env=env).out
