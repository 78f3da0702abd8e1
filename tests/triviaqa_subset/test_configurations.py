"""The configurations made of two questions, and the card that describes them."""

import numpy as np
import pandas as pd
import pytest
from datasets import load_dataset
from huggingface_hub import DatasetCard

from triviaqa_subset.build import write
from triviaqa_subset.configurations import make_configurations
from triviaqa_subset.folders import FOLDER
from triviaqa_subset.labels import Labels

QUESTIONS = pd.DataFrame(
    {
        "question_id": ["q1", "q2"], "pool_positions": [[0, 2], [1]], "stratum": ["reviewed", "exact_match_all"],
        "decision": ["keep", "discard"], "reason": ["ok", "bad_gold"], "selected": [True, False],
        "in_curation_1": [False, True], "in_curation_2": [True, True], "weight": [1.0, np.nan],
        "question_sha256": ["ab", ""], "question_start_sha256": ["", "ef"], "aliases_sha256": ["01", ""],
        "dropped_aliases": [["23"], []],
    },
    index=[7, 9],
)  # fmt: skip
ANSWERS = pd.DataFrame(
    {"question_id": ["q1"], "answer_sha256": ["cd"], "full_sha256": [""], "correct": [False]}
    | {"debatable": [True], "cut": [False]}
)
SYSTEMS = pd.DataFrame(
    {
        "question_id": ["q1"],
        "llm": ["m"],
        "method": ["verbalized"],
        "exact_match": [False],
        "correct": [True],
    }
    | {"answer_sha256": ["cd"]}
)
GOLD_HASHES = pd.DataFrame(
    {"question_id": ["q1"], "source": ["triviaqa"], "gold_sha256": [["01", "ab"]]}
)
GOLD = {"value": "A", "aliases": ["A"], "normalized_aliases": ["a"]}
TEXTS = {own: {"question_id": own, "question": f"{own}?", "answer": GOLD} for own in ("q1", "q2")}


def made(texts):
    selected = pd.Series([True, False], index=QUESTIONS.index)
    labels = Labels(QUESTIONS, ANSWERS, SYSTEMS, GOLD_HASHES)
    return make_configurations(labels, selected, np.array([1.5, np.nan]), texts)


@pytest.mark.long
def test_text_is_added_to_the_questions_only_and_what_is_written_loads_by_its_card(tmp_path):
    bare, full = made({}), made(TEXTS)
    write(full, tmp_path / "copy", "two questions")
    card = DatasetCard.load(tmp_path / "copy" / "README.md")
    assert card.data.license == "unknown"
    assert (
        card.text == "\n> This copy: two questions.\n" + DatasetCard.load(FOLDER / "README.md").text
    )
    assert [config["config_name"] for config in card.data.configs] == list(full)
    for name, table in full.items():
        texts = set(table.column_names) - set(bare[name].column_names)
        assert texts == ({"question", "answer"} if name in ("curated", "kept", "pool") else set())
        assert table.remove_columns(list(texts)).to_list() == bare[name].to_list()
        loaded = load_dataset(
            str(tmp_path / "copy"), name, split="validation", cache_dir=str(tmp_path / "cache")
        )
        assert loaded.features == table.features
        assert loaded.to_list() == table.to_list()
    assert [full["pool"][1]["question"], full["curated"][0]["answer"]] == ["q2?", GOLD]
