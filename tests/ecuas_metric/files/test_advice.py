import json
import re
import shlex
from contextlib import suppress

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ecuas_metric import prepare_submissions, read_submissions
from ecuas_metric.errors import InputError
from ecuas_metric.reporting import cli

N = 200
RNG = np.random.default_rng(0)
Q = RNG.random(N).round(4)
C = (RNG.random(N) < Q).astype(int)
BASE = pd.DataFrame({"id": [f"q{i:03}" for i in range(N)], "confidence": Q, "correct": C})
P = RNG.random(N).round(4)
Y = (RNG.random(N) < P).astype(int)
BINARY = pd.DataFrame({"y_true": Y, "y_prob": P})
FOUR = RNG.dirichlet(np.ones(4), N)
LABEL = np.array([RNG.choice(4, p=row) for row in FOUR])


CLASSES = np.array(["cat", "dog", "horse", "ship"])
POSTERIORS = pd.DataFrame(FOUR, columns=[f"prob_{k}" for k in range(4)]).assign(label=LABEL)
CHOSEN = pd.DataFrame({"label": CLASSES[LABEL], "predicted": CLASSES[FOUR.argmax(axis=1)]})
CHOSEN["confidence"] = FOUR.max(axis=1)
SPAM = np.array(["ham", "spam"])
MEANS = pd.DataFrame([{"id": "mean", "confidence": Q.mean(), "correct": C.mean()}])
SOME = np.arange(N) % 25 == 0


def named(role, name, values):
    """Return the base table with another column in place of confidence or correct."""
    return BASE.drop(columns=role).assign(**{name: values})


def filed(answers, chosen=None, **columns):
    """Return a table of two classes, as words."""
    return pd.DataFrame({"label": SPAM[answers]} | ({} if chosen is None else {"predicted": SPAM[chosen]}) | columns)


def mapped(order, label):
    """Return posteriors as mappings of classes, in some order."""
    rows = [dict(zip(CLASSES[order], row[order], strict=True)) for row in FOUR]
    return pd.DataFrame({"label": label, "probs": [json.dumps(row) for row in rows]})


