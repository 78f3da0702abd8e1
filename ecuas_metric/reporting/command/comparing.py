"""`ecuas compare` and `ecuas report`: the verdict on systems in memory, and what a paper needs."""

import math
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

from ...basis import join_signatures
from ...comparison.compare import compare_pairable, compare_strata, make_comparison_basis
from ...comparison.gate import NO_TEST, Gate, check_gate
from ...comparison.planning import plan_of_systems
from ...comparison.rows import list_fields
from ...comparison.verdict import Verdict, rows_by_key
from ...costs import ECUAS_N, ERROR_RATE, EXPECTED_COST
from ...errors import InputError
from ...files.recipe import describe_recipes
from ...metric import Key
from ...metrics import column_order
from ...options import DEFAULTS, LEVEL
from ...results import compute_results
from ..differences import (
    MAX_ROWS,
    SCREEN,
    comparison_grid,
    is_significant,
    verdict_grid,
    within_grid,
    write_differences,
)
from ..paper import TEXTS, write_paper
from ..report import (
    DIGITS,
    Notes,
    Systems,
    anchors_at_one_confidence,
    digits_for,
    few_of,
    meanings_of,
)
from ..sentences import (
    findings,
    lead_sentences,
    sentence_on_costs,
    sentences_by_question,
    sentences_on_left_out,
    verdict_fields,
)
from ..tables import Grid, one_line, screen_width, table_lines, to_text
from .flags import Flag
from .parameters import (
    FIGURES,
    BinnedOptions,
    Files,
    MetricOutput,
    Metrics,
    Outcome,
    PairFlags,
    PoolTasks,
    Seed,
)
from .reading import Compared, SystemFlags, list_notes, read_compared

WITHIN = "within"  # suffix of the files of differences within strata
MARGIN = "within "  # prefix of the value of --fail-unless
MISTAKES = "ER: share of wrong answers"
MAX_NOTES = 5
STREAM = "-"  # of --output: standard output
FORMAT_SUFFIXES = {"json": ".json", "markdown": ".md"}


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFlags:
    """When a command ends with exit status 1, which it has for no other reason."""

    GROUP: ClassVar[str] = "a gate: exit status 1 where it fails"

    fail_if: Annotated[
        str | None,
        Flag(
            "fail if the second file is worse than the first by more than chance, by ECUAS_1, the first of --metrics, "
            "or at the first of --reject-costs",
            choices=("worse",),
        ),
    ] = None
    fail_unless: Annotated[
        str | None,
        Flag(
            "fail unless it is shown that the second file is not worse than the first by more than a margin, as "
            '"within 0.02"',
            "MARGIN",
        ),
    ] = None

    def margin(self) -> float | None:
        """Return the margin of --fail-unless, None without it; InputError for other text, or beside --fail-if."""
        if self.fail_unless is None:
            return None
        if self.fail_if is not None:
            raise InputError("--fail-unless", "is another gate, and cannot be used with --fail-if")
        try:
            margin = float(self.fail_unless.removeprefix(MARGIN))
        except ValueError:
            margin = -1.0
        if not (self.fail_unless.startswith(MARGIN) and 0 <= margin < 1e9):
            raise InputError(
                "--fail-unless",
                'takes "within D" with a number D of at least 0',
                value=self.fail_unless,
            )
        return margin

    @property
    def is_set(self) -> bool:
        """Whether there is a gate."""
        return self.fail_if is not None or self.fail_unless is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonOutput(MetricOutput):
    """Flags for what is shown of a comparison, and where it is written."""

    full: Annotated[
        bool, Flag("also show all metrics, each pair with its interval, and the signature")
    ] = False
    only: Annotated[
        str | None,
        Flag("show each pair, but only differences that are significant", choices=("significant",)),
    ] = None
    format: Annotated[
        str,
        Flag(
            "with --output -, what standard output has in the place of the text",
            choices=tuple(FORMAT_SUFFIXES),
            needs=("output",),
        ),
    ] = "json"

    def __post_init__(self) -> None:
        """Raise an error, before anything is computed, if --format has no effect or a file has an unknown format."""
        MetricOutput.__post_init__(self)
        if self.format != "json" and not self.stream:
            raise InputError("--format", "has no effect without --output -")

    def require_one_table(self, flags: Mapping[str, str | None]) -> None:
        """Raise InputError if standard output, written by --output -, would have a second table."""
        named = [flag for flag, value in flags.items() if value]
        if self.stream and named:
            rule = "writes one table, and cannot be used with {flag}"
            raise InputError("--output -", rule, flag=named[0])

    def require_ece(self) -> None:
        """Raise InputError for --bins if nothing shows ECE, the only metric that depends on it."""
        if not (self.full or self.output):
            raise InputError(
                "n_bins", "has no effect without --full or --output: only ECE depends on it"
            )

    @property
    def files(self) -> Sequence[str]:
        """The files that are written."""
        return [path for path in self.output if path != STREAM]

    @property
    def stream(self) -> str:
        """The suffix of the format that replaces the text on standard output; "" if the text is printed."""
        return FORMAT_SUFFIXES[self.format] if STREAM in self.output else ""


