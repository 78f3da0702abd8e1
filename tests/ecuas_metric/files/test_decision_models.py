"""Answers of decision models, as services return them and tools keep them, give the numbers of plain arithmetic."""

import gzip
import json
import random
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from ecuas_metric import prepare_submissions, read_submissions, score_posteriors
from ecuas_metric.errors import FileError
from ecuas_metric.results import compute_values
from tests.conftest import seeds


@dataclass(frozen=True)
class Asked:
    """A question of one kind, with the probabilities (N, K) of its options in thousandths, and what is true (N,)."""

    name: str
    kind: str
    options: list[str]
    thousandths: np.ndarray
    truth: np.ndarray

    @property
    def probabilities(self):
        return self.thousandths / 1000


def draw_question(name, kind, size, items, seed):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(size, 0.5), items)
    thousandths = np.floor(1000 * shares).astype(np.int64)
    thousandths[np.arange(items), shares.argmax(axis=1)] += 1000 - thousandths.sum(axis=1)
    truth = np.array([rng.choice(size, p=row / 1000) for row in thousandths])
    options = [f"{name} {letter}" for letter in "abcdefghijkl"[:size]]
    return Asked(name, kind, options, thousandths, truth)


def draw_questions(seed, items=12):
    draw = random.Random(seed)
    kinds = ["yes", "choice", "choice", "score"]
    return [
        draw_question(
            f"{kind}{number}",
            kind,
            2 if kind == "yes" else draw.randint(2, 12),
            items,
            seed + number,
        )
        for number, kind in enumerate(kinds)
    ]


# ---- plain arithmetic ------------------------------------------------------------------------------------------------


def ecuas_by_hand(question, power=1):
    """Return ECUAS_1 of a question by its formula, of levels with a power of their distance as cost."""
    size = len(question.options)
    levels = np.arange(size)
    costs = (levels[:, None] != levels).astype(float)
    if question.kind == "score":
        costs = (np.abs(levels[:, None] - levels) / (size - 1)) ** power
    expected = question.probabilities @ costs
    decision = np.round(expected, 12).argmin(axis=1)
    u = expected.min(axis=1)
    c = costs[question.truth, decision]
    # the least over decisions of the expected cost, for the distribution that makes it largest
    largest = 1 - 1 / size
    if question.kind == "score":
        largest = 0.5 if power == 1 else 0.25
        if power == 2 and size % 2 == 0:  # no level is in the middle
            largest = 0.25 * (1 + 1 / (size - 1) ** 2)
    r = u / largest
    return float(np.mean(r**2 + c * 2 / largest * (1 - r)))


# ---- stores ----------------------------------------------------------------------------------------------------------


def label_of(question, item):
    place = int(question.truth[item])
    if question.kind == "yes":
        return bool(place)
    return place if question.kind == "score" else question.options[place]


def concentration(p):
    return round(float((len(p) * p.max() - 1) / (len(p) - 1)), 4)


def openai_answer(question, item):
    p = question.probabilities[item]
    if question.kind == "yes":
        return {"type": "predicate", "name": question.name, "probability": p[1]}
    if question.kind == "choice":
        options = [
            {"value": option, "probability": q}
            for option, q in zip(question.options, p, strict=True)
        ]
        made = {"choice": question.options[int(p.argmax())]}
    else:
        options = [
            {"value": level, "label": option, "probability": q}
            for level, (option, q) in enumerate(zip(question.options, p, strict=True))
        ]
        made = {"score": float(p @ np.arange(len(p)))}
    beside = {"confidence": concentration(p), "probabilities": options}
    return {"type": question.kind, "name": question.name, **made, **beside}


def jev_answer(question, item):
    p = question.probabilities[item]
    if question.kind == "yes":
        return {"type": "noul", "noul": p[1]}
    beside = {"confidence": concentration(p)}
    if question.kind == "choice":
        mapping = dict(zip(question.options, p.tolist(), strict=True))
        beside["choice"] = question.options[int(p.argmax())]
    else:
        mapping = {str(level): q for level, q in enumerate(p.tolist())}
        beside["score"] = float(p @ np.arange(len(p)))
        beside["legend"] = {str(level): name for level, name in enumerate(question.options)}
    return {"type": question.kind, "probabilities": mapping, **beside}


def labels_of(questions, item):
    return {question.name: label_of(question, item) for question in questions}


