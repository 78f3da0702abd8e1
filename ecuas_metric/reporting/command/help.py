"""What the help of each subcommand says, and which functions do it: their modules are imported when one is called."""

from ...files.recipe import LAYOUTS
from ...metrics import METRICS
from .flags import Command

_FILES = """\
A file contains one system, named after the file, or several if it has a column `system` or `model`. Columns are found
by their exact names, or you say them with --columns; the first line says what was read, and what was not:
{layouts}
Optional is `id`, which pairs the samples of different systems. A column that is written as 85%, 0,85, yes/no or
right/wrong throughout is understood. `ecuas read FILE` shows all columns, and how they would be read.
"""
_METRICS = """\
metrics, by the names that --metrics takes
{metrics}

abbreviations, besides those explained below each table
  ECUAS is the expected cost of an uncertainty-augmented system, ECE the expected calibration error, AUROC the area
  under the receiver operating characteristic, AURC the area under the risk-coverage curve, and AUGRC that of the
  generalized risk. N is the number of samples, u_M the largest uncertainty, that of a system that knows nothing.
  The line below a table has all that its numbers depend on. n:, K:, reject:, level: and bins: are options above; cost:
  is that of a mistake, eps: the least uncertainty, and ties: how equal confidences are ordered. in: is the form of
  posteriors, renormalized: how far sums may be from 1, missing: what replaces a confidence, recal: of --calibrate
  method/folds/seed/order, /together for repeated ids, /weights if it used them, weighting: what weights mean; weights:,
  groups: and strata: are short hashes of columns. intervals: is the method; boot:, test: and deviates: are
  numbers/seeds of random draws, paired: how samples were, unless by ids, state: bins of --out-of-core. grading: and
  reading: are rules by which answers were judged and files were read, recipe: is a short hash of these and of the
  columns, population: a selection of questions, decisions: the system's own, max: the largest uncertainty, unlabelled:
  what became of answers without a label, v: the version.

"""
_SCORE = """\
examples
  ecuas score gpt.csv llama.jsonl
      one row per system, one column per metric; the best value in each column is marked
  ecuas score runs.parquet --columns confidence=p_true,correct=grade,system=llm+method --interval 0.95
      columns with other names, one system for each LLM and method, with intervals
  ecuas score GPT-4=gpt.csv Llama=llama.jsonl --columns "gpt.csv:confidence=confidence" --metrics "ECUAS_0, ER"
      your own names for systems, a column name for one file, and two metrics by the names shown in tables
  ecuas score gpt.csv llama.jsonl --calibrate affine
      is it the ranking or the calibration? also shows each system after cross-validated recalibration
  ecuas score logits.csv --predictions-are logits --normalize --output table.tex --output table.csv --figures plots
      a classifier's logits, with values relative to a system that ignores its input; tables and figures for a paper
  ecuas score 'runs*.parquet' --by llm --columns confidence=p_true,correct=grade --out-of-core --state 2026.state
      any number of rows in constant memory; next month's files can be added to the same state
"""
_COMPARE = """\
examples
  ecuas compare gpt.csv llama.jsonl
      which systems beat which, and the difference in every metric with its 95 % interval and p-values
  ecuas compare runs.csv --only significant --figures plots
      only significant differences; a forest plot of all
  ecuas compare runs.csv --groups document --metrics ecuas_0,error_rate
      questions on the same document depend on each other; two metrics only
"""

_PLAN = """\
how it is computed
  The difference in a metric between two systems is a mean over samples of each sample's contribution (for AUROC, AURC
  and AUGRC: its influence). If the standard deviation of a single sample's contribution is s, N samples detect a
  difference of about (1.96 + 0.84) s / sqrt(N) with a power of 80 % at the level 0.05. Where contributions are skewed,
  the limit of an interval about 0, on the side of the difference, stands in place of 1.96 s / sqrt(N). Systems that
  fail on the same samples have a small s, and need fewer samples. Weights and groups are used as in `ecuas compare`.
  With several pairs or metrics, divide --alpha by their number to be safe.

what to do
  1. Before you have data: state the error rates that you expect, and how similar the systems are.
         ecuas plan --error-rates 0.30,0.25 --correlation 0.5
  2. With pilot data: files of the two systems, or of similar ones. How small a difference would this N detect?
         ecuas plan gpt.csv llama.csv
  3. How many samples are needed to detect a difference that matters, here 0.02?
         ecuas plan gpt.csv llama.csv --difference 0.02 --metrics ecuas_0,error_rate
  Decide which difference matters before you look at the data. Without --difference, the table shows the N needed for
  the observed difference; it is as uncertain as that difference, and its power says no more than its p-value.
"""

