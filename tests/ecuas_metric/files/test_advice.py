import json
import re
from contextlib import suppress
from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from ecuas_metric import prepare_submissions, read_submissions
from ecuas_metric.errors import InputError
from ecuas_metric.reporting import cli
from tests.ecuas_metric.files.tables import (
    BASE,
    BINARY,
    BY_NAME,
    CHOSEN,
    CLASSES,
    FOUR,
    LABEL,
    POSTERIORS,
    SPAM,
    C,
    N,
    P,
    Q,
    Y,
    by_class,
)

SOME = np.arange(N) % 25 == 0
MEANS = pd.DataFrame([{"id": "mean", "confidence": Q.mean(), "correct": C.mean()}])
SPAM_CHOSEN = pd.DataFrame({"label": SPAM[Y], "predicted": SPAM[(P > 0.5) * 1]})
SIDES = pd.DataFrame({"a": Q, "b": Q, "a_error": 1 - C, "b_error": 1 - C})
IN_CELLS = [f'{{"error": {1 - c}, "p": {q}}}' for q, c in zip(Q, C, strict=True)]


def named(role, name, values):
    """Return the base table with another column in place of confidence or correct."""
    return BASE.drop(columns=role).assign(**{name: values})


def mapped(order, label):
    """Return posteriors as mappings of classes, in some order."""
    return pd.DataFrame({"label": label, "probs": by_class(order)})


