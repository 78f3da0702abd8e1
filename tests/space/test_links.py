import re

from publishing.staging import PARTS
from space.links import links
from tests.conftest import ROOT


def test_a_published_page_links_the_three_repositories_and_the_paper():
    found = re.findall(r"\]\((.*?)\)", links("somebody"))
    kinds = {"space": "spaces", "dataset": "datasets"}
    places = {f"https://huggingface.co/{kinds[part.repo_type]}/somebody/{part.repo_name}" for part in PARTS.values()}
    assert {link.removesuffix("/tree/main") for link in found} == {*places, "https://arxiv.org/abs/2605.20490"}


def test_a_clone_names_folders_that_exist_and_no_page_that_does_not():
    line = links()
    assert "huggingface.co" not in line
    folders = re.findall("`(.*?)`", line)
    assert len(folders) == 3
    assert all((ROOT / folder).is_dir() for folder in folders)