_DECIDE = """\
examples
  ecuas threshold labelled.csv --budget 0.2
      the reject cost at which at most 20 % are left to people, and what that costs
  ecuas threshold labelled.csv --max-risk 0.05
      the largest one at which at most 5 % of what is accepted is wrong, certified with 95 % confidence
  ecuas decide new.csv --reject-cost 0.1 --calibrate-on labelled.csv --output decisions.csv
      decision, uncertainty and whether to accept it of each new row, which need no truth
"""
_NEW_ROWS = """\
New rows have a confidence, or the probability of each class, and need no truth: `correct` and `label` below are for the
file of --calibrate-on. Each row gets an answer or is rejected, by the rule that is scored. Rows without an id are named
by their number in the file, as `row`: in a CSV file the header is row 1, and the first of the data row 2.

"""
_REPORT = """\
what is written
  results.tex    the table, which compiles alone, or its tabular to copy
  methods.txt    a paragraph on methods: metrics, intervals, tests, what was left out, the version; and one on results
  references.bib what the paragraphs cite
  *.pdf, *.png   curves of risk, of expected cost, of ECUAS_n, and reliability; the extra `report` draws them
  numbers.json   all numbers, and how files were read

examples
  ecuas report gpt.csv llama.jsonl --output paper
      both systems, the differences between them, and what may be said of these
  ecuas report GPT-4=gpt.csv Llama=llama.jsonl --calibrate affine
      names as the paper has them; also each system after cross-validated recalibration
"""
_NO_PAIRS = (
    "States do not say which rows are of one question: compare a sample of the questions, or score both systems with "
    "--interval."
)
_NO_PARTS = "Compare one part at a time: a file, or several systems in one, for each."
_WIDTH = max(len(columns) for columns, _ in LAYOUTS)
_LAYOUT_LINES = [f"  {columns:{_WIDTH}}  {meaning}" for columns, meaning in LAYOUTS]
FILES = _FILES.replace("{layouts}", "\n".join(_LAYOUT_LINES))
_WHEN = {"named": " (when named)"}
_METRIC_LINES = [
    f"  {key:{max(map(len, METRICS))}}  {metric.title}: {metric.description}{_WHEN.get(metric.when, '')}"
    for key, metric in METRICS.items()
    if metric.when != "ratio"
]
METRIC_NAMES = _METRICS.replace("{metrics}", "\n".join(_METRIC_LINES))
COMMANDS = {
    "score": Command(
        {"": "in_memory:score_in_memory", "out_of_core": "out_of_core:score_out_of_core"},
        FILES,
        METRIC_NAMES + _SCORE,
    ),
    "compare": Command(
        {"": "comparing:compare_in_memory"},
        FILES,
        METRIC_NAMES + _COMPARE,
        hints={"--by": _NO_PARTS, "--out-of-core": _NO_PAIRS},
    ),
    "plan": Command(
        {"": "planning:plan_of_files", "error_rates": "planning:plan_of_error_rates"},
        FILES,
        METRIC_NAMES + _PLAN,
        usage="[FILE FILE]",
        hints={"--by": _NO_PARTS, "FILE": "A plan needs two, or --error-rates instead."},
    ),
    "report": Command({"": "comparing:write_for_paper"}, FILES, _REPORT),
    "decide": Command(
        {"": "deciding:decide_rows"},
        _NEW_ROWS + FILES,
        _DECIDE,
        usage="FILE [FILE ...] --reject-cost COST",
    ),
    "threshold": Command({"": "deciding:choose_threshold"}, FILES, _DECIDE),
    "read": Command({"": "recipes:show_recipes"}, FILES),
    "merge": Command({"": "out_of_core:merge_states"}, epilog=METRIC_NAMES),
}
