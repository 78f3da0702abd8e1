import re

import numpy as np
import pandas as pd
import pytest

from ecuas_metric import prepare_submissions, read_submissions, score_frame, score_posteriors
from ecuas_metric.errors import FileError, InputError
from ecuas_metric.files.submissions import UNLABELLED_ADVICE
from ecuas_metric.files.systems import prepare_submission
from ecuas_metric.messages import ADVICE
from ecuas_metric.results import compute_results
from tests.ecuas_metric.files.tables import read_content


def write(path, content):
    path.write_bytes(read_content(content, path.suffix))
    return path


def only(path, **options):
    (submission,) = read_submissions(path, **options)
    return submission


def test_digits_survive_csv(tmp_path):
    value = 0.1234567890123456789
    read = only(write(tmp_path / "a.csv", f"confidence,correct\n{value!r},1\n")).predictions[0]
    assert read == pytest.approx(value, rel=2e-16)  # pandas before 3.1 may err by the last bit


@pytest.mark.parametrize("prefix", ["prob_", "p", "logit_"])
def test_posteriors_in_columns_are_put_in_the_order_of_their_numbers(prefix, tmp_path):
    head = ",".join([f"{prefix}{k}" for k in (10, 2, 1, 0, *range(3, 10))])
    submission = only(write(tmp_path / "a.csv", f"{head},label\n10,2,1,0,3,4,5,6,7,8,9,4\n"))
    assert submission.form == "posteriors"
    assert submission.predictions.tolist() == [list(range(11))]


@pytest.mark.parametrize("names", [["low", "medium", "high"], ["9", "100", "10"]])
@pytest.mark.parametrize(
    "cost", ["zero_one", "absolute", [[0, 1, 3, 0.5], [2, 0, 1, 0.5], [4, 1, 0, 0.5]]]
)
def test_classes_have_the_order_of_their_columns_and_those_of_mappings_are_sorted(names, cost):
    rng = np.random.default_rng(1)
    posteriors = rng.permuted(np.tile([0.4, 0.4, 0.2], (60, 1)), axis=1)  # with ties
    columns = pd.DataFrame(posteriors, columns=names)
    label = rng.choice(names, 60)
    ordered = sorted(names, key=float) if names[0] == "9" else sorted(names)
    mappings = pd.DataFrame({"posteriors": columns.to_dict("records")})
    for table, order in (
        (columns, names),
        (columns[names[::-1]], names[::-1]),
        (mappings, ordered),
    ):
        truth = [order.index(name) for name in label]
        expected = dict(score_posteriors(truth, columns[order].to_numpy(), cost=cost))
        frame = table.assign(label=label)
        (system,) = prepare_submissions(read_submissions(frame), cost=cost).values()
        for found in (score_frame(frame, cost=cost), compute_results(system)):
            flat = found.flat()
            assert {key: flat[key] for key in expected} == pytest.approx(expected)


@pytest.mark.parametrize("scale", [0, -1, "5:1", "2:2", "x", "nan", "inf"])
def test_a_scale_rises(scale):
    with pytest.raises(InputError, match=f"^scale must be .* LOW < HIGH; got '?{scale}"):
        read_submissions(pd.DataFrame({"confidence": [1, 5], "correct": [0, 1]}), scale=scale)


@pytest.mark.parametrize("truth", ["label", "y_true"])
def test_lists_that_are_joined_have_no_role_of_their_own(truth):
    lists = {"labels": [["a", "b"], ["b", "a"]], "scores": [[0.9, 0.1], [0.2, 0.8]]}
    frame = pd.DataFrame({**lists, truth: ["a", "b"]})
    with pytest.raises(FileError, match="'labels' has names of classes, in each row as many as"):
        read_submissions(frame)
    (submission,) = read_submissions(frame, columns={"posteriors": "labels+scores"})
    assert submission.predictions.tolist() == [[0.9, 0.1], [0.8, 0.2]]
    assert submission.references.tolist() == [0, 1]


