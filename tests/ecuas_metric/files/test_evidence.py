"""Columns that may be either of two things are asked or noted about, and each answer that is printed can be given."""

import json
import random
import re
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from ecuas_metric import compare_systems, confidence_system, read_submissions, score_confidences
from ecuas_metric.errors import InputError
from ecuas_metric.files.evidence import recipe_of
from ecuas_metric.files.read import sheet_of
from ecuas_metric.files.recipe import Reading
from ecuas_metric.files.values import count_distinct, count_distinct_rows, from_texts
from ecuas_metric.reporting.cli import main
from tests.ecuas_metric.files.tables import BASE, CHOSEN, CLASSES, FOUR, LABEL, WRONG, C, N, P, Q, Y
from tests.ecuas_metric.reporting.commanded import by_name, saved

SOME = np.arange(N) % 25 == 0


@pytest.fixture
def answers(tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    confidence = rng.beta(2, 1, N).round(3)
    return confidence, (rng.random(N) < confidence).astype(int)


@pytest.mark.parametrize(("whole", "code"), [(1, -1), (1, 99), (100, 999), (100, -9)])
def test_the_one_number_off_the_scale_of_all_others_may_be_a_code(whole, code, score):
    coded = BASE.assign(confidence=np.where(SOME, code, whole * Q))
    assert f"Is {code} a code for no confidence?" in score("a.csv", coded)[2]
    said = score(f"a.csv --scale {whole}")[2]
    assert f"got {code} in row 2 (8 of 200)" in said.replace(".0 in", " in")
    empty = coded.replace({"confidence": {code: np.nan}})
    assert score(f"a.csv --scale {whole}", empty)[0] == 0


def test_files_and_systems_have_scales_of_their_own(answers, capsys):
    confidence, correct = answers
    percent = (100 * confidence).round(1)
    ids = np.arange(N)
    pd.DataFrame({"id": ids, "confidence": confidence, "correct": correct}).to_csv("a.csv")
    pd.DataFrame({"id": ids, "confidence": percent, "correct": correct}).to_csv("b.csv")
    both = {"id": ids, "p": confidence, "q": percent, "ok": correct}
    pd.DataFrame(both).to_csv("both.csv", index=False)
    assert main(["score", "a.csv", "b.csv", "--scale", "100"]) == 2
    assert "--columns FILE:scale=MAX" in capsys.readouterr().err
    of_files = ["a.csv", "b.csv", "--columns", "b.csv:scale=100"]
    said = ["a:confidence=p,correct=ok", "b:confidence=q,correct=ok,scale=100"]
    of_systems = ["--columns", said[0], "--columns", said[1]]
    assert main(["read", "both.csv", *of_systems, "--output", "recipe.json"]) == 0
    expected = score_confidences(correct, confidence)
    for said in (of_files, ["both.csv", *of_systems], ["both.csv", "--recipe", "recipe.json"]):
        rows = by_name(saved("score", *said))
        assert [rows[name]["ecuas_1"] for name in "ab"] == pytest.approx(
            [expected["ecuas_1"]] * 2, abs=1e-12
        )


@pytest.mark.parametrize("truth", ["correct", "y_true"])
def test_several_confidences_beside_one_truth_may_be_systems(truth, score):
    columns = {"first": Q, "second": Q**2}
    said = score("a.csv", pd.DataFrame({truth: C, **columns}))[2]
    (flags,) = re.findall("not questions to one[?] (--columns .*)[.] One", said)
    rates = {row["system"]: row["error_rate"] for row in score(f"a.csv {flags}")[1]}
    right = {name: (values > 0.5) == C for name, values in columns.items()}
    expected = right if truth == "y_true" else dict.fromkeys(columns, C)
    assert rates == pytest.approx({name: 1 - one.mean() for name, one in expected.items()})


@pytest.mark.parametrize(
    ("before", "after"), [("('{}', '", "')"), ("{} $PATH ", ""), ("{}: it's ", ""), ("{}=", "")]
)
def test_printed_names_of_systems_and_columns_are_read_back(before, after, score, assert_scores):
    columns = {}
    for system in ("gpt4", "llama"):
        columns[f"{before.format(system)}correct{after}"] = C
        columns[f"{before.format(system)}confidence{after}"] = Q
    said = score("a.csv", pd.DataFrame(columns))[2]
    (flags,) = re.findall("not questions to one[?] (--columns .*)[.] One", said)
    assert len(assert_scores("confidences", f"a.csv {flags}")) == 2


@pytest.mark.parametrize("name", ["sure,  correct", "of, label=1 sure"])
def test_no_name_is_printed_that_would_not_be_read_back(name, score):
    said = score("a.csv", BASE.rename(columns={"confidence": name}))[2]
    assert "--columns confidence=NAME;" in said


@pytest.mark.parametrize("classes", [("0,0", "1,0"), ("it's, $5", 'say "no"'), ("no,", "yes")])
def test_printed_classes_are_read_back(classes, score, assert_scores):
    names = np.array(classes)
    shares = pd.DataFrame({"label": names[Y], "prob": P})
    chosen = shares.rename(columns={"prob": "confidence"}).assign(predicted=names[(P > 0.5) * 1])
    for table in (shares, chosen):
        said = score("a.csv", table)[2]
        (flags,) = re.findall("(?:probability of .*?|If it is): (--.*?)(?:; if of|[.]$)", said)
        assert_scores("binary", f"a.csv {flags}")


@pytest.mark.parametrize(
    ("first", "size", "advice"), [(1, N, "pair_by_row"), (1, 9, "keep_common")]
)
def test_ids_that_count_rows_from_0_and_from_1_are_of_the_same_rows(first, size, advice, answers):
    confidence, correct = answers
    one = confidence_system(correct, confidence, ids=np.arange(N), confidence_level=0.95)
    kept = slice(size)
    ids = np.arange(first, first + size)
    other = confidence_system(correct[kept], confidence[kept], ids=ids, confidence_level=0.95)
    with pytest.raises(InputError) as raised:
        compare_systems({"one": one, "other": other})
    assert raised.value.advice == advice


@pytest.mark.parametrize(
    ("ids", "advice"),
    [([f"r{i}" for i in range(N)], "name_other_ids"), ([*range(N - 1), "x"], "keep_common")],
)
def test_other_ids_are_not_paired_by_row_on_advice(ids, advice, answers, rng):
    """As those of other questions, or of the same in another order."""
    confidence, correct = answers
    one = confidence_system(correct, confidence, ids=range(N), confidence_level=0.95)
    order = rng.permutation(N)
    ids = [ids[row] for row in order]
    other = confidence_system(correct[order], confidence, ids=ids, confidence_level=0.95)
    with pytest.raises(InputError) as raised:
        compare_systems({"one": one, "other": other})
    assert raised.value.advice == advice


@pytest.mark.parametrize("suffix", ["", "x"], ids=["same ids", "other ids"])
def test_rows_that_are_paired_against_their_ids_are_noted(suffix, answers, capsys):
    confidence, correct = answers
    table = pd.DataFrame({"id": range(N), "confidence": confidence, "correct": correct})
    table.to_csv("a.csv", index=False)
    for start, differ in ((0, bool(suffix)), (3, True)):
        moved = table.assign(id=[f"{(i + start) % N}{suffix}" for i in range(N)])
        moved.to_csv("b.csv", index=False)
        assert main(["compare", "a.csv", "b.csv", "--by-position", "--metrics", "ER"]) == 0
        said = f"b: its ids are not those of a in {N} of {N} rows, which are paired all the same."
        assert (said in capsys.readouterr().err) == differ


@pytest.mark.parametrize("flags", [["--columns", "id=id"], ["--by-position"], ["--common"]])
def test_systems_whose_true_classes_differ_are_not_paired(flags, answers, rng, capsys):
    """Chosen classes with confidences say what is true of each sample, as posteriors do."""
    names = np.array(["bird", "cat", "dog"])
    true = rng.integers(0, 3, N)
    for name, shift in (("a", 0), ("b", 0), ("shifted", 1)):
        table = pd.DataFrame({"id": np.arange(N), "label": np.roll(names[true], shift)})
        chosen = np.where(rng.random(N) < 0.7, true, (true + 1) % 3)
        table["predicted"] = np.roll(names[chosen], shift)
        table.assign(confidence=rng.random(N).round(3)).to_csv(f"{name}.csv", index=False)
    metrics = ["--metrics", "ER"]
    assert main(["compare", "a.csv", "b.csv", *flags, *metrics]) == 0
    capsys.readouterr()
    assert main(["compare", "a.csv", "shifted.csv", *flags, *metrics]) == 2
    differ = np.roll(true, 1) != true
    first = f"{'at index' if flags == ['--by-position'] else 'with id'} '?{np.argmax(differ)}'?[.]"
    counted = f"true classes of {np.count_nonzero(differ)} of {N} samples, the first {first}"
    assert re.search(counted, capsys.readouterr().err)


def test_a_comparison_of_one_system_names_the_column_of_systems(answers, capsys):
    confidence, correct = answers
    table = pd.DataFrame({"confidence": confidence, "correct": correct})
    methods = [table.assign(id=np.arange(N), method=name) for name in ("plain", "verbal")]
    pd.concat(methods).to_csv("a.csv", index=False)
    assert main(["compare", "a.csv"]) == 2
    (said,) = re.findall(r"--columns (system=\w+)", capsys.readouterr().err)
    assert main(["compare", "a.csv", "--columns", said]) == 0
    pd.concat(methods).drop(columns="id").to_csv("a.csv", index=False)
    assert main(["compare", "a.csv"]) == 2
    assert f"--columns {said}" in capsys.readouterr().err


def test_systems_by_epochs_are_noted_where_no_column_alone_tells_rows_of_an_id_apart(score):
    parts = [BASE.assign(method=name, epoch=epoch) for name in "ab" for epoch in (1, 2)]
    table = pd.concat(parts)
    code, _, said = score("a.csv", table)
    assert (code, "600 of 800 ids" in said) == (0, True)
    assert re.findall(r"--columns (system=\w+)", said) == ["system=method", "system=epoch"]
    for columns, count in (("group=id,system=method", 2), ("system=method+epoch", 4)):
        code, rows, said = score(f"a.csv --columns {columns}", table)
        assert (code, len(rows), "system=" in said) == (0, count, False)


@pytest.mark.parametrize(
    ("repeated", "is_refused"), [(1, False), (60, False), (70, True), (100, True)]
)
def test_a_column_tells_systems_apart_where_ids_recur_often(repeated, is_refused, score):
    """One text of a question that is asked twice has another value in nearly any column."""
    questions = [f"q{k % (N - repeated)}" for k in range(N)]
    is_second = np.arange(N) >= N - repeated
    said = score("a.csv", BASE.assign(id=questions, subject=np.where(is_second, "art", "law")))[2]
    assert ("Does 'subject' name systems?" in said) == is_refused


def test_a_column_that_numbers_the_rows_of_all_systems_is_proposed_as_ids(answers, rng, capsys):
    confidence, correct = answers
    table = pd.DataFrame({"confidence": confidence, "correct": correct})
    table.to_csv("a.csv")
    table.assign(confidence=rng.random(N)).sample(frac=1, random_state=0).to_csv("b.csv")
    compare = ["compare", "a.csv", "b.csv", "--metrics", "ecuas_1", "--output", "out.json"]
    assert main(compare) == 2
    (said,) = re.findall('--columns "(.*?)"', capsys.readouterr().err)
    assert said == "id=Unnamed: 0"
    assert main([*compare, "--columns", said]) == 0
    assert "paired by id" in capsys.readouterr().out


@pytest.mark.parametrize("kind", [pa.large_string(), pa.int64()])
def test_as_many_values_differ_as_a_set_has(kind):
    """In order or not: q9 before q10, 7 beside 07, numbers, and nulls."""
    chosen = random.Random(1)
    values = ["", "a", "b", "aa", "7", "07", "10", "é", None]
    for size in [0, 1, 2, 3, 5] * 200:
        sample = chosen.choices(values if kind != pa.int64() else [1, 2, 3, None], k=size)
        for ordered in (sample, sorted(sample, key=lambda value: (len(str(value)), str(value)))):
            assert count_distinct(pa.array(ordered, kind)) == len(set(sample))


@pytest.mark.parametrize("ordered", [list, sorted])
def test_as_many_rows_differ_as_a_set_has(ordered):
    """Of a column of texts, and of three, one of numbers, whose joined texts may be in order."""
    chosen = random.Random(2)
    for size in [1, 2, 3, 5, 8] * 100:
        rows = ordered(
            (chosen.choice(["a", "b"]), chosen.choice(["q9", "q10", "7"]), chosen.randrange(2))
            for _ in range(size)
        )
        texts, ids, numbers = map(list, zip(*rows, strict=True))
        columns = [*map(from_texts, (texts, ids)), pa.array(numbers, pa.int64())]
        assert count_distinct_rows(columns) == len(set(rows))
        assert count_distinct_rows(columns[:1]) == len(set(texts))


def test_grades_of_five_levels_are_no_verdicts_with_codes_for_none(score):
    graded = score("a.csv", BASE.assign(correct=np.arange(N) % 5))[2]
    coded = score("a.csv", BASE.assign(correct=np.where(np.arange(N) % 9, C, 9)))[2]
    assert "Partly correct? --correct-from" in graded
    assert "No verdict? Leave these cells empty." in coded


@pytest.mark.parametrize("engine", ["", " --out-of-core"])
@pytest.mark.parametrize(
    ("grades", "cut", "said"),
    [
        (1 + C, 1, "All 200 grades, from 1 to 2, count as right: none is below 1."),
        (1 + C, 3, "All 200 grades, from 1 to 2, count as wrong: all are below 3."),
        (np.where(SOME, 99, C), 1, "8 grades are 99, far from all others"),
        (1 + C, 2, ""),
        (np.where(SOME, 2, C), 2, ""),
    ],
)
def test_grades_that_no_cut_divides_and_codes_among_them_are_noted(
    grades, cut, said, engine, score
):
    table = BASE.assign(correct=grades)
    code, _, notes = score(f"a.parquet --correct-from {cut}{engine}", table)
    assert (code, said in notes, "grades" in notes) == (0, True, bool(said))


@pytest.mark.parametrize("engine", ["", " --out-of-core"])
@pytest.mark.parametrize(("least", "flag"), [(1, "5"), (0, "5"), (1, "1:5")])
def test_ratings_from_1_on_a_scale_from_0_are_noted(least, flag, engine, score):
    table = BASE.assign(confidence=np.arange(N) % (6 - least) + least)
    said = "No confidence is below 1 on a scale from 0 to 5, on which 1 counts as 0.2."
    for rows in (9, 10, N):  # of fewer than ten it may be chance
        code, _, notes = score(f"a.parquet --scale {flag}{engine}", table[:rows])
        assert (code, said in notes) == (0, least == 1 and flag == "5" and rows > 9)


@pytest.mark.parametrize("nothing", ["", None, "N/A", np.nan])
@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_a_row_without_an_id_is_refused(nothing, suffix, score):
    """Two systems' rows without one would be paired with each other."""
    kind = float if nothing is not nothing else object
    ids = range(1, 200) if kind is float else BASE["id"][1:]
    table = BASE.assign(id=pd.Series([nothing, *ids], dtype=kind))
    assert "'id' has no value" in score(f"a.{suffix}", table)[2]


def test_words_for_nothing_are_ids_among_others_that_are_words(tmp_path):
    ids = ["NA", "null", *(chr(97 + i // 26) + chr(97 + i % 26) for i in range(198))]
    BASE.assign(id=ids).to_csv(tmp_path / "a.csv", index=False)
    (submission,) = read_submissions(tmp_path / "a.csv")
    assert submission.ids.to_pylist() == ids


def test_a_column_without_any_id_is_not_used(score):
    assert "not used: id (empty)" in score("a.csv", BASE.assign(id=""))[2]


@pytest.mark.parametrize("nothing", [None, np.nan, pd.NA])
def test_arrays_have_an_id_for_each_sample(nothing, answers):
    confidence, correct = answers
    with pytest.raises(InputError, match=r"^ids must name one for every sample; got .* at index 1"):
        confidence_system(correct, confidence, ids=["a", nothing, *map(str, range(N - 2))])


@pytest.mark.parametrize("totals", [10 + np.arange(N) % 30, None])
def test_small_numbers_are_no_percentages(totals, score):
    """As votes of different totals, or of unknown ones."""
    votes = (Q * (40 if totals is None else totals)).round().astype(int)
    table = pd.DataFrame({"votes": votes, "correct": C})
    table = table if totals is None else table.assign(of=totals)
    for said in ("", "--columns confidence=votes"):
        assert "scale 100" not in score(f"a.csv {said}", table)[2]


@pytest.mark.parametrize("wrong", [0, 1, 30])
def test_verdicts_are_those_of_the_classes_beside_them(wrong, score):
    verdicts = np.where(np.arange(N) < wrong, WRONG, ~WRONG)
    code, _, said = score("a.csv", CHOSEN.assign(correct=verdicts))
    if not wrong:
        assert code == 0
        assert "Columns 'label' and 'predicted' have 4 classes and are not used" in said
        return
    assert f"({wrong} of 200). Which holds?" in said
    expected = {"correct=correct": verdicts, "label=label,predicted=predicted": ~WRONG}
    for columns, right in expected.items():
        assert f"--columns {columns}" in said
        (row,) = score(f"a.csv --columns {columns}")[1]
        assert row["error_rate"] == pytest.approx(1 - right.mean(), abs=1e-12)


def test_verdicts_on_texts_may_be_by_their_meaning(score):
    code, _, said = score("a.csv", CHOSEN.assign(predicted="the " + CHOSEN["label"], correct=C))
    assert (code, "classes" in said) == (0, False)


@pytest.mark.parametrize("columns", ["yes+no", "no+yes"])
def test_the_order_of_columns_is_that_of_the_classes_and_is_said(columns, score):
    """Of two in the wrong order the note names the right one."""
    table = pd.DataFrame({"label": Y, "yes": P, "no": 1 - P})
    said = score(f"a.csv --columns posteriors={columns}", table)[2]
    assert f"P(0)+P(1) = {columns}, label = label" in said
    assert ("--columns posteriors=no+yes." in said) == (columns == "yes+no")


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    ("rows", "advice"),
    [
        ([["0.9", "correct"], ["0.8", "0"]], "Only you know which"),
        ([["0.9", "0"], ["confidence", "correct"]], "Leave such rows out"),
        ([["0.9", "correct"], ["0.8", "seen"]], "Only you know which"),
    ],
)
def test_a_row_is_a_repeated_header_where_all_its_cells_are_names(rows, advice, suffix, score):
    table = pd.DataFrame(2 * rows, columns=["confidence", "correct"])
    assert advice in score(f"a.{suffix}", table)[2]


@pytest.mark.parametrize("ends", [[0, 0.25, 0.5, 0.75, 1], [0, 1], [0, *np.arange(50, 100) / 100]])
def test_ends_of_the_scale_that_are_like_others_or_mostly_wrong_are_confidences(ends, score, rng):
    confidence = rng.choice(ends, N, p=[0.3, *[0.7 / (len(ends) - 1)] * (len(ends) - 1)])
    right = rng.random(N) < (confidence if len(ends) > 5 else 0.5)
    table = pd.DataFrame({"confidence": confidence, "correct": right * 1})
    code, _, said = score("a.csv", table)
    assert (code, "code for no confidence" in said) == (0, False)


@pytest.mark.parametrize(
    ("num_classes", "share"), [(3, 0), (3, 0.5), (10, 0.2), (40, 0), (40, 0.5)]
)
def test_weak_classifiers_are_not_said_to_number_classes_otherwise(num_classes, share):
    said = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        frequency = rng.dirichlet(np.ones(num_classes))
        true, other = rng.choice(num_classes, (2, 400), p=frequency)
        chosen = np.where(rng.random(400) < share, true, other)
        columns = {"label": true, "predicted": chosen, "confidence": rng.random(400)}
        recipe = recipe_of(sheet_of(pd.DataFrame(columns)), Reading(), rows=400)
        said += [note.id for note in recipe.notes]
    assert "of_other_numbers" not in said


@pytest.mark.parametrize("sizes", [(5, 5), (4, 4, 4), (2, 3, 4, 5)])
def test_probabilities_that_sum_to_1_are_of_the_classes_of_a_sample_if_one_is_true(sizes, score):
    """Several true ones, or none, are verdicts on several answers."""
    questions = np.repeat(np.arange(len(sizes)), sizes)
    share = np.concatenate([np.full(size, 1 / size) for size in sizes])
    first = np.concatenate([np.arange(size) == 0 for size in sizes])
    table = pd.DataFrame({"id": questions, "answer": range(len(share)), "confidence": share})
    for truth, is_refused in ((first, True), (~first, False)):
        said = score("a.csv", table.assign(correct=truth * 1))[2]
        assert ("Make one row of the rows of each sample" in said) == is_refused
    assert score("a.csv --columns group=id", table.assign(correct=first * 1))[0] == 0


@pytest.mark.parametrize("left_out", [0, 1, 40])
def test_systems_whose_rows_are_mixed_and_of_unequal_number_are_not_pooled(left_out, score):
    questions = np.tile(np.arange(N // 2), 2)
    table = pd.DataFrame({"method": np.repeat(["a", "b"], N // 2), "stem": questions + 1000})
    table = table.assign(confidence=Q, correct=C).sample(frac=1, random_state=0)
    code, _, said = score("a.csv", table.iloc[left_out:])
    assert (code, "column 'stem' repeats values" in said) == (2, True)
    assert "--columns system=method." in said
    assert score("a.csv --columns system=method,id=stem")[0] == 0


def test_answers_without_confidence_and_verdict_are_samples_where_all_rows_have_a_question(score):
    failed = np.arange(N) % 50 == 0
    table = pd.DataFrame({"stem": np.arange(N) ** 2, "confidence": Q, "correct": C})
    table.loc[failed, ["confidence", "correct"]] = np.nan
    _, results, _ = score("a.csv --unlabelled bounds", table)
    assert results[0]["N"] == N
    table.loc[failed, "stem"] = np.nan
    code, _, said = score("a.csv", table.assign(log=np.where(failed, "x", None)))
    assert (code, "no other column that is used has one in row 2 (4 of 200)" in said) == (2, True)
    assert "skip=2+52+102+152" in said


@pytest.mark.parametrize("longer", [0, 7, N - 1, N])
def test_lists_of_which_one_part_is_read_and_some_have_others_are_noted(longer, score):
    lists = [[c] + (k < longer) * [1 - c] for k, c in enumerate(C.tolist())]
    table = BASE.assign(correct=[json.dumps({"of": one}) for one in lists])
    said = score("a.csv --columns correct=correct.of.0", table)[2]
    note = f"In {longer} of 200 rows the list 'correct.of' is longer than in the others"
    assert (note in said) == (0 < longer < N)


@pytest.mark.parametrize("by_id", [True, False])
def test_a_measure_that_two_samples_share_is_no_question(by_id, score):
    times = np.arange(N) * 1.5 + 300
    times[1] = times[0]
    table = BASE.assign(rt=times, key=np.where(np.arange(N) % 2, "left", "right"))
    columns = table.columns if by_id else table.columns.drop("id")
    assert score("a.csv", table[columns])[0] == 0


def test_cases_of_several_readers_in_several_ways_are_of_the_systems_of_both(score):
    grid = pd.MultiIndex.from_product([range(N // 8), ["r1", "r2", "r3", "r4"], ["ct", "mr"]])
    table = grid.set_names(["case", "reader", "way"]).to_frame(index=False)
    table = table.assign(confidence=Q, correct=C).sample(frac=1, random_state=0)
    said = score("a.csv", table)[2]
    assert "--columns system=reader+way" in said
    assert "--columns system=reader+way" in score("a.csv --columns system=reader")[2]
    _, systems, _ = score("a.csv --columns system=reader+way,id=case")
    assert [row["N"] for row in systems] == [N // 8] * 8
    assert (
        score("a.csv --columns group=case")[0] == 0
    )  # one system, whose answers depend on each other


@pytest.mark.parametrize(
    ("flags", "advice"),
    [
        ("--columns system=key --columns system=id", "system=key+id"),
        ("--weight w --columns weight=id", ""),
        ("--columns confidence=w,confidence=confidence", ""),
    ],
)
def test_a_role_is_said_once(flags, advice, score):
    table = BASE.assign(key="a", w=1)
    code, _, said = score(f"a.csv {flags}", table)
    assert (code, "--columns must name the columns of a role once" in said) == (2, True)
    assert advice in said
    assert (
        score("a.csv --columns confidence=w --columns a.csv:confidence=confidence", table)[0] == 0
    )


def test_ids_that_the_user_names_are_taken_at_his_word(score):
    table = pd.DataFrame({"event": range(N), "sample": np.arange(N) // 2, "type": ["x", "y"] * 100})
    table = table.assign(confidence=Q, correct=C)
    assert "'sample' repeats values" in score("a.csv", table)[2]
    assert score("a.csv --columns id=event")[0] == 0


def test_rows_without_a_value_that_is_used_are_noted_beside_a_column_that_all_rows_have(score):
    table = pd.DataFrame({"event": ["answer"] * N, "confidence": Q, "correct": C})
    table.loc[[3, 9], ["confidence", "correct"]] = np.nan
    _, _, said = score("a.csv --unlabelled bounds", table)
    assert "in 2 of the rows, the first of which is row 5" in said
    (flags,) = re.findall(r"--columns \"(.*?)\"", said)
    assert score(f"a.csv --columns {flags}")[1][0]["N"] == N - 2


@pytest.mark.parametrize("around", ["({})", "It is {}.", "{} \N{EM DASH} surely"])
def test_a_class_within_a_predicted_text_is_another_text_and_is_said(around, score):
    table = CHOSEN.copy()
    table.loc[SOME, "predicted"] = table.label[SOME].map(around.format)
    _, _, said = score("a.csv", table)
    assert f"In {SOME.sum()} of 200 rows the predicted text has the true one within it" in said
    assert "within it" not in score("a.csv", CHOSEN.replace("cat", "catfish"))[2]


def test_systems_named_within_objects_are_noted_beside_ids_of_each_row(score):
    rows = [
        {"id": f"{i:x}-q", "case": i % 100, "by": {"name": "ab"[i // 100]}, "sure": q, "ok": int(c)}
        for i, (q, c) in enumerate(zip(Q, C, strict=True))
    ]
    said = score("a.json", json.dumps(rows))[2]
    flags = "--columns confidence=sure,correct=ok"
    for then in (said.partition(" Then: ")[2], score(f"a.json {flags}")[2]):
        assert "'case' repeats values, which are unique together with" in then
        assert "--columns system=by.name. Several answers to each question?" in then
    _, systems, said = score(f"a.json {flags},system=by.name,id=case")
    assert ([row["N"] for row in systems], "repeats values" in said) == ([100, 100], False)


@pytest.mark.parametrize("labels", [["0", "1"], ["no", "yes"]])
def test_a_probability_whose_half_divides_the_classes_that_are_predicted_is_of_the_second(
    labels, score
):
    table = pd.DataFrame({"sold": np.take(labels, Y), "p_sold": P})
    assert "marks right answers" in score("a.csv", table)[2]
    said = score("a.csv", table.assign(guess=np.take(labels, (P > 0.5).astype(int))))[2]
    (flags,) = re.findall(r"They seem to be these: (--columns positive=p_sold.*)\.", said)
    (row,) = score(f"a.csv {flags}")[1]
    assert row["error_rate"] == pytest.approx(np.mean((P > 0.5) != Y))


@pytest.mark.parametrize("name", ["semantic_entropy", "Perplexity", "variance of votes", "margin"])
def test_what_is_no_probability_by_its_name_is_not_proposed_as_one(name, score):
    for values in (Q, 1 - Q):
        said = score("a.csv", pd.DataFrame({"correct": C, name: values}))[2]
        assert f"={name}" not in said
        assert f"=1-{name}" not in said


def test_vectors_of_spark_in_json_are_posteriors_beside_their_logits(score):
    rows = [
        {"label": float(label), "prediction": float(np.argmax(row)), **_vectors_of_spark(row)}
        for row, label in zip(FOUR, LABEL, strict=True)
    ]
    said = score("a.json", json.dumps(rows))[2]
    assert said.endswith("They seem to be these: --columns posteriors=probability.\n")
    (row,) = score("a.json --columns posteriors=probability")[1]
    assert row["error_rate"] == pytest.approx(WRONG.mean())


def _vectors_of_spark(row):
    logits = np.log(row) + 3
    columns = {"rawPrediction": logits, "probability": row}
    return {name: {"type": 1, "values": one.tolist()} for name, one in columns.items()}


@pytest.mark.parametrize(("low", "advice"), [(0, "Map it to"), (-400, "Margins")])
def test_numbers_that_are_never_negative_are_no_margins(low, advice, score):
    table = pd.DataFrame({"label": Y, "points": (P * 900 + low).round()})
    assert advice in score("a.csv --columns positive=points", table)[2]


@pytest.mark.parametrize("pair", ["Correct/Wrong", "right/incorrect", "SUCCESS/failure"])
def test_words_for_right_and_wrong_go_together(pair, score):
    right, wrong = pair.split("/")
    table = BASE.assign(correct=np.where(C == 1, right, wrong))
    (row,) = score("a.csv", table)[1]
    assert row["error_rate"] == pytest.approx(1 - C.mean())


def test_an_error_says_what_would_be_asked_next_if_its_advice_was_followed(score):
    stars = np.digitize(Q, [0.2, 0.4, 0.6, 0.8]) + 1
    table = pd.DataFrame({"Item": BASE.id, "Key": CHOSEN.label, "Reply": CHOSEN.predicted})
    rows = table.assign(Confidence=stars).to_csv(index=False)
    said = score("a.csv", rows)[2]
    first, then = said.split(" Then: ")
    (flags,) = re.findall(r"how sure it is: (--columns \S+);", first)
    assert score(f"a.csv {flags}")[2] == f"ecuas: a.csv: {then}"
    titled = score("a.csv", f"Ratings,,,\n{rows}")[2]
    (skip,) = re.findall(r"Leave such rows out: --columns (\S+)\.", titled.split(" Then: ")[0])
    assert titled.endswith(
        f"Then: {score(f'a.csv --columns {skip}')[2].removeprefix('ecuas: a.csv: ')}"
    )


def test_words_for_right_and_wrong_are_those_of_all_systems(score):
    two = BASE.assign(system="a", correct=np.where(C, "C", "S"))
    three = two.assign(system="b", correct=np.where(SOME, "I", two.correct))
    assert "has two codes" in score("a.csv", pd.concat([two, two.assign(system="b")]))[2]
    said = score("a.csv", pd.concat([two, three]))[2]
    assert "two codes" not in said
    assert re.search(rf"got '[SI]' in row \d+ \(\d+ of {2 * N}\)", said)
    (flags,) = re.findall(r"--right=\S+", said)
    assert score(f"a.csv {flags}")[0] == 0


def test_the_columns_of_systems_are_said_where_some_alternatives_are_refused_and_some_noted(score):
    shares = np.round(20 * Q) / 20
    people = pd.DataFrame({"Person": np.arange(N) // 40, "Trial": np.arange(N) % 40})
    first, then = score("a.csv", people.assign(sure=shares, recall=C))[2].split(" Then: ")
    of_right, of_class = re.findall(r"--columns (?:confidence=s|positive=)\S+(?=;|\.)", first)
    assert score(f"a.csv {of_right}")[2] == f"ecuas: a.csv: {then}"
    code, _, noted = score(f"a.csv {of_class}")
    (flags,) = re.findall(r"name systems\? (--columns \S+)\. Several", then)
    assert (code, flags in noted) == (0, True)


def test_a_row_for_each_score_is_no_row_for_each_answer(score):
    sure = BASE.assign(confidence=(1 + Q) / 2)
    table = sure.melt("id", var_name="name", value_name="value")
    assert "=value" not in score("a.csv", table)[2]
    assert (
        "=value"
        in score("a.csv", table.replace({"name": {"confidence": "no", "correct": "yes"}}))[2]
    )


def test_the_likeliest_classes_and_their_probabilities_are_the_chosen_and_how_sure_it_is(score):
    order = np.argsort(-FOUR, axis=1)
    columns = {f"prob_{k}": FOUR[np.arange(N), order[:, k]] for k in range(3)}
    table = pd.DataFrame({"target": LABEL, **columns})
    assert "--columns posteriors=prob_0+prob_1+prob_2." in score("a.csv", table)[2]
    table = table.assign(**{f"index_{k}": order[:, k] for k in range(3)})
    (flags,) = re.findall(r"has the likeliest class: (\S+ \S+);", score("a.csv", table)[2])
    (row,) = score(f"a.csv {flags}")[1]
    assert row["error_rate"] == pytest.approx(WRONG.mean())


def test_true_classes_as_a_1_among_0s_beside_their_posteriors_are_labels(score):
    arrays = {"y_true": np.eye(4, dtype=int)[LABEL], "probs": FOUR}
    (row,) = score("a.npz --columns posteriors=probs_", arrays)[1]
    assert row["error_rate"] == pytest.approx(WRONG.mean())
    assert "y_true_0" in score("a.npz", {**arrays, "probs": FOUR[:, :3]})[2]


def test_a_column_is_proposed_for_another_role_than_that_of_its_name_if_it_cannot_have_that(score):
    of_classes = pd.DataFrame(FOUR, columns=[f"sure.{name}" for name in CLASSES])
    table = of_classes.assign(correct=CHOSEN.label, prediction=CHOSEN.predicted)
    assert "--columns label=correct,posteriors=sure.cat+" in score("a.csv", table)[2]
    answers = pd.DataFrame(
        {"label": "INSULT", "score": Q, "answer": np.take(["reject", "accept"], C)}
    )
    said = score("a.csv", answers)[2]
    assert "confidence=score,correct=answer --right=accept/reject" in said


@pytest.mark.parametrize("large", [np.inf, -1e300])
def test_a_confidence_that_is_too_large_to_square_is_named_and_nothing_else_is_said(large, score):
    table = BASE.assign(confidence=np.where(np.arange(N) == 7, large, Q * 100))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for flags in ("", " --scale 100"):
            assert "must lie" in score(f"a.csv{flags}", table)[2]


def test_labels_are_those_one_of_which_the_probability_is_called_after(score):
    sold = np.take(["Kept", "Sold"], Y)
    table = pd.DataFrame({"sex": np.take(["F", "M"], C), "state": sold, "P_Sold": P})
    assert "label=state,positive=P_Sold --labels Kept,Sold" in score("a.csv", table)[2]


def test_what_is_empty_is_no_text_of_a_column(score):
    table = BASE.assign(note=np.where(np.arange(N) % 3, None, "seen"))
    assert "not used: note (1 text)" in score("a.csv", table)[2]