def compare_in_memory(
    *,
    files: Files,
    rows: PairFlags,
    within: Annotated[
        str | None,
        Flag(
            "also the differences within each value of this column, whose numbers of samples count as fixed; for runs: "
            "task, which pools the tasks of each model",
            "COLUMN",
            beside=WITHIN,
        ),
    ] = None,
    pool_tasks: PoolTasks = False,
    made: SystemFlags,
    metric: BinnedOptions,
    interval: Annotated[
        float,
        Flag(
            "level of the intervals of differences; p-values up to 1 - LEVEL are significant",
            "LEVEL",
        ),
    ] = LEVEL,
    seed: Seed = DEFAULTS.random_state,
    gate: GateFlags,
    output: ComparisonOutput,
    figures: Annotated[
        str | None,
        Flag(
            "draw the differences with their intervals, a panel per metric", "DIR", writes=FIGURES
        ),
    ] = None,
) -> Outcome:
    """Say which system costs its users least, and whether that is more than chance."""
    options = metric.options() | {"confidence_level": interval, "random_state": seed}
    margin = gate.margin()
    output.require_one_table({"--within": within, "--figures": figures})
    compared = read_compared(
        files,
        rows,
        metric,
        options,
        output.metrics,
        pool_tasks=pool_tasks,
        made=made,
        stratum=within,
    )
    systems = compared.systems
    keys = compared.keys
    compared.require_two()
    if keys is None and metric.bins != DEFAULTS.n_bins:
        output.require_ece()
    verdict = compare_pairable(systems, only=keys)
    checked = None
    if gate.is_set:
        checked = _run_gate(verdict, systems, margin)
        verdict = compare_pairable(systems, only=[checked.key])
    view = _View(verdict, compared, checked)
    view.show(output)
    if within is not None:
        _show_within(compared, within, verdict, output)
    if figures:
        drawn = [row for row in view.rows() if row.key in view.main_keys()]
        print(*write_differences(drawn, figures, alpha=verdict.alpha), sep="\n")
    has_failed = checked is not None and not checked.passed
    return Outcome(list_notes(systems) + view.notes(output.full), status=int(has_failed))


def _run_gate(verdict: Verdict, systems: Systems, margin: float | None) -> Gate:
    """Return the result of the gate between two systems, by the metric of the headline."""
    if verdict.headline is None:
        raise InputError("a gate", NO_TEST, value=", ".join(map(str, verdict.rankings)))
    return check_gate(systems, verdict.headline, margin=margin, by_position=True)


