"""Several runs from one command: the methods of a model, and the models of a YAML file."""

import argparse
import json
import re
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from .command import parser
from .methods import DIALOGUES

EITHER = ({"method", "methods"}, {"base_url", "provider", "local"})  # of a model's own, instead of the file's
NOT_IN_A_FILE = ("config", "out", "dry_run")


def runs_of(argv: Sequence[str] | None) -> list[Namespace]:
    """Return the arguments of each run, in the order in which they are made.

    Parameters
    ----------
    argv : sequence of str, optional
        By default the command line. With ``--config FILE`` each model of the file has its arguments from there, and
        what the command line gives comes on top.

    Returns
    -------
    list of Namespace
        One model with one method each. Of several, each has a file of its own in the folder ``--out``: its method's,
        with ``--config`` in a folder of its model's name.

    Raises
    ------
    ValueError
        A file that is not a mapping with `models`, an option that does not exist, two models of one name.
    OSError
        A file that cannot be read.
    """
    first = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    first.add_argument("--config")
    given, rest = first.parse_known_args(argv)
    if given.config is None:
        return list(_methods(parser().parse_args(rest)))
    models = [_in_folder(arguments) for arguments in _models(given.config, rest)]
    folders = [str(arguments.out) for arguments in models]
    again = [folder for number, folder in enumerate(folders) if folder in folders[:number]]
    if again:
        raise ValueError(f"{given.config}: the names of models must differ; got {Path(again[0]).name} twice.")
    return [run for arguments in models for run in _methods(arguments)]


def _models(file: str, rest: Sequence[str]) -> Iterator[Namespace]:
    """Yield the arguments of each model of a file; what stands beside `models` holds for all of them."""
    try:
        content = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise ValueError(f"{file} must be YAML; got {error}") from error
    models = content.get("models") if isinstance(content, dict) else None
    if not isinstance(models, list) or not models:
        raise ValueError(f"{file} must have a list `models`, each with a `model`; got {str(content)[:60]}.")
    common = {name: value for name, value in content.items() if name != "models"}
    for number, own in enumerate(models, 1):
        place = f"{file}, model {number}"
        if not isinstance(own, dict):
            raise ValueError(f"{place} must be a mapping of options to values; got {str(own)[:60]}.")
        words = _words(_merged(common, own), place)
        command = parser()
        command.prog = f"{command.prog} ({place})"  # what it refuses, it refuses of this model
        arguments, unknown = command.parse_known_args([*words, *rest])
        if unknown:
            raise ValueError(f"{place}: there is no option {unknown[0]}; --help lists them.")
        yield arguments


def _merged(common: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    replaced = {name for names in EITHER if names & own.keys() for name in names}
    return {name: value for name, value in common.items() if name not in replaced} | dict(own)


def _words(options: Mapping[str, Any], place: str) -> Iterator[str]:
    """Yield options as the command line has them: ``extra_body: {a: 1}`` is ``--extra-body={"a": 1}``."""
    for name, value in options.items():
        if str(name).replace("-", "_") in NOT_IN_A_FILE:
            raise ValueError(f"{place}: {name} is given on the command line, once for all models.")
        flag = f"--{str(name).replace('_', '-')}"
        if value is True:
            yield flag
        elif isinstance(value, list):
            yield f"{flag}={','.join(map(str, value))}"
        elif value is not None and value is not False:
            yield f"{flag}={json.dumps(value) if isinstance(value, dict) else value}"


def _in_folder(arguments: Namespace) -> Namespace:
    name = arguments.name or arguments.model
    arguments.out = str(Path(arguments.out) / re.sub(r"[^\w.-]+", "-", name).strip("-."))
    arguments.methods = arguments.methods or [arguments.method]
    return arguments


def _methods(arguments: Namespace) -> Iterator[Namespace]:
    """Yield the arguments of each method; is_true asks about the answers of sequence_posterior, if that is one."""
    if not arguments.methods:
        yield arguments
        return
    folder, shared = Path(arguments.out), "sequence_posterior" in arguments.methods
    for method in sorted(arguments.methods, key=list(DIALOGUES).index):
        answers = arguments.answers
        if shared and method == "is_true" and not arguments.dry_run:
            answers = str(folder / "sequence_posterior.jsonl")
        name = f"{arguments.name} {method}" if arguments.name else None
        own = {"method": method, "out": str(folder / f"{method}.jsonl"), "answers": answers, "name": name}
        yield Namespace(**vars(arguments) | own)