ADVISED = {  # whose numbers the advice, followed literally, leads to; a file, and the flags to begin with
    "confidences": {
        **{name: (named("confidence", name, 1 - Q),) for name in ("uncertainty", "Uncertainty_score", "p(false)")},
        **{f"{name}, named": (named("confidence", name, 1 - Q), f"--columns 'confidence={name}'")
           for name in ("u", "prob_of_error", "hallucinationRate", "1 - p")},
        **{name: (named("correct", name, 1 - C),) for name in ("error", "IsIncorrect", "not_correct", "failure")},
        **{f"{name}, named": (named("correct", name, values), f"--columns correct={name}")
           for name, values in (("zero_one_loss", 1 - C), ("no_error", C), ("true_false", C))},
        "words for errors": (named("correct", "wrong", np.where(C, "no", "yes")),),
        "errors of several systems": (SIDES, "--columns confidence=a+b,correct=a_error+b_error"),
        "an error within a cell": (pd.DataFrame({"r": IN_CELLS}), "--columns correct=r.error,confidence=r.p"),
        "a longer name": (BASE.rename(columns={"confidence": "Confidence Score"}),),
        "a name with a dot": (BASE.rename(columns={"confidence": "Conf."}),),
        "prob beside correct": (BASE.rename(columns={"confidence": "prob"}),),
        "two other names": (BASE.rename(columns={"confidence": "p_true", "correct": "acc"}),),
        "percentages": (BASE.assign(confidence=(100 * Q).round(2)),),
        "a name with a sign, in percent": (named("confidence", "conf (%)", (100 * Q).round(2)),),
    },
    "binary": {
        **{f"probabilities as {name}": (BINARY.rename(columns={"y_prob": name}),) for name in ("y_pred", "y_hat")},
        "percentages as y_pred": (pd.DataFrame({"y_true": Y, "y_pred": 100 * P}),),
        "P(1) as confidence": (pd.DataFrame({"y_true": Y, "y_pred": (P > 0.5) * 1, "confidence": P}),),
        "P(spam) as confidence": (SPAM_CHOSEN.assign(confidence=P),),
        "P(ham) as confidence": (SPAM_CHOSEN.assign(confidence=1 - P),),
        "P(wrong) as confidence": (
            SPAM_CHOSEN.replace({"ham": "wrong", "spam": "right"}).assign(confidence=1 - P),),
        "margins": (pd.DataFrame({"label": Y, "prob": np.log(P / (1 - P))}),),
    },
    "posteriors": {
        "classes before a word": (
            pd.DataFrame(FOUR[:, ::-1], columns=CLASSES[::-1] + "_prob").assign(label=CLASSES[LABEL]),),
        "classes with numbers": (pd.DataFrame(FOUR).add_prefix("c").assign(label=[f"c{k}" for k in LABEL]),),
        "mappings and labels in another order": (mapped([0, 1, 2, 3], CLASSES[LABEL]), "--labels ship,horse,dog,cat"),
        "percentages": (POSTERIORS * [100, 100, 100, 100, 1],),
    },
    "rounded posteriors": {"two digits": (POSTERIORS.round(2),)},
}  # fmt: skip
ASKED = {  # what only the user can tell: a file, what the refusal says, and flags and whose numbers they lead to
    "from 0 to 10": (BASE.assign(confidence=10 * Q), "--scale 10 for 0 to 10", "--scale 10", "confidences"),
    "grades": (BASE.assign(correct=np.where(C, 0.5, 0.25)), "Partly correct? --correct-from GRADE",
        "--correct-from 0.5", "confidences"),
    "a pipeline's output": (CHOSEN.set_axis(["true", "label", "score"], axis=1),
        "label=label or label=true. Specify which with --columns",
        "--columns label=true,predicted=label,confidence=score", "one of four classes"),
    "a confidence and the true class": (CHOSEN.rename(columns={"predicted": "answer"}),
        "nothing says which answers are correct: neither correct, nor label and predicted",
        "--columns predicted=answer", "one of four classes"),
    "a predicted class beside the true one": (POSTERIORS.assign(y_true=LABEL, label=FOUR.argmax(axis=1)),
        "label=label or label=y_true. Specify which with --columns", "--columns label=y_true", "posteriors"),
    "both forms": (POSTERIORS.assign(confidence=0.5, correct=1),
        "confidence=confidence or label=label. Specify which with --columns", "--columns label=label", "posteriors"),
    "labels that are text": (POSTERIORS.assign(label=CLASSES[LABEL]), "--labels A,B,..", "--labels cat,dog,horse,ship",
        "posteriors"),
}  # fmt: skip
REFUSED = {  # what no flag can mend, what the refusal says, and flags
    "no header": (BASE[["confidence", "correct"]].to_csv(index=False, header=False),
        "The first row must contain the names of the columns, e.g. confidence,correct"),
    "an older encoding": (BASE.assign(note="\u00e9").to_csv(index=False).encode("cp1252"), "Save it as UTF-8"),
    "JSON lines called CSV": (BASE.to_json(orient="records", lines=True), "Give it the suffix of its format"),
    "logarithms of confidences": (BASE.assign(confidence=np.log(Q)), "Take their exponential"),
    "few on another scale": (BASE.assign(confidence=np.where(SOME, 100, Q)), "must lie on one scale; 192"),
    "few on another scale, told": (BASE.assign(confidence=np.where(SOME, 100, Q)), "in row 3 (192 of 200).",
        "--scale 100"),
    "many on another scale": (BASE.assign(confidence=np.where(np.arange(N) % 7, 100 * Q, Q)), "must lie on one scale"),
    "a mean at the end": (pd.concat([BASE, MEANS]), "the last row is a summary; got 'mean' in row 202"),
    "a mean by its value": (pd.concat([MEANS.assign(id=""), BASE]), "one row is the mean of", "--correct-from 0.5"),
    "entropy": (named("confidence", "entropy", -np.log(Q + 1e-3)), "no confidence"),
    **{name: (named("confidence", name, 1 - Q), f"a.csv: column {name!r} is not the probability that an answer is",
              f"--columns confidence={name}") for name in ("MeanEntropy", "neg_log_prob")},
    "logits of confidences": (BASE.assign(confidence=np.log(Q + 1e-3) + 2), "Map it to a probability in [0, 1] first"),
    "two that may be it": (named("confidence", "score", Q).assign(p=0.5), "Name it with --columns confidence=NAME"),
    "grades of 0 and 100": (BASE.assign(correct=100 * C), "--correct-from GRADE"),
    "ignored rows": (POSTERIORS.assign(label=np.where(SOME, -100, LABEL)), "rows that do not count? Leave these out."),
    "ignored rows of -1": (POSTERIORS.assign(label=np.where(SOME, -1, LABEL)), "rows that do not count?"),
    "labels of -1 and 1": (BINARY.assign(y_true=2 * Y - 1), "Count from 0."),
    "classes in two cases": (CHOSEN.replace({"predicted": {"ship": "Ship"}}), "differ in upper and lower case only"),
    "labels for other columns": (BY_NAME.assign(y_true=LABEL), "some of the labels",
        "--labels cat,dog,horse,Ship --columns posteriors=cat+dog+horse+ship"),
    "numbers of mapped classes": (mapped([3, 0, 1, 2], LABEL), "must name the same classes", "--labels 0,1,2,3"),
    **{f"several columns, {columns}": (BASE.assign(lang=1), "one column", f"--columns {columns}")
       for columns in ("weight=lang+id", "correct=correct+lang", "label=lang+id,positive=confidence")},
}  # fmt: skip
NOTED = {  # a file, flags, and what a note says of the number
    "a column of weights": (BASE.assign(weight=1 + C), "", "Column 'weight' is not used. --weight COLUMN uses it."),
    "a column of strata": (BASE.assign(stratum=np.arange(N) % 2), "", "Column 'stratum' is used"),
    "several samples of a question": (
        pd.concat([BASE, BASE]), "--interval 0.95",
        "200 of 400 ids in column 'id' occur more than once. Samples of one id depend on each other: without --groups",
    ),
    "inverted": (BASE.assign(confidence=1 - Q), "", "Wrong answers have higher confidences than right ones"),
    "which class": (pd.DataFrame({"label": SPAM[Y], "prob": P}), "",
        "the probability of class spam, column 'label' as the class. Of the other"),
    "hard posteriors": (POSTERIORS.assign(**dict(zip(POSTERIORS, np.eye(4)[LABEL].T, strict=False))), "", "are 0 or 1"),
    "K of classes": (CHOSEN, "", "K is 4. For free text, use --num-classes inf."),
    "K beside classes": (CHOSEN.assign(correct=1), "", "'label' and 'predicted' hold 4 classes, which K is not taken"),
    "logits": (pd.DataFrame(np.log(FOUR) + 3).add_prefix("predictions_").assign(label_ids=LABEL), "",
        "Column 'predictions_0..predictions_3' is read as logits."),
    "a first class that never occurs": (POSTERIORS.assign(label=np.maximum(LABEL, 1)), "",
        "Class 0 never occurs, and all other classes up to 3 do: are labels counted from 0?"),
}  # fmt: skip