def test_a_column_of_systems_is_several_systems(tmp_path):
    path = write(
        tmp_path / "a.csv",
        "model,llm,confidence,correct,id\na,x,0.9,1,1\nb,x,0.8,0,1\na,y,0.7,1,2\n",
    )
    with pytest.raises(FileError, match="two columns may be system; got model and llm, which"):
        read_submissions(path)
    submissions = read_submissions(path, columns={"system": "model"})
    assert {submission.name: submission.ids.tolist() for submission in submissions} == {
        "a": ["1", "2"],
        "b": ["1"],
    }
    submissions = read_submissions(path, columns={"system": "model+llm"})
    assert [submission.name for submission in submissions] == ["a x", "b x", "a y"]


@pytest.mark.parametrize(
    ("weight", "share", "said"), [("", 1 / 3, "33.3%"), ("w", 0.5, "50.0% by weight")]
)
def test_unlabelled_answers_are_an_error_or_counted(weight, share, said, tmp_path):
    path = write(tmp_path / "a.csv", "confidence,correct,id,w\n0.9,1,x,1\n0.8,,y,2\n0.7,0,z,1\n")
    with pytest.raises(
        ValueError, match=r"'correct' has no value in row 3 \(1 of 3\)\. Label them, count them as"
    ):
        read_submissions(path)
    kept = (["x", "y", "z"], [1, 0, 0], [False, True, False])
    left = (["x", "z"], [1, 0], [False, False])
    for rule, (ids, truth, rows) in {"bounds": kept, "wrong": kept, "drop": left}.items():
        submission = only(path, unlabelled=rule, columns={"weight": weight} if weight else None)
        assert (submission.ids.tolist(), submission.references.tolist()) == (ids, truth)
        assert (submission.unlabelled.rule, submission.unlabelled.rows.tolist()) == (rule, rows)
        assert submission.unlabelled.share == pytest.approx(share)
        (note,) = submission.notes
        assert (
            str(note)
            == f"1 of 3 answers ({said}) are unlabelled. {ADVICE[UNLABELLED_ADVICE[rule]]}"
        )


def test_a_label_that_is_missing_has_no_bounds(tmp_path):
    path = write(tmp_path / "a.csv", "prob_0,prob_1,label\n0.9,0.1,0\n0.8,0.2,\n")
    for rule in (None, "bounds", "wrong"):
        with pytest.raises(
            ValueError, match=r"column 'label' has no value in row 3 .* unlabelled='drop'\.$"
        ):
            read_submissions(path, unlabelled=rule)
    assert only(path, unlabelled="drop").references.tolist() == [0]


def test_ids_are_the_same_text_in_every_kind_of_file(tmp_path):
    table = pd.DataFrame({"id": ["001", 2], "confidence": 0.5, "correct": 1})
    for name, ids in (("a.csv", ["001", 2]), ("b.jsonl", ["001", 2]), ("c.parquet", ["001", "2"])):
        assert only(write(tmp_path / name, table.assign(id=ids))).ids.tolist() == ["001", "2"]
    assert only(write(tmp_path / "d.parquet", table.assign(id=[1.0, 2.0]))).ids.tolist() == [1, 2]


@pytest.mark.parametrize(("role", "option"), [("group", "groups"), ("stratum", "strata")])
def test_groups_are_the_same_in_every_kind_of_file(role, option, tmp_path):
    table = pd.DataFrame({"id": range(4), "confidence": 0.5, "correct": 1, "doc": [10, 2, 10, 2]})
    bases = set()
    for name in ("a.csv", "b.jsonl", "c.parquet"):
        (one,) = read_submissions(write(tmp_path / name, table), columns={role: "doc"})
        assert one.per_sample[option] == [10, 2, 10, 2]
        system = prepare_submission(one, {"confidence_level": 0.95})
        bases.add((str(system.basis.groups), str(system.basis.strata)))
    assert len(bases) == 1
    zeros = write(tmp_path / "d.csv", table.assign(doc=["007", "7", "8", "9"]))
    (one,) = read_submissions(zeros, columns={role: "doc"})
    assert len(set(one.per_sample[option])) == 4


@pytest.mark.parametrize(
    "suffix", [".csv", ".jsonl", ".json", ".parquet", ".npz", ".arrow", ".xlsx"]
)
def test_empty_files_are_called_so(suffix, tmp_path):
    with pytest.raises(FileError, match="the file is empty"):
        read_submissions(write(tmp_path / f"a{suffix}", ""))


