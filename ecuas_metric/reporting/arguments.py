"""Parsed arguments of the command -> the columns of each file, submissions, options, and the metrics to show."""

from __future__ import annotations

import argparse
import csv
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..comparison.pairing import in_common
from ..errors import FileError, InputError
from ..files.columns import NAMES
from ..files.read import STANDARD_INPUT, stem
from ..files.runs import RunOptions
from ..files.submissions import Submission, read_submissions
from ..metrics import METRICS, Key, place, values_of_calibration
from ..results import System, all_values
from .flags import FLAGS
from .report import title

PAIRS = re.compile(rf",(?=\s*(?:[^,=]*:)?\s*(?:{'|'.join(NAMES)})\s*=)")  # the commas that are in no column's name


def submissions_of_files(arguments: argparse.Namespace, *, unlabelled: str | None = None) -> list[Submission]:
    """Read all files that the arguments name; `unlabelled` is the rule where they give none."""
    files = [named_file(text) for text in arguments.files]
    for path in arguments.output:
        _refuse_to_overwrite(path, [file.path for file in files])
    labels = None if arguments.labels is None else next(csv.reader([arguments.labels], skipinitialspace=True))
    flags = {"weight": arguments.weight, "group": arguments.groups, "part": arguments.by}
    common = {name: value for name, value in flags.items() if value}
    tasks = None if arguments.tasks is None else arguments.tasks.split(",")
    run = RunOptions(tasks, arguments.filter, arguments.choice_length, partial=arguments.partial)
    submissions, named = [], []
    for file, columns in zip(files, columns_of_files(arguments.columns, files), strict=True):
        given = {**common, **columns}
        told = {
            "correct_from": arguments.correct_from,
            "scale": arguments.scale,
            "unlabelled": arguments.unlabelled or unlabelled,
            "predictions_are": arguments.predictions_are,
        }
        found = read_submissions(file.path, columns=given, labels=labels, run=run, **told)
        submissions += [_called(submission, file, found) for submission in found]
        named += [file.name is not None] * len(found)
    if arguments.by and len({submission.of for submission in submissions}) == 1:
        submissions = [submission._replace(name=submission.part or submission.of) for submission in submissions]
    paths = [submission.source.file for submission in submissions]
    stems = ["" if is_named else stem(path) for path, is_named in zip(paths, named, strict=True)]
    names = told_apart([submission.name for submission in submissions], paths, stems)
    refuse_clashes(names, paths)
    if arguments.by_position:
        submissions = [submission._replace(ids=None) for submission in submissions]
    if arguments.common:
        submissions = in_common(submissions)
    return [submission._replace(name=name) for submission, name in zip(submissions, names, strict=True)]


def _called(submission: Submission, file: Named, found: Sequence[Submission]) -> Submission:
    """Return a system of a file that may have been given a name, called by it."""
    if file.name is None:
        return submission
    of = file.name if len({one.of for one in found}) == 1 else f"{file.name} {submission.of}"
    name = f"{of} {submission.part}" if submission.part and len(found) > 1 else of
    return submission._replace(name=name, of=of)


def _refuse_to_overwrite(path: str, files: Sequence[str]) -> None:
    for file in files:
        if os.path.exists(path) and os.path.exists(file) and os.path.samefile(path, file):
            rule = "this file is read, and would be overwritten"
            raise FileError(path, rule, advice="Name another one with --output.")


def options_of(arguments: argparse.Namespace) -> dict[str, object]:
    """Return the options of the metric."""
    names = (*FLAGS, "confidence_level", "calibration")  # the last one of `score` alone
    options = {name: value for name, value in vars(arguments).items() if name in names}
    for name in ("n", "reject_costs"):
        options[name] = None if options[name] is None else numbers_of(options[name], FLAGS[name])
    return options


def metrics_of(arguments: argparse.Namespace, systems: Mapping[str, System]) -> list[Key] | None:
    """Return the requested metrics; None is all."""
    if arguments.metrics is None:
        return None
    first = next(iter(systems.values()))
    of_calibration = values_of_calibration(first.decisions, first.options.replace(n_resamples=1))
    return chosen_keys(arguments.metrics, sorted([*all_values(first), *of_calibration], key=place))