@dataclass(frozen=True, slots=True)
class _View:
    """How a verdict is shown on the screen and in files."""

    verdict: Verdict
    compared: Compared
    gate: Gate | None

    def main_keys(self) -> list[Key]:
        """Return the metrics of the table: those of --metrics, else the tested ones."""
        if self.compared.keys is not None and self.gate is None:
            return [key for key in self.compared.keys if key in self.verdict.rankings]
        tested = {row.key for row in self.verdict.rows if row.family}
        return sorted((key for key in self.verdict.rankings if key in tested), key=column_order)

    def rows(self) -> list[Any]:
        """Return the comparisons by metric, in the order of --metrics, else that of tables."""
        by_key = rows_by_key(self.verdict.rows)
        asked = self.compared.keys
        order = sorted(by_key, key=column_order) if asked is None else asked
        return [row for key in order for row in by_key.get(key, [])]

    def notes(self, is_full: bool) -> Notes:
        """Return the notes on the metrics that are shown, without the one on pairing, which the text has."""
        shown = set(self.verdict.rankings) if is_full else {*self.main_keys()}
        notes = []
        for name, note in self.verdict.notes:
            metrics = note.fields.get("metrics")
            if note.id == "paired_by_position":
                continue
            if isinstance(metrics, Sequence):
                metrics = [key for key in metrics if key in shown]
                note = replace(note, fields={**note.fields, "metrics": metrics})
            if metrics is None or metrics:
                notes.append((name, note))
        return notes

    def show(self, output: ComparisonOutput) -> None:
        """Print the verdict with its table and notes, and write it to all files."""
        bases = {name: make_comparison_basis(one) for name, one in self.verdict.systems.items()}
        line = join_signatures(bases.values())
        width = screen_width(sys.stdout)
        keys = self.main_keys() or [*self.verdict.rankings]
        grid = verdict_grid(self.verdict, keys, line, width=width, digits=output.digits)
        said = lead_sentences(self.verdict, self.gate)
        grid = replace(grid, above=said)
        notes = self._notes(grid)
        shown = self.rows()
        if output.only is not None:
            shown = list(filter(is_significant, shown))
        pairs = self._pairs(shown, line, output)
        parts = [*_paragraphs(grid.above, width), "", _table(grid, width), ""]
        parts += _paragraphs(notes, width)
        if pairs is not None:
            text = to_text(pairs, width) if pairs.rows else "\n".join(pairs.above)
            parts += ["", text.rstrip()]
        filed = replace(grid, notes=[*grid.notes, *findings(self.verdict)])
        if pairs is not None:
            filed = replace(pairs, above=[*said, *findings(self.verdict), *pairs.above])
        output.show(
            filed,
            [list_fields(row) for row in shown],
            "\n".join(parts) + "\n",
            self.compared.recipes,
            bases,
            further={"verdict": verdict_fields(self.verdict, self.gate)},
        )

    def _pairs(self, shown: Sequence[Any], line: str, output: ComparisonOutput) -> Grid | None:
        """Return the table of pairs, None unless --full or --only asks for it."""
        if not output.full and output.only is None:
            return None
        digits = digits_for(shown, output.digits)
        tests = self.verdict.num_tests
        above = []
        if output.only is not None:
            tested = sum(row.family for row in self.verdict.rows)
            above = [
                f"Of {tested} differences that are tested, {len(shown)} are significant and shown."
            ]
        return comparison_grid(
            shown, line, level=1 - self.verdict.alpha, tests=tests, digits=digits, above=above
        )

    def _notes(self, grid: Grid) -> list[str]:
        """Return at most `MAX_NOTES` notes below the table, the last one on how files were read."""
        first = grid.marks
        first_meaning, *meanings = _meanings(self.main_keys())
        notes = [". ".join(filter(None, [first, first_meaning])), *meanings]
        notes += sentences_by_question(self.verdict.headline, self.compared.questions)
        notes += self._power_sentences()
        on_costs = sentence_on_costs(self.verdict)
        if on_costs:
            asked = "" if self._has_cost() else "  Your own cost: --reject-costs 0.1"
            notes.append(on_costs + asked)
        notes += sentences_on_left_out(self.verdict)
        notes += self._confidence_sentences()
        if self.verdict.headline is not None:
            notes += grid.notes
        return [*list(filter(None, notes))[: MAX_NOTES - 1], self._reading_sentence()]

    def _has_cost(self) -> bool:
        return self.verdict.headline is not None and self.verdict.headline in self.verdict.strip

    def _power_sentences(self) -> list[str]:
        """Return, if two systems are too close to call, the sentence on the difference that so many samples detect.

        The plan is of one test: of several that are adjusted together each finds less.
        """
        ranking = self.verdict.ranking(self.verdict.headline)
        if (
            self.gate
            or any(system.audit is not None for system in self.verdict.systems.values())
            or ranking is None
            or ranking.state != "close"
            or len(self.verdict.systems) != 2
        ):
            return []
        (plan,) = plan_of_systems(
            self.verdict.systems, only=[ranking.key], by_position=True, alpha=self.verdict.alpha
        )
        found = (
            f"Too close is not equal. Tested alone, a gap of {plan.detectable:.3f} is found four times in five "
            f"with {plan.samples:,} samples"
        )
        if plan.needed is None:
            return [f"{found}."]
        gap = abs(plan.difference)
        return [f"{found}; one of {gap:.3f} takes {plan.needed:,} (ecuas plan)."]

    def _confidence_sentences(self) -> list[str]:
        """Return the sentence on systems that one confidence for all answers would improve, by the headline metric."""
        key = self.verdict.headline
        if key is None or key.entry is not ECUAS_N or self.gate:
            return []
        harmful = []
        for name, system in self.verdict.systems.items():
            plain = replace(system, options=system.options.replace(confidence_level=None))
            results = compute_results(plain, only=[key, Key(ERROR_RATE.name)])
            anchor = anchors_at_one_confidence(results, [key]).get(key, math.inf)
            if round(results.estimates[key].value, DIGITS) > round(anchor, DIGITS):
                harmful.append(f"{name} ({anchor:.{DIGITS}f})")
        if not harmful:
            return []
        what = "Cheaper with its accuracy as every confidence"
        return [f"{what}: {few_of(harmful)}; try --calibrate affine"]

    def _reading_sentence(self) -> str:
        """Return the sentence on how files were read, and how samples were paired."""
        first = next(iter(self.verdict.systems.values()))
        how = "by id" if first.ids is not None else "by position"
        recipes = self.compared.recipes
        ways = dict.fromkeys(recipe.describe() for recipe in recipes)
        read = "; ".join(describe_recipes(recipes))
        if self.compared.questions:
            read = f"Read answers to {len(next(iter(self.compared.questions.values())))} questions"
        elif len(ways) == 1:
            read = f"Read {_compact(next(iter(ways)))}"
        return f"{read}: {first.num_samples:,} samples, paired {how}.  More: --full"