def openai_responses(questions, item):
    answers = [openai_answer(question, item) for question in questions]
    response = {"model": "m", "answers": answers}
    return [{"id": item, "labels": labels_of(questions, item), "response": response}]


def jev_responses(questions, item):
    answers = {question.name: jev_answer(question, item) for question in questions}
    response = {"model": "m", "answers": answers}
    return [{"id": item, "labels": labels_of(questions, item), "response": response}]


def langchain_messages(questions, item):
    answers = {question.name: jev_answer(question, item) for question in questions}
    for fields in answers.values():
        if fields["type"] == "noul":
            fields |= {"type": "predicate", "probability": fields.pop("noul")}
    return [{"id": item, "model": "m", "labels": labels_of(questions, item), "answers": answers}]


def jev_eval_lines(questions, item):
    lines = []
    for question in questions:
        place = int(question.truth[item])
        gold = question.options[place] if question.kind == "score" else label_of(question, item)
        kept = {"row": item, "id": question.name, "model": "m", "gold": gold}
        lines.append({**kept, "answer": jev_answer(question, item)})
    return lines


def s1_records(questions, item):
    records = []
    for question in questions:
        fields = jev_answer(question, item)
        fields["primitive"] = fields.pop("type")
        if "noul" in fields:
            fields["p"] = fields.pop("noul")
        kept = {"schema": "s1-record/1", "item_id": str(item), "question_id": question.name}
        asked = {"model_requested": "m", "model_served": "m", "label": label_of(question, item)}
        records.append({**kept, **asked, **fields})
    return records


def flat_rows(questions, item):
    return [
        {
            "id": item,
            "model": "m",
            "question": question.name,
            "label": label_of(question, item),
            **jev_answer(question, item),
        }
        for question in questions
    ]


STORES = {
    "openai": openai_responses,
    "jev": jev_responses,
    "langchain": langchain_messages,
    "jev-eval": jev_eval_lines,
    "s1": s1_records,
    "flat": flat_rows,
}


def write_lines(path, rows):
    text = "\n".join(map(json.dumps, rows))
    content = text.encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.fixture
def write(tmp_path):
    """Return what writes rows to a file of their lines."""
    return partial(write_lines, tmp_path / "a.jsonl")


def rows_in(store, questions):
    items = range(len(questions[0].truth))
    return [row for item in items for row in STORES[store](questions, item)]


def write_store(folder, store, questions):
    return write_lines(folder / "answers.jsonl", rows_in(store, questions))


def values_of(system):
    return {str(key): value for key, value in compute_values(system).items()}


def ecuas_values(path, **options):
    """Return ECUAS_1 by question."""
    submissions = read_submissions(path, **options)
    systems = prepare_submissions(submissions, n=1)
    return {one.part.split(",")[0]: values_of(systems[one.name])["ecuas_1"] for one in submissions}


# ---- laws ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", seeds(2, 200))
@pytest.mark.parametrize("store", STORES)
def test_all_stores_give_the_numbers_of_the_formula(tmp_path, store, seed):
    questions = draw_questions(seed)
    expected = {question.name: ecuas_by_hand(question) for question in questions}
    values = ecuas_values(write_store(tmp_path, store, questions))
    assert values == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("suffix", [".json", ".jsonl.gz", ".ndjson"])
def test_a_list_and_packed_lines_are_read_as_lines_are(tmp_path, suffix):
    questions = draw_questions(1)
    lines = write_store(tmp_path, "openai", questions)
    other = tmp_path / f"other{suffix}"
    rows = [json.loads(line) for line in lines.read_text().splitlines()]
    if suffix == ".json":
        other.write_text(json.dumps(rows))
    else:
        write_lines(other, rows)
    assert ecuas_values(other) == ecuas_values(lines)


def test_rows_in_one_list_after_the_other_are_counted_over_all_of_them(write):
    rows = [{"type": "predicate", "probability": p, "label": True} for p in (0.9, 0.8, 0.7, "0.6")]
    with pytest.raises(FileError, match="must have numbers as probabilities; got '0.6' in row 4"):
        read_submissions(write([rows[:2], rows[2:]]))


def test_calibrated_answers_have_no_calibration_error_whatever_is_called_confidence(write):
    rows = [
        {
            "id": item,
            "type": "choice",
            "choice": "a",
            "confidence": 0.5,
            "probabilities": {"a": 0.75, "b": 0.25},
            "label": "b" if item == 0 else "a",
        }
        for item in range(4)
    ]
    (submission,) = read_submissions(write(rows))
    (system,) = prepare_submissions([submission]).values()
    values = values_of(system)
    assert values["ece"] == pytest.approx(0, abs=1e-12)
    assert any("not the probability of being right" in str(note) for note in submission.notes)