def numbers_of(text: str, name: str) -> list[float]:
    """Return numbers separated by commas, the value of the flag `name`."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(name, "takes numbers, separated by commas", value=text) from None


class Named(NamedTuple):
    """A file of the command line, with the name that was given to its system, if one was."""

    name: str | None
    path: str


def named_file(text: str) -> Named:
    """Return the file of NAME=FILE, or of FILE.

    >>> named_file("GPT-4=runs/a.csv"), named_file("runs/a.csv")
    (Named(name='GPT-4', path='runs/a.csv'), Named(name=None, path='runs/a.csv'))
    """
    name, equals, path = text.partition("=")
    if not equals or not name or "/" in name or "\\" in name or (text != STANDARD_INPUT and Path(text).exists()):
        return Named(None, text)
    return Named(name, path)


def columns_of_files(texts: Iterable[str], files: Sequence[Named]) -> list[dict[str, str]]:
    """Return the columns of each file by role, from texts of ROLE=COLUMN, FILE:ROLE=COLUMN or NAME:ROLE=COLUMN.

    >>> columns_of_files(["confidence=p(a, b),b.csv:confidence=q"], [Named(None, "a.csv"), Named(None, "b.csv")])
    [{'confidence': 'p(a, b)'}, {'confidence': 'q'}]
    """
    common: dict[str, str] = {}
    special: list[dict[str, str]] = [{} for _ in files]
    for part in (part for text in texts for part in PAIRS.split(text) if part.strip()):
        role, equals, column = part.partition("=")
        if not equals:
            raise InputError("--columns", "takes ROLE=COLUMN pairs", value=part)
        file, colon, role = role.strip().rpartition(":")
        if not colon:
            common[role] = column.strip()
            continue
        meant = [i for i, one in enumerate(files) if file in (one.name, one.path, Path(one.path).name)]
        if not meant:
            raise InputError("--columns", "names a file or system that is not there", value=file)
        for i in meant:
            special[i][role] = column.strip()
    return [common | own for own in special]


def chosen_keys(text: str | None, keys: Sequence[Key]) -> list[Key]:
    """Return the metrics that a text names by their keys or titles, in any case; None is all.

    Names are joined by commas, or by spaces where they have none.

    >>> [str(key) for key in chosen_keys("ECUAS_0, er", [Key("error_rate"), Key("ecuas", 0.0)])]
    ['ecuas_0', 'error_rate']
    """
    if text is None:
        return list(keys)
    names = {name: key for key in keys for name in (_simple(title(key)), _simple(METRICS[key.metric].title), str(key))}
    names |= {str(key): key for key in keys}
    names |= {_simple(title(key)): key for key in keys}
    parts = [part.strip() for part in text.split(",") if part.strip()]
    parts = [word for part in parts for word in ([part] if _simple(part) in names else part.split())]
    unknown = [part for part in parts if _simple(part) not in names]
    if unknown or not parts:
        known = ", ".join(str(key) for key in keys)
        raise InputError("--metrics", f"must be among {known}", value=unknown[0] if unknown else text)
    return list(dict.fromkeys(names[_simple(part)] for part in parts))


def refuse_clashes(names: Sequence[str], paths: Sequence[str]) -> None:
    """Raise FileError if two systems have the same name."""
    for name, path in zip(names, paths, strict=True):
        if names.count(name) > 1:
            rule = f"holds a system {name!r} as another file does"
            raise FileError(path, rule, advice="Name them: NAME=FILE.")


def told_apart(names: Sequence[str], paths: Sequence[str], stems: Sequence[str]) -> list[str]:
    """Return names that differ where files did: with their folders, or else with their suffixes.

    >>> told_apart(["a", "a", "b"], ["x/a.csv", "y/a.csv", "b.csv"], ["a", "a", "b"])
    ['x/a', 'y/a', 'b']
    >>> told_apart(["a", "a"], ["a.csv", "a.jsonl"], ["a", "a"])
    ['a.csv', 'a.jsonl']
    """
    with_folders = [str(Path(path).with_name(stem)) if stem else path for path, stem in zip(paths, stems, strict=True)]
    told = list(names)
    for longer in (with_folders, paths):
        repeated = {name for name in told if told.count(name) > 1}
        told = [
            longer[i] if name in repeated and names[i] == stems[i] else name  # not one that was given
            for i, name in enumerate(told)
        ]
    return told


def _simple(text: str) -> str:
    return re.sub(r"[\s↑↓†]+", " ", text).strip().lower().replace("∞", "inf")
