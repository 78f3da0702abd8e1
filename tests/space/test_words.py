import pytest

from ecuas_metric.errors import Advice, FileAdvice, FileError, InputError
from ecuas_metric.options import OPTIONS
from space.words import LABELS, LABELS_OF_READING, UNJUDGED, WORDS, in_words


@pytest.mark.parametrize("advice", [*Advice, *FileAdvice])
def test_no_advice_speaks_of_python_or_of_the_command(advice):
    shown = in_words(InputError("n", "must be >= 0", advice=advice))
    assert not {"_", "=", "--", "'"} & set(shown.partition(". ")[2])
    assert "--" not in shown


def test_arguments_are_called_as_their_controls():
    assert in_words(InputError("num_classes", "must be a whole number", value=2.5)) == (
        "Number of possible answers K must be a whole number; got 2.5."
    )


def test_a_file_and_its_column_are_named():
    error = FileError("a.csv", "must hold numbers", advice=FileAdvice.SAY_WHICH)
    error.column = "p"
    assert in_words(error) == "a.csv: column 'p' must hold numbers. Choose it under Columns."


def test_a_long_error_is_cut_and_is_one_line():
    assert in_words(InputError("n", "must\nbe " + "x" * 1000)) == ("n must be " + "x" * 1000)[:600]


@pytest.mark.e2e
def test_every_control_of_an_option_has_the_help_of_the_table_of_options():
    from space import components

    options = {control.label: control for control in components.options()}
    assert list(options) == [*LABELS.values(), UNJUDGED, *LABELS_OF_READING.values()]
    assert len(components.OPTION_NAMES) == len(options)
    for name, label in LABELS.items():
        if name != "confidence_level":  # a number there, yes or no here
            assert options[label].info.startswith(OPTIONS[name].help)


def test_advice_mentions_controls_that_there_are():
    assert UNJUDGED in WORDS[FileAdvice.UNJUDGED]