@pytest.mark.parametrize(("made", "truth"), [("a", "a"), ("b", "a")])
def test_of_equally_likely_choices_the_one_that_was_made_counts(write, made, truth):
    row = {"type": "choice", "choice": made, "probabilities": {"a": 0.5, "b": 0.5}, "label": truth}
    path = write([{"id": 1, **row}, {"id": 2, **row}])
    (system,) = prepare_submissions(read_submissions(path)).values()
    assert system.decisions.candidate_cost.tolist() == [float(made != truth)] * 2


def test_a_verdict_on_a_yes_or_no_is_about_the_side_that_was_taken(write):
    rows = [
        {"id": 1, "type": "predicate", "probability": 0.02, "correct": 1},
        {"id": 2, "type": "predicate", "probability": 0.9, "correct": 0},
    ]
    (system,) = prepare_submissions(read_submissions(write(rows))).values()
    assert system.decisions.uncertainty == pytest.approx([0.02, 0.1])
    assert system.decisions.max_uncertainty == 0.5


def test_scores_are_posteriors_with_the_distance_of_levels_as_cost(tmp_path):
    question = draw_question("q", "score", 4, 20, seed=2)
    path = write_store(tmp_path, "openai", [question])
    (system,) = prepare_submissions(read_submissions(path), n=1).values()
    values = values_of(system)
    assert values["ecuas_1"] == pytest.approx(ecuas_by_hand(question), rel=1e-9)
    by_name = score_posteriors(
        question.truth, question.probabilities, labels=range(4), cost="absolute", n=1
    )
    assert values["ecuas_1"] == by_name["ecuas_1"]
    squared = score_posteriors(
        question.truth, question.probabilities, labels=range(4), cost="squared", n=1
    )
    assert squared["ecuas_1"] == pytest.approx(ecuas_by_hand(question, power=2), rel=1e-9)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"label": "d"}, "none of the options"),
        ({"choice": "b"}, "less likely"),
        ({"probabilities": {"a": 0.7, "b": 0.7}}, "sum"),
        ({"probabilities": {"a": 1.0}}, "two options"),
        ({"probabilities": {"a": "0.7", "b": 0.3}}, "numbers"),
        ({"label": {"other": "a"}}, "labels of other"),
        ({"probabilities": {"a": 0.7, "b": 0.7, "c": -0.4}}, "in .0, 1.;"),
        ({"probabilities": None}, "has no probabilities"),
        ({"type": "predicate"}, "has no probabilities"),
        ({"correct": 0}, "not what the label says"),
        ({"type": None, "probabilities": None}, "neither an answer"),
    ],
)
def test_what_contradicts_itself_is_refused_with_its_row(write, changes, what):
    row = {"type": "choice", "choice": "a", "probabilities": {"a": 0.7, "b": 0.3}, "label": "a"}
    rows = [{"id": 1, "question": "q", **row}, {"id": 2, "question": "q", **row, **changes}]
    if "label" in changes and isinstance(changes["label"], dict):
        rows[0]["label"] = changes["label"]
    path = write(rows)
    with pytest.raises(FileError, match=what):
        prepare_submissions(read_submissions(path))


def test_a_level_that_may_be_a_number_or_a_name_is_refused(write):
    legend = {"0": "1", "1": "2", "2": "3"}
    answer = {"type": "score", "score": 1.0, "probabilities": {"0": 0.2, "1": 0.6, "2": 0.2}}
    rows = [{"id": 1, "label": 1, "legend": legend, **answer}]
    with pytest.raises(FileError, match="level"):
        read_submissions(write(rows))


@pytest.mark.parametrize("number", [int, float])
def test_levels_have_the_names_beside_their_numbers(write, number):
    shares = {"bad": 0.2, "fair": 0.7, "good": 0.1}
    options = [
        {"value": number(level), "label": name, "probability": share}
        for level, (name, share) in enumerate(shares.items())
    ]
    answer = {"type": "score", "score": 0.9, "probabilities": options}
    rows = [{"id": place, "label": name, **answer} for place, name in enumerate(shares)]
    (submission,) = read_submissions(write(rows))
    assert submission.references.tolist() == [0, 1, 2]