ADVISED = {  # a table, the one that has the numbers which the command in the advice gives, and flags to begin with
    **{name: (named("confidence", name, 1 - Q), BASE) for name in ("uncertainty", "Uncertainty_score", "p(false)")},
    **{f"{name}, named": (named("confidence", name, 1 - Q), BASE, f"--columns 'confidence={name}'")
       for name in ("u", "prob_of_error", "hallucinationRate", "1 - p")},
    **{name: (named("correct", name, 1 - C), BASE) for name in ("error", "IsIncorrect", "not_correct", "failure")},
    **{f"{name}, named": (named("correct", name, values), BASE, f"--columns correct={name}")
       for name, values in (("zero_one_loss", 1 - C), ("no_error", C), ("true_false", C))},
    "words for errors": (named("correct", "wrong", np.where(C, "no", "yes")), BASE),
    **{f"probabilities as {name}": (BINARY.rename(columns={"y_prob": name}), BINARY) for name in ("y_pred", "y_hat")},
    "percentages as y_pred": (pd.DataFrame({"y_true": Y, "y_pred": 100 * P}), BINARY),
    "P(1) as confidence": (pd.DataFrame({"y_true": Y, "y_pred": (P > 0.5) * 1, "confidence": P}), BINARY),
    "P(spam) as confidence": (filed(Y, (P > 0.5) * 1, confidence=P), BINARY),
    "P(ham) as confidence": (filed(Y, (P > 0.5) * 1, confidence=1 - P), BINARY),
    "P(wrong) as confidence": (filed(Y, (P > 0.5) * 1, confidence=1 - P).replace({"ham": "wrong", "spam": "right"}),
        BINARY),
    "an error within a cell": (
        pd.DataFrame({"r": [json.dumps({"error": int(1 - c), "p": q}) for q, c in zip(Q, C, strict=True)]}), BASE,
        "--columns correct=r.error,confidence=r.p"),
    "a longer name": (BASE.rename(columns={"confidence": "Confidence Score"}), BASE),
    "a name with a dot": (BASE.rename(columns={"confidence": "Conf."}), BASE),
    "prob beside correct": (BASE.rename(columns={"confidence": "prob"}), BASE),
    "two other names": (BASE.rename(columns={"confidence": "p_true", "correct": "acc"}), BASE),
    "percentages": (BASE.assign(confidence=(100 * Q).round(2)), BASE),
    "a name with a sign, in percent": (named("confidence", "conf (%)", (100 * Q).round(2)), BASE),
    "margins": (pd.DataFrame({"label": Y, "prob": np.log(P / (1 - P))}), BINARY),
    "classes before a word": (pd.DataFrame(FOUR[:, ::-1], columns=CLASSES[::-1] + "_prob").assign(label=CLASSES[LABEL]),
        POSTERIORS),
    "classes with numbers": (
        pd.DataFrame(FOUR, columns=[f"c{k}" for k in range(4)]).assign(label=[f"c{k}" for k in LABEL]), POSTERIORS),
    "mappings and labels in another order": (mapped([0, 1, 2, 3], CLASSES[LABEL]), POSTERIORS,
        "--labels ship,horse,dog,cat"),
}  # fmt: skip
REFUSED = {  # what no flag can mend, what the refusal says, and flags
    "few on another scale": (BASE.assign(confidence=np.where(SOME, 100, Q)), "must lie on one scale; 192"),
    "few on another scale, told": (BASE.assign(confidence=np.where(SOME, 100, Q)), "must lie on", "--scale 100"),
    "many on another scale": (BASE.assign(confidence=np.where(np.arange(N) % 7, 100 * Q, Q)), "must lie on one scale"),
    "a mean at the end": (pd.concat([BASE, MEANS]), "the last row is a summary; got 'mean' in row 202"),
    "a mean by its value": (pd.concat([MEANS.assign(id=""), BASE]), "one row is the mean of", "--correct-from 0.5"),
    "entropy": (named("confidence", "entropy", -np.log(Q + 1e-3)), "no confidence"),
    **{name: (named("confidence", name, 1 - Q), "Map it to a probability", f"--columns confidence={name}")
       for name in ("MeanEntropy", "neg_log_prob")},
    "logits of confidences": (BASE.assign(confidence=np.log(Q + 1e-3) + 2), "Map it to a probability in [0, 1] first"),
    "two that may be it": (named("confidence", "score", Q).assign(p=0.5), "Name it with --columns confidence=NAME"),
    "grades of 0 and 100": (BASE.assign(correct=100 * C), "--correct-from GRADE"),
    "ignored rows": (POSTERIORS.assign(label=np.where(SOME, -100, LABEL)), "rows that do not count? Leave these out."),
    "ignored rows of -1": (POSTERIORS.assign(label=np.where(SOME, -1, LABEL)), "rows that do not count?"),
    "labels of -1 and 1": (BINARY.assign(y_true=2 * Y - 1), "Count from 0."),
    "classes in two cases": (CHOSEN.replace({"predicted": {"ship": "Ship"}}), "differ in upper and lower case only"),
    "labels for other columns": (pd.DataFrame(FOUR, columns=CLASSES).assign(label=LABEL), "some of the labels",
        "--labels cat,dog,horse,Ship --columns posteriors=cat+dog+horse+ship"),
    "numbers of mapped classes": (mapped([3, 0, 1, 2], LABEL), "must name the same classes", "--labels 0,1,2,3"),
}  # fmt: skip
NOTED = {  # flags, and what a note says of the number
    "a column of weights": (BASE.assign(weight=1 + C), "", "Column 'weight' is not used. --weight COLUMN uses it."),
    "a column of strata": (BASE.assign(stratum=np.arange(N) % 2), "", "Column 'stratum' is used"),
    "several samples of a question": (
        pd.concat([BASE, BASE]), "--interval 0.95",
        "200 of 400 ids in column 'id' occur more than once. Samples of one id depend on each other: without --groups",
    ),
    "inverted": (BASE.assign(confidence=1 - Q), "", "Wrong answers have higher confidences than right ones"),
    "which class": (filed(Y, prob=P), "", "the probability of class spam, column 'label' as the class. Of the other"),
    "hard posteriors": (POSTERIORS.assign(**dict(zip(POSTERIORS, np.eye(4)[LABEL].T, strict=False))), "", "are 0 or 1"),
    "K beside classes": (CHOSEN.assign(correct=1), "", "'label' and 'predicted' hold 4 classes, which K is not taken"),
}  # fmt: skip


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Return what runs the command on a table: its exit code, its numbers, and what it said on stderr."""
    monkeypatch.chdir(tmp_path)

    def run(table, flags=""):
        if table is not None:
            table.to_csv("a.csv", index=False)
        code = cli.main(["score", "a.csv", "--output", "out.json", *shlex.split(flags)])
        rows = json.loads((tmp_path / "out.json").read_text())["rows"] if code == 0 else [{}]
        row = {key: value for key, value in rows[0].items() if not isinstance(value, str)}
        return code, row, capsys.readouterr().err

    return run


@pytest.mark.parametrize("case", ADVISED)
def test_advice_followed_literally_gives_the_right_number(case, run):
    table, truth, *begin = ADVISED[case]
    flags = " ".join(begin)
    for _ in range(3):
        code, row, said = run(table, flags)
        if code == 0:
            break
        found = re.findall(r'--[a-z-]+ (?:"[^"]+"|\S+)', said)
        flags += " " + " ".join(flag.rstrip("?.") for flag in found)
    _, expected, _ = run(truth)
    assert {key: row[key] for key in expected} == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_mended_is_refused_without_a_flag(case, run):
    table, rule, *flags = REFUSED[case]
    code, _, said = run(table, *flags)
    assert code == 2
    assert rule in said
    assert "--scale" not in said


@pytest.mark.parametrize("case", NOTED)
def test_what_a_number_is_not_is_noted(case, run):
    table, flags, note = NOTED[case]
    code, _, said = run(table, flags)
    assert code == 0
    assert note in said


def test_errors_of_several_systems_are_all_inverted(run):
    sides = pd.DataFrame({"a": Q, "b": Q, "a_error": 1 - C, "b_error": C})
    _, _, said = run(sides, "--columns confidence=a+b,correct=a_error+b_error")
    assert "--columns correct=1-a_error+1-b_error" in said
    _, row, _ = run(sides, "--columns confidence=a+b,correct=1-a_error+1-b_error --by-position")
    assert row["error_rate"] == 1 - C.mean()


def test_classes_say_how_many_there_are(run):
    _, row, said = run(CHOSEN)
    assert "K is 4. For free text, use --num-classes inf." in said
    _, expected, _ = run(POSTERIORS)
    assert row["ecuas_0"] == pytest.approx(expected["ecuas_0"])
    _, infinite, _ = run(CHOSEN, "--num-classes inf")
    assert infinite["ecuas_0"] != pytest.approx(expected["ecuas_0"])


def test_groups_and_ids_of_several_columns(run, capsys):
    table = BASE.assign(lang=np.arange(N) % 2, doc=np.arange(N) % 20 // 2)
    interval = "--interval 0.95 --metrics ER --columns group="
    _, both, _ = run(table.assign(both=table["lang"] * 100 + table["doc"]), interval + "both")
    for columns in ("lang+doc", "doc+lang"):
        assert run(table, interval + columns)[1] == pytest.approx(both, rel=1e-12)
    assert run(table, interval + "lang")[1] != both
    for flags in ("weight=lang+doc", "correct=correct+lang", "label=lang+doc,positive=confidence"):
        assert run(table, f"--columns {flags}")[0] == 2
    systems = pd.concat([BASE.assign(model=model, seed=seed) for model in "AB" for seed in (1, 2)])
    systems.to_csv("a.csv", index=False)
    assert cli.main(["compare", "a.csv", "--metrics", "ER"]) == 2
    assert "--columns id=A+B" in capsys.readouterr().err
    assert cli.main(["compare", "a.csv", "--metrics", "ER", "--columns", "id=id+seed"]) == 0
    assert "2 systems on 400 samples, paired by id" in capsys.readouterr().out


KINDS = [
    *(pa.bool_(), pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.decimal128(5, 2), pa.decimal256(40, 2)),
    *(pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.string_view(), pa.date32(), pa.time64("us")),
    *(pa.timestamp("ns"), pa.timestamp("us", tz="UTC"), pa.duration("s"), pa.null(), pa.list_(pa.float64())),
    *(pa.large_list(pa.int8()), pa.list_(pa.float32(), 2), pa.struct([("a", pa.float64()), ("b", pa.float64())])),
    *(pa.map_(pa.string(), pa.float64()), pa.dictionary(pa.int32(), pa.string()), pa.dictionary(pa.int8(), pa.int64())),
    *(pa.run_end_encoded(pa.int32(), pa.float64()), pa.binary_view(), pa.month_day_nano_interval()),
]


@pytest.mark.parametrize("role", ["confidence", "correct", "id", "group", "weight", "system", "label", "prob", "probs"])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_any_type_in_any_role_is_read_or_refused(kind, role, tmp_path):
    table = pa.table({"confidence": [0.9, 0.4, 0.5], "correct": [1, 0, 1]})
    if role in ("label", "prob", "probs"):
        table = pa.table({"label": [1, 0, 1], "prob": [0.9, 0.4, 0.5]}).drop_columns(["prob"] * (role == "probs"))
    for values in ([1, 0, 1], ["1", "0", None], [None] * 3, [[0.5, 0.5]] * 3, [{"a": 0.5, "b": 0.5}] * 3):
        try:
            column = pa.array(values, kind) if not isinstance(kind, pa.RunEndEncodedType) else _run_ends(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError, ValueError):
            continue
        one = table.drop_columns([role] * (role in table.column_names)).append_column(role, column)
        with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as file, pa.ipc.new_file(file, one.schema) as writer:
            writer.write_table(one)
        columns = {role: role} if role in ("group", "weight") else {}
        with suppress(InputError):  # of which the fuzz knows that it is one line
            prepare_submissions(read_submissions(tmp_path / "a.arrow", columns=columns), missing_confidence=0.5)


def _run_ends(values):
    ends = pa.array([1, 2, 3], pa.int32())
    return pa.RunEndEncodedArray.from_arrays(ends, pa.array(values, pa.float64()))


def test_one_hot_labels_are_classes(run, tmp_path):
    _, expected, _ = run(POSTERIORS)
    np.savez(tmp_path / "a.npz", labels=np.eye(4)[LABEL], probs=FOUR)
    assert cli.main(["score", "a.npz", "--output", "hot.json"]) == 0
    assert json.loads((tmp_path / "hot.json").read_text())["rows"][0]["ecuas_0"] == pytest.approx(expected["ecuas_0"])


@pytest.mark.parametrize("flags", [[], ["--common"]])
def test_ids_of_which_none_is_shared_have_ways_out(flags, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    BASE.to_csv("a.csv", index=False)
    BASE.assign(id=np.arange(N), key=BASE["id"]).to_csv("b.csv", index=False)
    assert cli.main(["compare", "a.csv", "b.csv", "--metrics", "ER", *flags]) == 2
    said = capsys.readouterr().err
    assert "--columns FILE:id=NAME, or pair by row: --by-position" in said
    for way in (["--columns", "b.csv:id=key"], ["--by-position"]):
        assert cli.main(["compare", "a.csv", "b.csv", "--metrics", "ER", *way]) == 0


def test_documents_of_tools_are_reached_by_dotted_names(run, tmp_path):
    _, expected, _ = run(BASE)
    answers = [{"success": bool(c), "metrics": [{"score": q}]} for q, c in zip(Q, C, strict=True)]
    documents = {
        "promptfoo": {"results": {"prompts": [{"raw": "?"}], "results": answers}},
        "deepeval": {"testCases": answers, "conversationalTestCases": []},
        "by id": {i: {"confidence": q, "correct": int(c)} for i, q, c in BASE.itertuples(index=False)},
    }
    for name, document in documents.items():
        (tmp_path / "a.csv").write_text(json.dumps(document))
        (tmp_path / "a.csv").rename(tmp_path / "a.json")
        flags = [] if name == "by id" else ["--columns", "correct=success,confidence=metrics.0.score"]
        assert cli.main(["score", "a.json", "--output", "tool.json", *flags]) == 0
        assert json.loads((tmp_path / "tool.json").read_text())["rows"][0].items() >= expected.items()
    events = [{"event_id": 1, "sample_id": "1", "type": "sampling", "data": {"sampled": "x"}}]
    events += [{"event_id": 2, "sample_id": "1", "type": "match", "data": answer} for answer in answers]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, events)))
    flags = "correct=data.success,confidence=data.metrics.0.score"
    assert cli.main(["score", "log.jsonl", "--output", "tool.json", "--columns", flags]) == 0
    assert json.loads((tmp_path / "tool.json").read_text())["rows"][0]["N"] == N


def test_folders_of_hive_and_text_of_other_widths_are_tables(run, tmp_path):
    _, expected, _ = run(BASE)
    for model in "AB":
        (tmp_path / "lake" / f"model={model}").mkdir(parents=True)
        pq.write_table(pa.table(BASE), tmp_path / "lake" / f"model={model}" / "x.parquet")
    (tmp_path / "u.csv").write_bytes(BASE.to_csv(index=False).encode("utf-16-le"))
    (tmp_path / "v.csv").write_bytes(BASE.to_csv(index=False).encode("utf-32"))
    rows = "".join(f"| {i} | {q} | {c} |\n" for i, q, c in BASE.itertuples(index=False))
    (tmp_path / "m.csv").write_text("| id | confidence | correct |\n|:---|---:|---:|\n" + rows)
    assert cli.main(["score", "lake", "u.csv", "v.csv", "m.csv", "--output", "all.json"]) == 0
    found = json.loads((tmp_path / "all.json").read_text())["rows"]
    assert [row["system"] for row in found] == ["A", "B", "u", "v", "m"]
    for row in found:
        assert row.items() >= expected.items()