@pytest.mark.parametrize(("whose", "case"), [(whose, case) for whose, cases in ADVISED.items() for case in cases])
def test_advice_followed_literally_gives_the_right_number(whose, case, score, assert_scores):
    table, *begin = ADVISED[whose][case]
    command = " ".join(["a.csv", *begin])
    for _ in range(2):
        code, _, said = score(command, table)
        if code == 0:
            break
        found = re.findall(r'--(?:renormalize|[a-z-]+ (?:"[^"]+"|\S+))', said)
        command += " " + " ".join(flag.rstrip("?.") for flag in found)
    assert_scores(whose, command, table)


@pytest.mark.parametrize("case", ASKED)
def test_what_only_the_user_knows_is_asked_for(case, score, assert_scores):
    table, question, flags, whose = ASKED[case]
    code, _, said = score("a.csv", table)
    assert (code, question in said) == (2, True), said
    assert_scores(whose, f"a.csv {flags}")


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_mended_is_refused_without_a_flag(case, score):
    table, rule, *flags = REFUSED[case]
    code, _, said = score(" ".join(["a.csv", *flags]), table)
    assert code == 2
    assert rule in said
    assert "--scale" not in said


@pytest.mark.parametrize("case", NOTED)
def test_what_a_number_is_not_is_noted(case, score):
    table, flags, note = NOTED[case]
    code, _, said = score(f"a.csv {flags}", table)
    assert code == 0
    assert note in said


