import numpy as np
import pytest

from ecuas_metric.errors import Advice, InputError, Note
from ecuas_metric.inputs import confidences


def test_an_error_has_fields():
    with pytest.raises(InputError) as caught:
        confidences([0.1, 0.2, 87.0, 12.0], [1, 1, 1, 1])
    error = caught.value
    assert (error.argument, error.rule) == ("predictions", "must lie in [0, 1]")
    assert (error.value, error.index, error.count, error.total) == (87.0, 2, 2, 4)
    assert error.advice == Advice.PERCENTAGES
    assert isinstance(error, ValueError)


def test_each_surface_renders_the_same_fields_in_its_own_words():
    error = InputError("n_bins", "must be a whole number", value="n_bins", advice=Advice.COUNT_FROM_0)
    words = {"n_bins": "--bins", Advice.COUNT_FROM_0: "Start at 0."}
    assert error.render(words) == "--bins must be a whole number; got 'n_bins'. Start at 0."  # a value stays as it is
    assert str(error.reword(words)) == error.render(words)
    assert str(error) == "n_bins must be a whole number; got 'n_bins'. Count from 0."


def test_values_are_shown_as_people_write_them():
    assert InputError("n", "must be >= 0", value=np.float64(-1)).got == "-1.0"
    assert len(InputError("n", "must be >= 0", value=[0.5] * 10**5).got) < 200


def test_a_note_is_a_fact_and_what_to_make_of_it():
    note = Note("above_max_uncertainty", "1 of 2.", Advice.WRONG_COST)
    assert str(note) == f"1 of 2. {Advice.WRONG_COST}"
    assert note.render({Advice.WRONG_COST: "--num-classes is too small."}) == "1 of 2. --num-classes is too small."