def _compact(description: str) -> str:
    """Return the description of a recipe without roles that equal the names of their columns."""
    parts = []
    for part in description.split(", "):
        role, equals, column = part.partition(" = ")
        is_clear = role == column or (role == "posteriors" and ".." in column)
        parts.append(column if equals and is_clear else part)
    return ", ".join(parts)


def _meanings(keys: Sequence[Key]) -> list[str]:
    """Return the meanings of metrics that the headline does not explain: that of the error rate, or "", first."""
    others = [key for key in keys if key.entry not in (ECUAS_N, ERROR_RATE, EXPECTED_COST)]
    first = MISTAKES if Key(ERROR_RATE.name) in keys else ""
    return [first, *(f"{name}: {text}" for name, text in meanings_of(others[:2]).items())]


def _table(grid: Grid, width: int | None) -> str:
    """Return the table of a verdict, or the line that it is too long to show."""
    if len(grid.rows) > MAX_ROWS:
        return f"{len(grid.rows)} rows are not shown: --output FILE writes them, --metrics shows fewer."
    return table_lines(grid, width)


def _paragraphs(texts: Iterable[str], width: int | None) -> list[str]:
    """Return texts as lines of the width of the screen, else of `SCREEN` characters."""
    lines = []
    for text in texts:
        lines += textwrap.wrap(
            one_line(text), width or SCREEN, break_on_hyphens=False, break_long_words=False
        )
    return lines


def _show_within(
    compared: Compared, within: str, verdict: Verdict, output: ComparisonOutput
) -> None:
    """Print and write the table of the differences within strata, by their names in the file of the first system."""
    first = compared.submissions[0]
    by_stratum = compare_strata(compared.systems, only=compared.keys)
    strata: Any = compared.systems[first.name].options.strata
    names = dict(zip(strata.tolist(), map(str, first.per_sample["strata"]), strict=True))
    by_part = {names[stratum]: rows for stratum, rows in by_stratum.items()}
    digits = digits_for(verdict.rows, output.digits)
    grid, records = within_grid(by_part, within, "", level=1 - verdict.alpha, digits=digits)
    output.show_below(grid, records, WITHIN)


def write_for_paper(
    *,
    files: Files,
    rows: PairFlags,
    pool_tasks: PoolTasks = False,
    made: SystemFlags,
    metric: BinnedOptions,
    interval: Annotated[
        float, Flag("level of the intervals; p-values up to 1 - LEVEL are significant", "LEVEL")
    ] = LEVEL,
    metrics: Metrics = None,
    output: Annotated[str, Flag("the folder", "DIR", writes=(*TEXTS, "*.pdf", "*.png"))] = "paper",
) -> Notes:
    """Write what a paper needs: table, methods, results, figures, references, and all numbers."""
    options = metric.options() | {"confidence_level": interval}
    compared = read_compared(
        files, rows, metric, options, metrics, pool_tasks=pool_tasks, made=made
    )
    print(*describe_recipes(compared.recipes), sep="\n")
    paths = write_paper(
        compared.systems,
        output,
        only=compared.keys,
        recipes=compared.recipes,
        questions=compared.questions,
    )
    print(*paths, sep="\n")
    return list_notes(compared.systems)