REFUSED = (  # a file, what it holds, and how the error begins
    ("a.csv", "confidence,correct\n0.9,1\nmuch,0\n",
     "column 'confidence' must hold numbers; got 'much' in row 3 (1 of 2)."),
    ("a.csv", "q,correct\n0.9,1\n",
     "has correct = correct, but no confidence. It has:\n  q         1 value   0.9\n  correct   1 value   1\n"
     "Say what holds:\n  # q: how sure each answer was; correct: was it right\n  columns={'confidence': 'q'}\n"),
    ("a.csv", "p_0,p_1,label\n0.5,0.5,2\n",
     "column 'label' must be labels in [0, 2); got 2.0 in row 2 (1 of 1). Names of classes?"),
    ("a.csv", "confidence,correct\n", "the file has no rows."),
    ("a.csv", "confidence,correct\n0.9,\n", "column 'correct' has no value at all."),
    ("a.csv", "confidence,correct\n0.9,1\n0.8,0,3\n",
     "cannot be read as csv: row 3 has more cells than the header has names"),
    ("a.json", '{"n": 1, "of": {"a": []}}', "cannot be read as json: it must be a list of objects, or"),
    ("a.csv", "system,confidence,correct\n" + "".join(f"s{i},0.5,1\n" for i in range(1001)),
     "column 'system' must name at most 1,000 systems; got 1,001."),
    ("a.jsonl", '{"confidence": 1\n', "cannot be read as jsonl: the file ends within what begins in row 1"),
    ("a.json", '[{"confidence": 1},\n{"confidence" 0.5}]', "cannot be read as json: row 2 is not JSON: Expecting"),
    ("a.jsonl", "{}\n[1, 2]\n", "cannot be read as jsonl: row 2 must be a JSON object; got [1, 2]"),
    ("a.jsonl", '{"label": 0, "probs": [0.5, 0.5]}\n{"label": 0, "probs": [1]}\n',
     "column 'probs' must have rows of one length (2 in the first); got 1 in row 2."),
    ("a.parquet", pd.DataFrame({"label": [0, 0], "probs": [None, [0.5, 0.5]]}),
     "column 'probs' has no value in row 1 (1 of 2)."),
    ("a.csv", b"\xd0\x00binary\xd0", "cannot be read as csv: it is UTF-16 without a mark, or no text."),
    ("a.csv", b"\x81", "cannot be read as csv: it is not UTF-8 text. Save it as UTF-8."),
    ("a.parquet", "no parquet", "cannot be read as parquet: "),
    ("a.png", "\0PNG", "the suffix must be one of .csv, .tsv, .txt, .jsonl, .ndjson, .json, .parquet, .npz, "),
    ("a.csv", "p_0,p_1,p_3,label\n0.5,0.2,0.3,1\n",
     "has label = label, but no posteriors. It has:\n  p_0     1 value   0.5\n  p_1 "),
    ("a.csv", "confidence,correct,confidence\n0.5,1,0.6\n",
     "cannot be read as csv: columns must have different names; 'confidence' is repeated"),
    ("a.csv", "confidence,correct,system\n0.5,1,a\n0.6,0,\n",
     "column 'system' must name a system; it is empty in row 3 (1 of 2)."),
    ("a.csv", "confidence,correct\n0.5,2\n",
     "column 'correct' must be 0 (incorrect) or 1 (correct); got 2.0 in row 2 (1 of 1)."),
)  # fmt: skip


@pytest.mark.parametrize(("name", "content", "message"), REFUSED)
def test_errors_name_file_row_and_column(name, content, message, tmp_path):
    path = write(tmp_path / name, content)
    with pytest.raises(ValueError, match="^" + re.escape(f"{path}: {message}")):
        read_submissions(path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"columns": {"confidence": "nowhere"}},
            "has no column 'nowhere'. It has:\n  confidence   1 value   0.9\n",
        ),
        ({"unlabelled": "right"}, "unlabelled must be one of bounds, wrong, drop; got 'right'."),
    ],
)
def test_names_of_columns_and_rules_must_be_known(options, message, tmp_path):
    with pytest.raises(InputError, match=re.escape(message)):
        read_submissions(write(tmp_path / "a.csv", "confidence,correct\n0.9,1\n"), **options)


