import pickle

import numpy as np

from ecuas_metric.errors import FileError, InputError, Note
from ecuas_metric.messages import ADVICE


def test_each_surface_renders_the_same_fields_in_its_own_words():
    error = InputError("n_bins", "must be whole numbers", value="n_bins", advice="count_from_0")
    words = {"n_bins": "--bins", "count_from_0": "Start at 0."}
    # a value stays as it is
    assert error.render(words) == "--bins must be whole numbers; got 'n_bins'. Start at 0."
    assert str(error.reword({"n_bins": "bins", "count_from_0": "divide_by_100"})).startswith(
        "bins must be"
    )
    assert str(error) == "n_bins must be whole numbers; got 'n_bins'. Count from 0."


def test_an_error_in_a_file_keeps_its_place_in_other_words():
    for place in ({}, {"column": "p", "row": 3}):
        error = FileError(
            "a.csv", "must be whole numbers", argument="n_bins", advice="count_from_0", **place
        )
        same = error.reword({"n_bins": "bins"})
        assert str(same) == str(error).replace("n_bins", "bins")
        assert str(pickle.loads(pickle.dumps(same))) == str(same)


def test_values_are_shown_as_people_write_them():
    assert InputError("n", "negative", value=np.float64(-1)).got == "-1.0"
    assert len(InputError("n", "negative", value=[0.5] * 10**5).got) < 200


def test_a_note_is_a_fact_and_what_to_make_of_it():
    note = Note("hard_decisions", {"what": "confidences"}, "check_cost")
    fact = "All predictions are 0 or 1 and count as confidences."
    assert str(note) == f"{fact} {ADVICE['check_cost']}"
    assert (
        note.render({"check_cost": "--num-classes is too small."})
        == f"{fact} --num-classes is too small."
    )
