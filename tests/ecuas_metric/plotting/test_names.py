from hypothesis import given
from hypothesis import strategies as st

from ecuas_metric.plotting.names import short_names

WORDS = st.lists(
    st.sampled_from(["gpt", "llama", "8b", "chat", "greedy", "v0.1", "a" * 40]),
    min_size=1,
    max_size=6,
)


@given(st.lists(WORDS.map("_".join), min_size=1, max_size=12, unique=True))
def test_short_names_are_different_and_in_order(names):
    short = short_names(names)
    assert list(short) == names
    assert len(set(short.values())) == len(names)
    assert all(len(text) <= len(name) + 2 for name, text in short.items())


def test_names_that_are_short_stay_and_one_that_is_long_loses_its_middle():
    assert short_names(["run_a", "run_b"]) == {"run_a": "run_a", "run_b": "run_b"}
    assert short_names([]) == {}
    assert [*short_names(["x" * 30 + "y" * 30]).values()] == ["x" * 19 + "…" + "y" * 12]


def test_no_word_is_cut_at_an_end_and_a_name_that_others_begin_with_is_not_lost():
    names = [f"experiment_of_november/model-{size}/predictions.csv" for size in ("7B", "70B")]
    assert list(short_names(names, longest=21).values()) == [
        "…7B/predictions.csv",
        "…70B/predictions.csv",
    ]
    names = ["a_long_name_of_a_random_forest", "a_long_name_of_a_random_forest_calibrated"]
    assert all(text.strip("…") for text in short_names(names, longest=20).values())
