"""What visitors leave on the disk."""

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


def test_where_the_disk_is_full_nothing_more_is_uploaded_and_the_page_says_so(page, app):
    def upload():
        return httpx.post(f"{page}gradio_api/upload", files={"files": ("a.csv", b"x" * 10**6)})

    (first,) = upload().json()
    allowed = app.uploads.LIMITS
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app.uploads, "LIMITS", replace(allowed, disk_bytes=10**6))
        answer = upload()
        assert (answer.status_code, answer.text) == (
            507,
            "The disk of this page is full of the files of others. Try again in a few minutes.",
        )
    assert Path(first).exists()
    assert upload().status_code == 200
