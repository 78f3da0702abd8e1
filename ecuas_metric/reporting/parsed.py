"""Parsed arguments of the command -> submissions, options of the metric, and the metrics to show."""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Mapping, Sequence

from ..comparison.pairing import in_common
from ..errors import FileError, InputError
from ..files.runs import RunOptions
from ..files.sources import stem
from ..files.submissions import Submission, read_submissions
from ..metrics import Key, place, values_of_calibration
from ..results import System, all_values
from .arguments import Named, chosen_keys, columns_of_files, named_file, refuse_clashes, told_apart
from .flags import FLAGS


def submissions_of_files(arguments: argparse.Namespace, *, unjudged: str | None = None) -> list[Submission]:
    """Read all files that the arguments name; `unjudged` is the rule where they give none."""
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
            "unjudged": arguments.unjudged or unjudged,
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
    """Return the metrics that were asked for; None is all."""
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