@pytest.mark.parametrize("right", ["hit", "hit/miss"])
def test_one_pair_of_words_holds_for_all_systems(right, tmp_path):
    rows = [("a", "hit"), ("a", "miss"), ("b", "miss"), ("b", "miss")]
    table = pd.DataFrame(rows, columns=["system", "correct"]).assign(confidence=0.75)
    table.to_csv(tmp_path / "a.csv", index=False)
    first, second = read_submissions(tmp_path / "a.csv", right=right)
    assert (first.references.tolist(), second.references.tolist()) == ([1, 0], [0, 0])
    table.loc[3, "correct"] = "perhaps"
    table.to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(FileError, match=r"must hold hit, miss, or nothing; got 'perhaps' in row 5"):
        read_submissions(tmp_path / "a.csv", right=right)


def test_logits_of_a_class_that_is_never_true_are_named_or_refused(tmp_path):
    path = tmp_path / "a.csv"
    logits = {"cat": [1.5, -0.5], "dog": [-0.25, 2.5], "emu": [0.5, 3.5]}
    pd.DataFrame({"label": ["cat", "dog"], **logits}).to_csv(path, index=False)
    with pytest.raises(FileError, match=r"do not sum to 1, and emu"):
        read_submissions(path, predictions_are="logits")
    beside = pd.read_csv(path).assign(sure=[0.75, 0.5], right=[1, 0])
    beside.to_csv(tmp_path / "b.csv", index=False)
    roles = {"confidence": "sure", "correct": "right"}
    assert only(tmp_path / "b.csv", columns=roles).predictions.tolist() == [0.75, 0.5]
    named = only(path, predictions_are="logits", labels=["cat", "dog", "emu"])
    assert named.predictions.shape == (2, 3)
    with pytest.raises(FileError, match="must have a column for each of the labels"):
        read_submissions(path, columns={"posteriors": "cat+dog"}, labels=["cat", "dog", "emu"])


@pytest.mark.parametrize(
    ("values", "options"), [([2.0, 98.0] * 10, {"scale": 100}), ([0.25, -0.25] * 10, {})]
)
def test_a_predicted_class_is_held_against_probabilities_of_the_scale_that_is_said(
    values, options, tmp_path
):
    likelier = [value > (50 if options else 0) for value in values]
    table = pd.DataFrame({"label": [0, 1] * 10, "prob": values, "predicted": likelier}).astype(
        {"predicted": int}
    )
    table.to_csv(tmp_path / "a.csv", index=False)
    options = options or {"predictions_are": "logits"}
    assert only(tmp_path / "a.csv", **options).form == "posteriors"


@pytest.mark.parametrize(("rows", "num_classes"), [(15, 3), (14, None)])
def test_texts_are_classes_if_there_are_five_rows_of_each(rows, num_classes, tmp_path):
    path = tmp_path / "a.csv"
    lines = [f"{'abc'[i % 3]},{'abc'[i % 2]},0.{2 + i % 7}" for i in range(rows)]
    path.write_text("\n".join(["label,predicted,confidence", *lines]))
    (one,) = read_submissions(path)
    assert one.num_classes == num_classes
    for said, is_noted in ((None, num_classes is not None), (np.inf, False)):
        system = prepare_submission(one, {"num_classes": said})
        assert ("classes" in [note.id for note in system.notes]) == is_noted


def test_a_column_with_a_role_holds_no_probabilities_of_the_class_of_its_name(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("label,cat,dog\ncat,0.75,0.25\ndog,0.25,0.75\n")
    (one,) = read_submissions(path)
    assert one.predictions.shape == (2, 2)
    with pytest.raises(FileError, match="has label = label, but no"):
        read_submissions(path, columns={"group": "dog"})


def test_several_files_are_not_read_as_one():
    with pytest.raises(InputError, match=r"^path must be of one file; got \['a.csv', 'b.csv'\]"):
        read_submissions(["a.csv", "b.csv"])