def test_groups_and_ids_of_several_columns(score, capsys):
    table = BASE.assign(lang=np.arange(N) % 2, doc=np.arange(N) % 20 // 2)
    table["both"] = table["lang"] * 100 + table["doc"]
    command = "a.csv --interval 0.95 --metrics ER --columns group="
    found = [score(command + name, table)[1][0] for name in ("both", "lang+doc", "doc+lang", "lang")]
    both, one, other, less = (row["error_rate_low"] for row in found)
    assert [one, other] == pytest.approx([both, both], rel=1e-12)
    assert less != pytest.approx(both)
    pd.concat([BASE.assign(model=model, seed=seed) for model in "AB" for seed in (1, 2)]).to_csv("a.csv", index=False)
    assert cli.main(["compare", "a.csv", "--metrics", "ER"]) == 2
    assert "--columns id=A+B" in capsys.readouterr().err
    assert cli.main(["compare", "a.csv", "--metrics", "ER", "--columns", "id=id+seed"]) == 0
    assert "2 systems on 400 samples, paired by id" in capsys.readouterr().out


def test_ids_of_which_none_is_shared_have_ways_out(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    BASE.to_csv("a.csv", index=False)
    BASE.assign(id=np.arange(N), key=BASE["id"]).sample(frac=1, random_state=0).to_csv("b.csv", index=False)
    compare = ["compare", "a.csv", "b.csv", "--metrics", "ecuas_1", "--resamples", "20", "--output", "out.json"]
    for flags in ([], ["--common"]):
        assert cli.main([*compare, *flags]) == 2
        assert "--columns FILE:id=NAME, or pair by row: --by-position" in capsys.readouterr().err
    for way, is_same in (["--by-position"], False), (["--columns", "b.csv:id=key"], True):
        assert cli.main([*compare, *way]) == 0
        (row,) = json.loads((tmp_path / "out.json").read_text())["rows"]
        assert ((row["difference"], row["low"], row["high"]) == (0, 0, 0)) == is_same


KINDS = [
    *(pa.bool_(), pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.decimal128(5, 2), pa.decimal256(40, 2)),
    *(pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.string_view(), pa.date32(), pa.time64("us")),
    *(pa.timestamp("ns"), pa.timestamp("us", tz="UTC"), pa.duration("s"), pa.null(), pa.list_(pa.float64())),
    *(pa.large_list(pa.int8()), pa.list_(pa.float32(), 2), pa.struct([("a", pa.float64()), ("b", pa.float64())])),
    *(pa.map_(pa.string(), pa.float64()), pa.dictionary(pa.int32(), pa.string()), pa.dictionary(pa.int8(), pa.int64())),
    *(pa.run_end_encoded(pa.int32(), pa.float64()), pa.binary_view(), pa.month_day_nano_interval()),
]
CELLS = ([1, 0, 1], ["1", "0", None], [None] * 3, [[0.5, 0.5]] * 3, [{"a": 0.5, "b": 0.5}] * 3)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_any_type_in_any_role_is_read_or_refused(kind, tmp_path):
    answers = pa.table({"confidence": [0.9, 0.4, 0.5], "correct": [1, 0, 1]})
    classes = pa.table({"label": [1, 0, 1], "prob": [0.9, 0.4, 0.5]})
    tables = dict.fromkeys(["confidence", "correct", "id", "group", "weight", "system"], answers)
    tables |= {"label": classes, "prob": classes, "probs": classes.drop_columns("prob")}
    for (role, table), values in product(tables.items(), CELLS):
        try:
            column = pa.array(values, kind)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError, ValueError):
            continue
        one = table.drop_columns([role] * (role in table.column_names)).append_column(role, column)
        with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as file, pa.ipc.new_file(file, one.schema) as writer:
            writer.write_table(one)
        columns = {role: role} if role in ("group", "weight") else {}
        with suppress(InputError):  # of which the fuzz knows that it is one line
            prepare_submissions(read_submissions(tmp_path / "a.arrow", columns=columns), missing_confidence=0.5)
