"""Which requests the server answers."""

import re

import httpx
import pytest

pytestmark = pytest.mark.e2e
# the folders and words of Gradio's paths that the page, its functions and agents use
USED = re.compile(
    r"/|/(config|theme\.css|favicon\.ico|robots\.txt|manifest\.json|pwa_icon.*)/?|/(assets|static|svelte)/.*"
    r"|/gradio_api/(info|openapi\.json|app_id|startup-events|theme\.css|upload|upload_progress|file=.*|heartbeat/.*"
    r"|run/.*|queue/(join|data)|cancel|reset|call/.*|mcp.*)/?"
)


def paths_in(routes, before=""):
    """Return all paths that an application has."""
    for route in routes:
        inner = getattr(route, "routes", None) or getattr(
            getattr(route, "original_router", None), "routes", ()
        )
        path = before + getattr(route, "path", "")
        yield from paths_in(inner, path) if inner else (path,)


def fill(path):
    return re.sub(r"{(\w+)(:path)?}", "x", path)


def test_of_what_gradio_has_only_what_is_used_is_served(page, app):
    paths = {fill(path) for path in paths_in(app.demo.app.routes)}
    unused = {path for path in paths if not USED.fullmatch(path)}
    assert {"/gradio_api/process_recording", "/gradio_api/vibe-code", "/monitoring"} <= unused
    assert len(unused) > 20
    with httpx.Client(base_url=page, timeout=60) as web:
        for path in (*unused, "/gradio_api/file=http://127.0.0.1:9/a", "/nothing"):
            for method in ("GET", "POST"):
                answer = web.request(method, path, json={})
                assert (answer.status_code, "no such function" in answer.text) == (404, True), path


@pytest.mark.parametrize(
    "path",
    ["queue/data?session_hash=", "heartbeat/", "upload?upload_id=", "upload_progress?upload%5Fid="],
)
def test_names_that_the_server_would_keep_are_short(path, page):
    assert httpx.get(f"{page}gradio_api/{path}{'x' * 101}").status_code == 404
