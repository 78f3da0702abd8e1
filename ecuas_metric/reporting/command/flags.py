"""The parameters of functions -> the flags of a command: a signature says their names, types, defaults and help."""

import argparse
import difflib
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from pkgutil import resolve_name
from types import UnionType
from typing import Any, NoReturn, get_args

from ...messages import INPUT_RULES

_RULES = {
    int: "takes a whole number",
    float: "takes a number",
    tuple[float, ...]: INPUT_RULES["not_numbers_and_commas"],
}
# of a parameter without a value, one that is repeatable, and the files
_ACTIONS: Mapping[Any, dict[str, Any]] = {
    bool: {"action": "store_true"},
    Sequence[str]: {"action": "append"},
    list[str]: {"nargs": "*"},
}
_UNSAID = (None, (), inspect.Parameter.empty)  # defaults that the help has not
# of flags elsewhere, and once here -> the flag that has this meaning
OTHER_NAMES = {"--alpha": "--interval", "--confidence-level": "--interval", "--level": "--interval"}
OF_OTHERS = 0.8  # how near another flag is to what a flag of another command may be a slip for


class UsageError(ValueError):
    """A command line that asks for nothing that there is."""


@dataclass(frozen=True, slots=True)
class Flag:
    """What `Annotated` says of a parameter besides its type."""

    help: str
    metavar: str = ""
    choices: Sequence[str] = ()
    needs: tuple[str, ...] = ()  # parameters: without any of them it has no effect


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function: a flag, or, without a default, the files."""

    name: str
    kind: Any  # bool, str, int, float, tuple[float, ...] (separated by commas), Sequence[str] (repeatable)
    flag: Flag
    default: object = False

    @property
    def is_required(self) -> bool:
        """Whether it has no default, as the files."""
        return self.default is inspect.Parameter.empty

    @property
    def text(self) -> str:
        """What the command line calls it."""
        return self.flag.metavar if self.is_required else flag_of(self.name)

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Add it to a parser, whose values hold it only where it is given."""
        how = _ACTIONS.get(self.kind, {"type": self.value_of})
        if self.kind is not bool:
            how = how | {"metavar": self.flag.metavar or f"{{{','.join(self.flag.choices)}}}"}
        name = self.name if self.is_required else self.text
        text = self.flag.help + self._default()
        parser.add_argument(name, help=text, default=argparse.SUPPRESS, **how)

    def value_of(self, text: str) -> object:
        """Return the value that a text stands for."""
        choices = self.flag.choices
        if choices and text not in choices:
            raise argparse.ArgumentTypeError(f"must be one of {', '.join(choices)}; got {text!r}")
        kind = self.kind
        if isinstance(kind, UnionType):  # `kind | None`
            kind, _ = get_args(kind)
        try:
            if kind == tuple[float, ...]:
                return tuple(map(float, text.split(",")))
            return kind(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{_RULES[kind]}; got {text!r}") from None

    def _default(self) -> str:
        if self.kind is bool or self.default in _UNSAID:
            return ""
        values = self.default if isinstance(self.default, tuple) else [self.default]
        texts = [f"{value:g}" if isinstance(value, float) else str(value) for value in values]
        return f" (default {','.join(texts)})"


@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand: the functions that do it, and its help."""

    # MODULE:NAME by the parameter that chooses each; "" where none is given
    forms: Mapping[str, str]
    description: str = ""
    epilog: str = ""
    usage: str = "FILE [FILE ...]"
    # what to do instead of a flag that it has not
    hints: Mapping[str, str] = field(default_factory=dict)

    def functions(self) -> dict[str, Callable[..., Any]]:
        """Return the function of each form."""
        return {form: resolve_name(f"{__package__}.{name}") for form, name in self.forms.items()}

    def parameters(self) -> dict[str, Parameter]:
        """Return the parameters of all forms by their names."""
        parameters: dict[str, Parameter] = {}
        for function in self.functions().values():
            for one in parameters_of(function):
                parameters.setdefault(one.name, one)
        return parameters


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message.removeprefix('argument ').replace(': ', ' ', 1)}.")


def flag_of(name: str) -> str:
    """Return the flag of a parameter."""
    return f"--{name.replace('_', '-')}"


@functools.cache
def _signature(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(function, eval_str=True).parameters


def parameters_of(function: Callable[..., Any]) -> Iterator[Parameter]:
    """Yield the parameters of a function; those that are dataclasses stand for their fields."""
    for one in _signature(function).values():
        if is_dataclass(one.annotation):
            yield from parameters_of(one.annotation)  # type: ignore[arg-type]
        else:
            kind, flag = get_args(one.annotation)
            yield Parameter(one.name, kind, flag, one.default)


def call(
    function: Callable[..., Any],
    values: Mapping[str, object],
) -> Any:
    """Call a function with those of the values that are its parameters, or fields of their dataclasses."""
    arguments = {}
    for name, one in _signature(function).items():
        if is_dataclass(one.annotation):
            arguments[name] = call(one.annotation, values)  # type: ignore[arg-type]
        elif name in values:
            arguments[name] = values[name]
    return function(**arguments)


def parse(
    name: str,
    commands: Mapping[str, Command],
    argv: Sequence[str],
) -> Callable[[], Any]:
    """Return the call that a command line asks for; UsageError if its function does not take what is given."""
    command = commands[name]
    functions = command.functions()
    documented = inspect.getdoc(functions[""]) or ""
    about = documented.split("\n")[0]
    parser = _Parser(
        prog=f"ecuas {name}",
        usage=f"ecuas {name} {command.usage} [options]",
        description=f"{about}\n\n{command.description}",
        epilog=command.epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parameters = command.parameters()
    for one in parameters.values():
        one.add_to(parser)
    values, unknown = parser.parse_known_intermixed_args(argv)
    for text in unknown:
        raise UsageError(_unknown(text.partition("=")[0], name, commands))
    arguments = vars(values)
    form = next((one for one in functions if one in arguments), "")
    function = functions[form]
    accepted = {one.name: one for one in parameters_of(function)}
    for other in arguments.keys() - accepted.keys():
        _refuse(parameters[other], parameters.get(form), functions)
    if "files" in accepted and not arguments.get("files"):
        hint = command.hints.get("FILE", f"See ecuas {name} --help.")
        raise UsageError(f"FILE is missing. {hint}")
    _require_needs(accepted, arguments)
    return functools.partial(call, function, arguments)


def _require_needs(accepted: Mapping[str, Parameter], arguments: Mapping[str, object]) -> None:
    """Raise UsageError if a parameter is there without any of those that it needs."""
    for name in arguments:
        needs = [accepted[need] for need in accepted[name].flag.needs if need in accepted]
        if needs and not any(need.name in arguments or need.default for need in needs):
            flags = " or ".join(need.text for need in needs)
            raise UsageError(f"{accepted[name].text} has no effect without {flags}.")


def _refuse(
    parameter: Parameter, chooser: Parameter | None, functions: Mapping[str, Callable[..., Any]]
) -> NoReturn:
    """Raise UsageError for a parameter that another form takes than that of the flag which chooses one."""
    if chooser is not None:
        chosen = f"{chooser.text} {chooser.flag.metavar}".rstrip()
        raise UsageError(f"{parameter.text} cannot be used with {chosen}.")
    takers = []
    for name, function in functions.items():
        if parameter in parameters_of(function):
            takers.append(flag_of(name))
    raise UsageError(f"{parameter.text} requires {' or '.join(takers)}.")


def _unknown(
    flag: str,
    name: str,
    commands: Mapping[str, Command],
) -> str:
    """Say which flag an unknown one may be, of the same command or of another."""
    flags = {}
    for other, command in commands.items():
        flags[other] = [one.text for one in command.parameters().values()]
    holders = [f"ecuas {other}" for other, texts in flags.items() if flag in texts]
    hint = commands[name].hints.get(flag, "")
    if holders:
        near = "" if hint else _meant(flag, flags[name], cutoff=OF_OTHERS)
        what = f"ecuas {name} takes no {flag}, which is of {' and '.join(holders)}."
        return " ".join(filter(None, [what, hint, near]))
    nearest = _meant(flag, flags[name])
    for other in commands:
        nearest = nearest or _meant(flag, flags[other], whose=f" of ecuas {other}")
    return f"there is no {flag}. {nearest or f'See ecuas {name} --help.'}"


def _meant(flag: str, flags: Sequence[str], *, cutoff: float = 0.6, whose: str = "") -> str:
    """Ask whether an unknown flag is the nearest of these, or the one that has its meaning; nothing if none is near."""
    near = difflib.get_close_matches(flag, flags, 1, cutoff)
    other_name = OTHER_NAMES.get(flag, "")
    if other_name in flags:
        near = [other_name]
    return f"Did you mean {near[0]}{whose}?" if near else ""
