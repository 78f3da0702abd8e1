"""Columns that may be either of two things are asked or noted about, and each answer that is printed can be given."""

import random
import re
import shlex

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from ecuas_metric import (
    compare_systems,
    confidence_system,
    read_submissions,
    score_confidences,
    score_posteriors,
)
from ecuas_metric.errors import FileError, InputError
from ecuas_metric.files.values import count_distinct
from ecuas_metric.reporting.cli import main
from tests.ecuas_metric.reporting.commanded import by_name, saved

N = 120


@pytest.fixture
def answers(tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    confidence = rng.beta(2, 1, N).round(3)
    return confidence, (rng.random(N) < confidence).astype(int)


def both_readings(confidence, correct):
    posteriors = np.stack([1 - confidence, confidence], axis=1)
    as_class = score_posteriors(correct, posteriors)["error_rate"]
    return [score_confidences(correct, confidence)["error_rate"], as_class]


@pytest.mark.parametrize(("whole", "code"), [(1, -1), (1, 99), (100, 999), (100, -9)])
def test_the_one_number_off_the_scale_of_all_others_may_be_a_code(whole, code, answers, capsys):
    confidence, correct = answers
    coded = np.where(np.arange(N) % 20 == 0, code, whole * confidence)
    for name, cells in (
        ("coded.csv", coded),
        ("empty.csv", np.where(coded == code, np.nan, coded)),
    ):
        table = pd.DataFrame({"confidence": cells, "correct": correct})
        table.to_csv(name, index=False)
    assert main(["score", "coded.csv"]) == 2
    assert f"Is {code} a code for no confidence?" in capsys.readouterr().err
    assert main(["score", "coded.csv", "--scale", str(whole)]) == 2
    assert f"got {code} in row 2 (6 of {N})" in capsys.readouterr().err.replace(".0 in", " in")
    assert main(["score", "empty.csv", "--scale", str(whole)]) == 0


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
def test_several_confidences_beside_one_truth_may_be_systems(truth, answers, rng, capsys):
    confidence, correct = answers
    other = np.clip(confidence + rng.normal(0, 0.1, N), 0, 1).round(3)
    pd.DataFrame({truth: correct, "first": confidence, "second": other}).to_csv("a.csv")
    assert main(["score", "a.csv"]) == 2
    flags = re.findall(r"--columns (\w+:\w+=\w+)", capsys.readouterr().err)
    rows = by_name(
        saved("score", "a.csv", *(part for flag in flags for part in ("--columns", flag)))
    )
    expected = {}
    for name, values in (("first", confidence), ("second", other)):
        expected[name] = both_readings(values, correct)[truth == "y_true"]
    assert {name: row["error_rate"] for name, row in rows.items()} == pytest.approx(expected)


@pytest.mark.parametrize(
    ("before", "after"),
    [("('{}', '", "')"), ("{} $PATH ", ""), ("{}: it's ", ""), ("{}=", "")],
)
def test_printed_names_of_systems_and_columns_are_read_back(before, after, answers, capsys):
    confidence, correct = answers
    columns = {}
    for system in ("gpt4", "llama"):
        columns[f"{before.format(system)}correct{after}"] = correct
        columns[f"{before.format(system)}confidence{after}"] = confidence
    pd.DataFrame(columns).to_csv("a.csv", index=False)
    assert main(["score", "a.csv"]) == 2
    (flags,) = re.findall("these systems[?] (--columns .*)[.] One", capsys.readouterr().err)
    rows = by_name(saved("score", "a.csv", *shlex.split(flags)))
    assert [row["error_rate"] for row in rows.values()] == pytest.approx([1 - correct.mean()] * 2)


@pytest.mark.parametrize("name", ["sure,  correct", "of, label=1 sure"])
def test_no_name_is_printed_that_would_not_be_read_back(name, answers, capsys):
    confidence, correct = answers
    pd.DataFrame({name: confidence, "correct": correct}).to_csv("a.csv", index=False)
    assert main(["score", "a.csv"]) == 2
    assert "--columns confidence=NAME;" in capsys.readouterr().err


@pytest.mark.parametrize("classes", [("0,0", "1,0"), ("it's, $5", 'say "no"'), ("no,", "yes")])
def test_printed_classes_are_read_back(classes, answers, capsys):
    confidence, correct = answers
    true = np.array(classes)[correct]
    pd.DataFrame({"label": true, "prob": confidence}).to_csv("a.csv", index=False)
    chosen = np.array(classes)[(confidence > 0.5).astype(int)]
    table = pd.DataFrame({"label": true, "predicted": chosen, "confidence": confidence})
    table.to_csv("chosen.csv", index=False)
    for name in ("a.csv", "chosen.csv"):
        assert main(["score", name]) == 2
        (flags,) = re.findall(
            "(?:probability of .*?|If it is): (--.*?)(?:; if of|[.]$)", capsys.readouterr().err
        )
        (row,) = by_name(saved("score", name, *shlex.split(flags))).values()
        expected = both_readings(confidence, correct)[1]
        assert row["error_rate"] == pytest.approx(expected, abs=1e-12)


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
    [
        ([f"r{i}" for i in range(N)], "name_other_ids"),
        ([*range(N - 1), "x"], "keep_common"),
    ],
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


def test_predicted_classes_that_are_not_the_likeliest_are_noted(rng, tmp_path):
    posteriors = rng.dirichlet(np.ones(3), N)
    predicted = posteriors.argmax(axis=1)
    table = pd.DataFrame(posteriors, columns=["prob_0", "prob_1", "prob_2"])
    table = table.assign(label=rng.integers(0, 3, N), pred=predicted)
    for changed in (0, 7):
        table.loc[: changed - 1, "pred"] = posteriors.argmin(axis=1)[:changed]
        table.to_csv(tmp_path / "a.csv", index=False)
        (one,) = read_submissions(tmp_path / "a.csv")
        counts = [note.fields["count"] for note in one.notes if note.id == "not_the_likeliest"]
        assert counts == [changed] * bool(changed)


@pytest.mark.parametrize("order", [[0, 1, 2], [1, 2, 0], [2, 0, 1]])
def test_columns_in_another_order_of_classes_are_noted(order, rng, tmp_path):
    true = rng.integers(0, 3, N)
    posteriors = (rng.dirichlet(np.ones(3), N) + 2 * np.eye(3)[true]) / 3
    path = tmp_path / "a.csv"
    table = pd.DataFrame(posteriors[:, order], columns=["prob_0", "prob_1", "prob_2"])
    table.assign(label=true).to_csv(path, index=False)
    (one,) = read_submissions(path)
    assert ("of_other_order" in [note.id for note in one.notes]) == (order != [0, 1, 2])


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


@pytest.mark.parametrize("nothing", ["", None, "N/A", np.nan])
@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_a_row_without_an_id_is_refused(nothing, suffix, answers):
    """Two systems' rows without one would be paired with each other."""
    confidence, correct = answers
    ids = np.arange(N).astype(object) if nothing is not nothing else [f"q{i}" for i in range(N)]
    ids = [nothing, *ids[1:]]
    table = pd.DataFrame({"id": ids, "confidence": confidence, "correct": correct})
    if suffix == "csv":
        table.to_csv("a.csv", index=False)
    elif suffix == "jsonl":
        table.to_json("a.jsonl", orient="records", lines=True)
    else:
        table.astype({"id": float if nothing is not nothing else str}).to_parquet("a.parquet")
    with pytest.raises(FileError, match=r"'id' has no value"):
        read_submissions(f"a.{suffix}")


def test_words_for_nothing_are_ids_among_others_that_look_like_them(answers):
    confidence, correct = answers
    ids = ["NA", "null", *(chr(97 + i // 26) + chr(97 + i % 26) for i in range(N - 2))]
    table = pd.DataFrame({"id": ids, "confidence": confidence, "correct": correct})
    table.to_csv("a.csv", index=False)
    (submission,) = read_submissions("a.csv")
    assert submission.ids.to_pylist() == ids


def test_a_column_without_any_id_is_not_used(answers):
    confidence, correct = answers
    table = pd.DataFrame({"id": "", "confidence": confidence, "correct": correct})
    table.to_csv("a.csv", index=False)
    (submission,) = read_submissions("a.csv")
    assert submission.recipe.unused == (("id", "empty"),)


@pytest.mark.parametrize("nothing", [None, np.nan, pd.NA])
def test_arrays_have_an_id_for_each_sample(nothing, answers):
    confidence, correct = answers
    with pytest.raises(InputError, match=r"^ids must name one for every sample; got .* at index 1"):
        confidence_system(correct, confidence, ids=["a", nothing, *map(str, range(N - 2))])


@pytest.mark.parametrize("table", ["votes of different totals", "small numbers"])
def test_small_numbers_are_no_percentages(table, answers, capsys):
    confidence, correct = answers
    totals = np.random.default_rng(1).integers(10, 40, N)
    columns = {"votes": (totals * confidence).round().astype(int), "of": totals}
    if table == "small numbers":
        columns = {"votes": (40 * confidence).round().astype(int)}
    pd.DataFrame({**columns, "correct": correct}).to_csv("a.csv", index=False)
    for said in ([], ["--columns", "confidence=votes"]):
        assert main(["score", "a.csv", *said]) == 2
        assert "scale 100" not in capsys.readouterr().err


@pytest.fixture
def chosen(answers, rng):
    """Classes that are true and chosen, and how sure a system is."""
    confidence, correct = answers
    true = rng.integers(0, 3, N)
    return pd.DataFrame(
        {"label": true, "predicted": (true + 1 - correct) % 3, "confidence": confidence}
    )


@pytest.mark.parametrize("wrong", [0, 1, 30])
def test_verdicts_are_those_of_the_classes_beside_them(wrong, chosen, answers, capsys):
    verdicts = np.where(np.arange(N) < wrong, 1 - answers[1], answers[1])
    chosen.assign(correct=verdicts).to_csv("a.csv", index=False)
    code = main(["score", "a.csv"])
    said = capsys.readouterr().err
    if not wrong:
        assert code == 0
        assert "Columns 'label' and 'predicted' have 3 classes and are not used" in said
        return
    assert code == 2
    assert f"({wrong} of {N}). Which holds?" in said
    expected = {"correct=correct": verdicts, "label=label,predicted=predicted": answers[1]}
    for columns, right in expected.items():
        assert f"--columns {columns}" in said
        (row,) = by_name(saved("score", "a.csv", "--columns", columns)).values()
        assert row["error_rate"] == pytest.approx(1 - right.mean(), abs=1e-12)


def test_verdicts_on_texts_may_be_by_their_meaning(chosen, answers, capsys):
    texts = chosen.assign(predicted="the " + chosen["label"].astype(str), correct=answers[1])
    texts.to_csv("a.csv", index=False)
    assert main(["score", "a.csv"]) == 0
    assert "classes" not in capsys.readouterr().err


@pytest.mark.parametrize("move", [0, 1, 2])
def test_predicted_classes_that_are_moved_are_noted(move, chosen, rng, capsys):
    wrong = (chosen["label"] + rng.integers(1, 3, N)) % 3
    predicted = chosen["predicted"].where(chosen["predicted"] == chosen["label"], wrong)
    chosen.assign(predicted=(predicted + move) % 3).to_csv("a.csv", index=False)
    assert main(["score", "a.csv"]) == 0
    said = "of rows, more often than by chance: are they in the order of the columns, or counted"
    assert (said in capsys.readouterr().err) == bool(move)


@pytest.mark.parametrize("order", [["yes", "no"], ["no", "yes"]])
def test_the_order_of_columns_is_that_of_the_classes_and_is_said(order, answers, capsys):
    """Of two in the wrong order the note names the right one."""
    confidence, _ = answers
    label = (np.random.default_rng(2).random(N) < confidence).astype(int)
    table = pd.DataFrame({"label": label, "yes": confidence, "no": 1 - confidence})
    table.to_csv("a.csv", index=False)
    columns = "+".join(order)
    assert main(["score", "a.csv", "--columns", f"posteriors={columns}"]) == 0
    printed = capsys.readouterr()
    assert f"P(0)+P(1) = {columns}, label = label" in printed.out
    assert ("--columns posteriors=no+yes." in printed.err) == (order[0] == "yes")


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_row_is_a_repeated_header_where_all_its_cells_are_names(suffix, tmp_path):
    path = tmp_path / f"a.{suffix}"

    def refusal(*rows):
        table = pd.DataFrame([*rows, *rows], columns=["confidence", "correct"])
        writers = {"csv": table.to_csv, "parquet": table.to_parquet}
        if suffix == "jsonl":
            table.to_json(path, orient="records", lines=True)
        else:
            writers[suffix](path, index=False)
        with pytest.raises(FileError) as error:
            read_submissions(path)
        return error.value.rule, error.value.advice

    assert refusal(["0.9", "correct"], ["0.8", "0"]) == ("two_codes", "say_right")
    assert refusal(["0.9", "0"], ["confidence", "correct"])[1] == "skip_rows"
    assert refusal(["0.9", "correct"], ["0.8", "seen"])[1] == "say_right"