def test_verdicts_on_scores_are_refused_since_they_have_degrees(write):
    answer = {"score": 0.95, "confidence": 0.9, "probabilities": {"0": 0.05, "1": 0.95}}
    rows = [{"id": 1, "correct": 1, **answer}, {"id": 2, "correct": 0, **answer}]
    with pytest.raises(FileError, match="true level"):
        read_submissions(write(rows))


@pytest.mark.parametrize("kind", ["choice", "yes", "score"])
def test_a_refusal_costs_what_rejecting_costs(write, kind):
    question = draw_question("q", kind, 2 if kind == "yes" else 4, 20, seed=5)
    rows = rows_in("flat", [question])
    whole = ecuas_values(write(rows[:15]))["q"]
    for row in rows[15:]:
        kept = {name: row[name] for name in ("id", "model", "question", "label")}
        row.clear()
        row.update(kept, type="refusal")
    path = write(rows)
    assert ecuas_values(path)["q"] == pytest.approx((15 * whole + 5) / 20)
    notes = [
        *read_submissions(path)[0].notes,
        *prepare_submissions(read_submissions(path))["m"].notes,
    ]
    assert any("5 of 20" in str(note) or "5 samples" in str(note) for note in notes)


def test_a_call_that_failed_is_a_refusal(write):
    question = draw_question("q", "choice", 3, 4, seed=6)
    rows = rows_in("s1", [question])
    for name in ("choice", "confidence", "probabilities"):
        del rows[1][name]
    rows[1] |= {"model_served": None, "error_code": "timeout"}
    (submission,) = read_submissions(write(rows))
    assert submission.per_sample["abstained"] == [False, True, False, False]


@pytest.mark.parametrize("failure", [{"response": None}, {"error": "timeout"}])
def test_a_response_that_failed_refuses_all_questions(write, tmp_path, failure):
    questions = draw_questions(2)
    rows = rows_in("openai", questions)
    rows[4] = {"id": 4, "labels": rows[4]["labels"], **failure}
    path = write(rows)
    refused = {"type": "refusal"}
    answers = [{"name": question.name, **refused} for question in questions]
    rows[4] = {"id": 4, "labels": rows[4]["labels"], "response": {"model": "m", "answers": answers}}
    assert ecuas_values(path) == ecuas_values(write_lines(tmp_path / "b.jsonl", rows))
    lines = path.read_text().replace('"model": "m"', '"model": "n"', 1)
    path.write_text(lines)
    with pytest.raises(FileError, match="does not name its model in row 5"):
        read_submissions(path)


def test_a_call_that_failed_and_was_repeated_is_the_answer_of_the_repetition(write):
    questions = draw_questions(2)
    rows = rows_in("openai", questions)
    expected = ecuas_values(write(rows))
    failed = {"id": 4, "labels": rows[4]["labels"], "error": "timeout"}
    assert ecuas_values(write([failed, *rows])) == expected


def test_a_field_of_labels_is_read_for_each_kind_of_question(write):
    questions = draw_questions(2)
    rows = rows_in("openai", questions)
    expected = ecuas_values(write(rows))
    other = [{**row, "labels": None, "truth": {"by": row["labels"]}} for row in rows]
    assert ecuas_values(write(other), columns={"label": "truth.by"}) == expected


@pytest.mark.parametrize("key", ["response", "decision", "text", "body"])
def test_a_response_is_found_under_any_name_and_as_text(write, key):
    questions = draw_questions(2)
    rows = rows_in("openai", questions)
    expected = ecuas_values(write(rows))
    for row in rows:
        response = row.pop("response")
        row[key] = json.dumps(response) if key == "text" else response
        if key == "body":
            row["response"] = {"status_code": 200, "body": row.pop("body")}
    assert ecuas_values(write(rows)) == expected


def test_two_answers_to_questions_of_one_name_are_refused(write):
    (row,) = openai_responses(draw_questions(2), 0)
    row["response"]["answers"] *= 2
    with pytest.raises(FileError, match="questions of one name"):
        read_submissions(write([row, row]))


def test_pooled_scores_keep_what_a_level_costs(tmp_path):
    questions = [draw_question(name, "score", 4, 30, seed) for seed, name in enumerate("ab")]
    path = write_store(tmp_path, "openai", questions)
    pooled = read_submissions(path, columns={"part": "model"})
    (system,) = prepare_submissions(pooled, n=1).values()
    assert values_of(system)["ecuas_1"] == pytest.approx(
        np.mean([ecuas_by_hand(question) for question in questions])
    )
