"""What visitors leave on the disk."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

pytestmark = pytest.mark.e2e


def test_what_is_old_is_deleted_wherever_it_is_but_for_what_is_kept(app, tmp_path):
    for name in ("tmpabc", "full/a.csv", "kept/form.csv", "empty/none/a"):
        (path := tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "empty/none/a").unlink()
    storage = app.storage
    storage.keep(tmp_path / "kept/form.csv")
    before = set(tmp_path.rglob("*"))
    storage.sweep(tmp_path)
    assert set(tmp_path.rglob("*")) == before
    storage.sweep(tmp_path, age=-1)  # as if that time had passed
    assert set(tmp_path.rglob("*")) == {tmp_path / "kept", tmp_path / "kept/form.csv"}


@pytest.fixture
def small(app, monkeypatch):
    """A disk that takes a megabyte more than there is."""

    def shrink(more=10**6):
        most = app.storage._bytes_on_disk() + more
        monkeypatch.setattr(app.uploads, "LIMITS", replace(app.uploads.LIMITS, disk_bytes=most))

    return shrink


FULL = "The disk of this page is full of the files of others. Try again in a few minutes."


def upload(page, size):
    return httpx.post(
        f"{page}gradio_api/upload", files={"files": ("a.csv", b"x" * size)}, timeout=60
    )


def test_where_the_disk_is_full_nothing_more_is_uploaded_or_computed_and_the_page_says_so(
    page, app, small, files
):
    (first,) = upload(page, 10**6).json()
    small(-1)
    answer = upload(page, 10**6)
    assert (answer.status_code, answer.text) == (507, FULL)
    assert (
        FULL in app.show_score([str(files[0])], *[one.default for one in app.CONTROLS.values()])[0]
    )
    assert Path(first).exists()
    small()
    assert upload(page, 10**5).status_code == 200


def test_uploads_that_arrive_at_once_have_one_disk_together(page, small):
    small()
    answer = upload(page, 2 * 10**6)
    assert (answer.status_code, answer.text) == (507, FULL)
    small(2 * 10**6)
    with ThreadPoolExecutor(8) as visitors:
        answers = list(visitors.map(lambda _: upload(page, 10**6).status_code, range(8)))
    assert set(answers) <= {200, 507}
    assert answers.count(200) <= 2
