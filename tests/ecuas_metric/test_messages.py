"""Errors and notes are ids: each has a sentence, each sentence its fields, and no sentence is compared."""

import ast
import string
from collections.abc import Iterator
from itertools import chain

import pytest

from ecuas_metric import messages
from ecuas_metric.options import OPTIONS
from ecuas_metric.reporting.words import COMMAND_WORDS
from space.words import PAGE_WORDS
from tests.conftest import ROOT

TABLES = ("messages.py", "words.py", "helm.py")
LATER = ("files",)  # still have sentences
MODULES = {
    path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
    for package in ("ecuas_metric", "space")
    for path in sorted((ROOT / package).rglob("*.py"))
    if path.name not in TABLES and path.parent.name not in LATER
}
KNOWN = messages.SENTENCES | COMMAND_WORDS | PAGE_WORDS
# What makes errors and notes, and the names of its first arguments.
MAKERS = {
    "InputError": ("argument", "rule"),
    "FileError": ("file", "rule"),
    "Note": ("rule", "fields", "advice"),
    "require": ("ok", "values", "name", "rule", "advice"),
    "error": ("column", "rule"),  # of a `Sheet`
}
UNUSED = ("header_repeated", "no_value_at_all", "unlabelled_are_wrong", "unlabelled_bounded", "unlabelled_dropped")
IDS = ("rule", "advice")
ADDED = {"columns", "pairs"}  # to the fields of a `FileError`, from its columns


def arguments_of(call: ast.Call) -> dict[str, ast.expr]:
    """Return the arguments of a call that makes an error or a note, by name; none of another call."""
    maker = getattr(call.func, "id", getattr(call.func, "attr", ""))
    if maker not in MAKERS:
        return {}
    named = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    return dict(zip(MAKERS[maker], call.args, strict=False)) | named


def expressions() -> Iterator[tuple[str, ast.expr]]:
    """Yield what is given as an id, or assigned to a variable of that name, and where."""
    for path, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                for name, value in arguments_of(node).items():
                    if name in IDS:
                        yield f"{path}:{node.lineno}", value
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    if getattr(target, "id", getattr(target, "attr", "")) in IDS:
                        yield f"{path}:{node.lineno}", node.value


def texts_in(expression: ast.expr) -> Iterator[ast.expr]:
    """Yield the constants and f-strings that an expression may be."""
    if isinstance(expression, ast.IfExp):
        yield from chain(texts_in(expression.body), texts_in(expression.orelse))
    elif isinstance(expression, (ast.Constant, ast.JoinedStr)):
        yield expression


def placeholders(sentence: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name}


def constants() -> set[object]:
    return {node.value for tree in MODULES.values() for node in ast.walk(tree) if isinstance(node, ast.Constant)}


def test_what_is_said_is_an_id_that_has_a_sentence():
    for place, expression in expressions():
        for text in texts_in(expression):
            assert getattr(text, "value", None) in {"", *KNOWN}, f"{place}: {ast.unparse(text)}"


def test_every_sentence_is_used():
    used = constants() | OPTIONS.keys() | {*UNUSED}
    assert not KNOWN.keys() - used


def test_every_placeholder_is_given():
    for path, tree in MODULES.items():
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            arguments = arguments_of(call)
            fields = arguments.get("fields", ast.Dict([], []))
            is_open = any(keyword.arg is None for keyword in call.keywords) or not isinstance(fields, ast.Dict)
            if not arguments or is_open:
                continue
            names = {*arguments, *ADDED, *(getattr(key, "value", None) for key in fields.keys)}
            for text in chain.from_iterable(texts_in(arguments[name]) for name in IDS if name in arguments):
                needed = placeholders(KNOWN.get(getattr(text, "value", ""), ""))
                assert needed <= names, f"{path}:{call.lineno}: {needed - names}"


@pytest.mark.parametrize("words", [COMMAND_WORDS, PAGE_WORDS])
def test_a_surface_says_the_same_ids_with_the_same_fields(words):
    for identifier, sentence in words.items():
        python = messages.SENTENCES.get(identifier)
        assert python is None or placeholders(sentence) <= placeholders(python) | ADDED, identifier
        assert sentence != python, identifier


def test_no_sentence_is_compared_or_a_key():
    sentences = set(messages.SENTENCES.values())
    for words in (COMMAND_WORDS, PAGE_WORDS):
        sentences |= {words[identifier] for identifier in words.keys() & messages.SENTENCES.keys()}
        assert not sentences & words.keys()
    assert not sentences & constants()


def test_an_id_is_of_one_table_and_no_argument():
    tables = (messages.INPUT_RULES, messages.FILE_RULES, messages.ADVICE, messages.NOTES)
    assert len(messages.SENTENCES) == sum(map(len, tables))
    assert not messages.SENTENCES.keys() & OPTIONS.keys()
    assert all(identifier.isidentifier() and identifier.islower() for identifier in messages.SENTENCES)
