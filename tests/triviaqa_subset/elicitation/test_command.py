"""The arguments of the command: what is refused, and the examples of its help."""

import re
import shlex

import pytest

from triviaqa_subset.elicitation.__main__ import main
from triviaqa_subset.elicitation.command import parser
from triviaqa_subset.elicitation.methods import DIALOGUES


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--method", "guesswork", "invalid choice: 'guesswork'"),
        ("--task", "squad", "must be triviaqa, mmlu or a .jsonl, .json or .parquet file; got squad"),
        ("--methods", "is_true", "not allowed with argument --method"),
        ("--methods", "is_true,guess", "must be different methods among sequence_posterior, is_true, verbalized,"),
        ("--limit", "0", "must be at least 1; got 0"),
        ("--retries", "-1", "must be at least 0; got -1"),
        ("--temperature", "nan", "must be at least 0; got nan"),
        ("--timeout", "inf", "must be at least 0.1; got inf"),
        ("--samples", "two", "invalid number value: 'two'"),
        ("--extra-body", "{", "must be JSON; got {"),
        ("--extra-body", "[1]", "must be a JSON object; got [1]"),
        ("--local", "--provider", "--provider: expected one argument"),
    ],
)
def test_options_that_cannot_be(option, value, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--model", "m", "--method", "verbalized", "--out", "nowhere.jsonl", option, value])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err.splitlines()[-1]


def commands(text):
    """The elicitation commands in a text that stand on lines of their own, as argument lists."""
    found = re.findall(r"^ *python -m triviaqa_subset\.elicitation ((?:[^\n]*\\\n)*[^\n]*)", text, flags=re.MULTILINE)
    return [shlex.split(line.replace("\\\n", " ")) for line in found]


def test_the_commands_in_the_help_and_the_readme_can_be_given(root):
    shown = commands(parser().epilog), commands((root / "triviaqa_subset/README.md").read_text())
    assert [len(found) for found in shown] == [7, 1]
    for words in (words for found in shown for words in found if "--config" not in words):
        given = parser().parse_args(words)
        assert {*(given.methods or []), given.method} & set(DIALOGUES)


def test_the_help_describes_every_method():
    text = parser().format_help()
    for method in DIALOGUES:
        assert re.search(rf"^  {method} +\w", text, flags=re.MULTILINE)
