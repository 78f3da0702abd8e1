"""Errors and notes are sentences, or ids of these: a sentence has its fields, and none is compared."""

import ast
import functools
import re
import string

import pytest

from ecuas_metric import errors, messages
from ecuas_metric.options import OPTIONS
from ecuas_metric.reporting.words import COMMAND_WORDS
from space.words import PAGE_WORDS
from tests.conftest import ROOT, parsed

TABLES = ("messages.py", "words.py")
KNOWN = messages.SENTENCES | COMMAND_WORDS | PAGE_WORDS
MAKERS = {  # what makes errors and notes -> the names of its first arguments
    "InputError": ("argument", "rule"),
    "FileError": ("file", "rule"),
    "FitError": ("argument", "rule"),
    "MergeError": ("argument", "rule"),
    "Note": ("rule", "fields", "advice"),
    "require": ("ok", "values", "name", "rule", "advice"),
    "shape_error": ("array", "name", "rule"),
    "error": ("column", "rule"),  # of a `Sheet`
}
IDS = ("rule", "advice")
ADDED = {"columns", "pairs"}  # to the fields of a `FileError`, from its columns


@functools.cache
def modules():
    """Return the nodes of each module."""
    paths = (path for name in ("ecuas_metric", "space") for path in (ROOT / name).rglob("*.py"))
    return {path: [*ast.walk(parsed(path))] for path in paths if path.name not in TABLES}


def calls_in(nodes):
    """Yield the calls that make errors and notes, with their arguments by name."""
    for node in nodes:
        if isinstance(node, ast.Call):
            maker = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if maker in MAKERS:
                named = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
                yield node, dict(zip(MAKERS[maker], node.args, strict=False)) | named


def texts_in(expression):
    """Return the constants and f-strings that an expression may be."""
    if isinstance(expression, ast.IfExp):
        return texts_in(expression.body) + texts_in(expression.orelse)
    return [expression] if isinstance(expression, (ast.Constant, ast.JoinedStr)) else []


def ids_of(arguments):
    return [text for name in IDS for text in texts_in(arguments.get(name))]


def unknown_in(nodes, known):
    """Return what stands for the id of a rule, an advice or a note, or is assigned to one, and has no sentence."""
    texts = [text for _, arguments in calls_in(nodes) for text in ids_of(arguments)]
    for node in nodes:
        if isinstance(node, ast.Assign):
            names = {getattr(target, "id", getattr(target, "attr", "")) for target in node.targets}
            texts += texts_in(node.value) if names & set(IDS) else []
    return [
        ast.unparse(text) for text in texts if not is_known(getattr(text, "value", None), known)
    ]


def is_known(text, known):
    """Return whether a text is the id of a sentence, or a sentence itself."""
    return text is not None and (text in {"", *known} or not text.isidentifier())


AS_FLAGS = {  # a field as the command writes it -> as Python does
    "flags": "arguments",
    "other_flags": "other_arguments",
    "other_pairs": "other_arguments",
    "high_flag": "high",
    "low_flag": "low",
    "said_flag": "said",
}


def placeholders(sentence):
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name}


def missing_in(nodes, known):
    """Return the placeholders of sentences that calls do not give, where these spell out what they give."""
    missing = []
    for call, arguments in calls_in(nodes):
        fields = arguments.get("fields", ast.Dict([], []))
        if not isinstance(fields, ast.Dict) or None in fields.keys:
            continue
        if any(keyword.arg is None for keyword in call.keywords):
            continue
        names = {*arguments, *ADDED, *(getattr(key, "value", None) for key in fields.keys)}
        for text in ids_of(arguments):
            said = getattr(text, "value", "")
            needed = placeholders(known.get(said, said))
            missing += [f"{ast.unparse(text)}: {name}" for name in needed - names]
    return missing


@functools.cache
def constants():
    return {
        node.value
        for nodes in modules().values()
        for node in nodes
        if isinstance(node, ast.Constant)
    }


def test_what_is_said_is_an_id_whose_sentence_has_all_its_fields():
    for path, nodes in modules().items():
        assert not unknown_in(nodes, KNOWN), path
        assert not missing_in(nodes, KNOWN), path


def test_every_sentence_is_used():
    used = constants() | OPTIONS.keys()
    assert not KNOWN.keys() - used


@pytest.mark.parametrize("words", [COMMAND_WORDS, PAGE_WORDS])
def test_a_surface_says_the_same_ids_with_the_same_fields(words):
    for identifier, sentence in words.items():
        python = messages.SENTENCES.get(identifier)
        fields = {AS_FLAGS.get(name, name) for name in placeholders(sentence)}
        assert python is None or fields <= placeholders(python) | ADDED, identifier
        assert sentence != python, identifier


def test_no_sentence_is_compared_or_a_key():
    sentences = set(messages.SENTENCES.values())
    for words in (COMMAND_WORDS, PAGE_WORDS):
        sentences |= {words[identifier] for identifier in words.keys() & messages.SENTENCES.keys()}
        assert not sentences & words.keys()
    assert not set(messages.SENTENCES.values()) & constants()


def test_an_id_is_of_one_table_and_no_argument():
    tables = (
        messages.INPUT_RULES,
        messages.FILE_RULES,
        messages.ADVICE,
        messages.NOTES,
        messages.LINES,
    )
    assert len(messages.SENTENCES) == sum(map(len, tables))
    named = [
        arguments.get("argument")
        for nodes in modules().values()
        for _, arguments in calls_in(nodes)
    ]
    names = {getattr(name, "value", "") for name in named} | OPTIONS.keys()
    assert not messages.SENTENCES.keys() & names
    assert all(
        identifier.isidentifier() and identifier.islower() for identifier in messages.SENTENCES
    )


def test_an_error_is_added_as_the_guide_says(monkeypatch):
    guide = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("**Add an error.**")[2]
    entries, raising = re.search(r"```python\n(.*?)\n\n(.*?)```", guide, re.DOTALL).groups()
    in_python, in_command = re.findall(r'"((?:n_bins|--bins) must [^"]*)"', guide)
    nodes = [*ast.walk(ast.parse(raising))]
    assert unknown_in(nodes, KNOWN) == ["'take_fewer_bins'"]
    tables = {"ADVICE": {}, "COMMAND_WORDS": {}}
    exec(entries, tables)
    added = tables["ADVICE"]
    assert not unknown_in(nodes, KNOWN | added)
    assert not missing_in(nodes, KNOWN | added)
    monkeypatch.setattr(errors, "SENTENCES", messages.SENTENCES | added)
    with pytest.raises(errors.InputError) as caught:
        exec(raising, {"InputError": errors.InputError})
    assert str(caught.value) == in_python
    assert caught.value.render(COMMAND_WORDS | tables["COMMAND_WORDS"]) == in_command
