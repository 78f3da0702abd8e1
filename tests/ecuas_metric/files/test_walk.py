"""Files as tools and people write them have the numbers that scikit-learn has for the same arrays."""

import json

import numpy as np
import pandas as pd
import pytest

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
    TRUTH,
    C,
    N,
    P,
    Q,
    Y,
    by_class,
    judged,
)

TEXT = BASE.to_csv(index=False)
COMMAS = BASE.to_csv(index=False, sep=";", decimal=",", lineterminator="\r\n").encode("utf-8-sig")
FROM_1 = pd.DataFrame(FOUR, columns=[f"p_{k}" for k in range(1, 5)])
RESPONSES = [[[str(x), "False"] for x in row] for row in np.log(FOUR).tolist()]
SCORES = [[{"label": name, "score": x} for name, x in reversed(row.items())] for row in by_class()]
ANSWERS = [{"success": bool(c), "metrics": [{"score": q}]} for q, c in zip(Q, C, strict=True)]
EVENTS = [{"event_id": 1, "sample_id": "1", "type": "sampling", "data": {"sampled": "x"}}]
EVENTS += [{"event_id": 2, "sample_id": "1", "type": "match", "data": answer} for answer in ANSWERS]
TAKEN = {  # whose numbers; the file and flags, and what it holds
    "confidences": {
        "with pandas' index": ("a.csv", BASE.to_csv()),
        "header with a trailing comma": ("a.csv", TEXT.replace("\n", ",\n")),
        "tabs": ("a.tsv", BASE.to_csv(index=False, sep="\t")),
        "semicolons": ("a.csv", BASE.to_csv(index=False, sep=";", decimal=",")),
        "bars": ("a.csv", BASE.to_csv(index=False, sep="|")),
        "Excel's CSV": ("a.csv", COMMAS),
        "UTF-16": ("a.csv", TEXT.encode("utf-16")),
        "UTF-16 without a mark": ("a.csv", TEXT.encode("utf-16-le")),
        "UTF-32": ("a.csv", TEXT.encode("utf-32")),
        "CR": ("a.csv", TEXT.replace("\n", "\r")),
        "newlines in quotes": ("a.csv", BASE.assign(id=[f'a\n"b", {i}' for i in range(N)])),
        "Markdown": ("a.csv", "| id | confidence | correct |\n|:---|---:|---:|\n"
            + "".join(f"| {i} | {q} | {c} |\n" for i, q, c in BASE.itertuples(index=False))),
        "JSON lines called JSON": ("a.json", BASE.to_json(orient="records", lines=True)),
        **{f"JSON of {orient}": ("a.json", BASE.to_json(orient=orient))
           for orient in ("records", "columns", "index", "split", "table")},
        "JSON of lists": ("a.json", json.dumps(BASE.to_dict("list"))),
        "a table of Weights & Biases": ("a.table.json",
            json.dumps({"columns": list(BASE), "data": BASE.to_numpy().tolist(), "ncols": 3})),
        "rows among other things": ("a.json", json.dumps({"model": "m", "results": BASE.to_dict("records")})),
        "rows by id": ("a.json", BASE.set_index("id").to_json(orient="index")),
        "promptfoo": ("a.json --columns correct=success,confidence=metrics.0.score",
            json.dumps({"results": {"prompts": [{"raw": "?"}], "results": ANSWERS}})),
        "deepeval": ("a.json --columns correct=success,confidence=metrics.0.score",
            json.dumps({"testCases": ANSWERS, "conversationalTestCases": []})),
        "OpenAI's evals": ("a.jsonl --columns correct=data.success,confidence=data.metrics.0.score",
            "\n".join(map(json.dumps, EVENTS))),
        "NumPy's savetxt": ("a.txt", "# confidence correct\n"
            + "".join(f"{q:.18e} {c:.18e}\n" for q, c in zip(Q, C, strict=True))),
        "R's write.csv": ("a.csv", judged("TRUE", "FALSE").to_csv(quoting=2)),
        "R's write.table": ("a.txt", judged("TRUE", "FALSE").to_csv(sep=" ", index_label=False, quoting=2)),
        **{words: ("a.csv", judged(*words.split("/")))
           for words in ("yes/no", "Correct/Incorrect", "wahr/falsch", "right/wrong", "Pass/FAIL", "C/I", "Y/N")},
        "percent signs": ("a.csv", BASE.assign(confidence=[f"{100 * q:.2f} %" for q in Q])),
        "decimal commas in quotes": ("a.csv", BASE.assign(confidence=[f"{q}".replace(".", ",") for q in Q])),
        "decimal commas between tabs": ("a.tsv", BASE.to_csv(index=False, sep="\t", decimal=",")),
        "upper case": ("a.csv", BASE.rename(columns=str.upper)),
        "several classes beside them": ("a.csv", BASE.assign(label="x", gold="y", prediction="z", predicted="x")),
        "counts of classes beside them": ("a.csv", BASE.assign(label=["yes", "no"] * (N // 2), n_yes=3, n_no=4)),
        "grades": ("a.csv --correct-from 0.5", BASE.assign(correct=np.where(C, 0.5, 0.49))),
    },
    "posteriors": {
        "integer classes with the index": ("a.csv", pd.DataFrame(FOUR).assign(label=LABEL).to_csv()),
        "logits": ("a.csv", pd.DataFrame(np.log(FOUR) + 1).add_prefix("logit_").assign(label=LABEL)),
        "numbered from 1 with labels from 0": (
            "a.csv --columns label=y,posteriors=p_1+p_2+p_3+p_4 --labels 0,1,2,3", FROM_1.assign(y=LABEL)),
        "counted from 1": ("a.csv", FROM_1.assign(label=LABEL + 1)),
        "several predicted classes beside them": ("a.csv", POSTERIORS.assign(prediction=1, predicted="x")),
        "npz of Trainer.predict": ("a.npz", {"predictions": np.log(FOUR) + 3, "label_ids": LABEL}),
        "one-hot labels": ("a.npz", {"labels": np.eye(4)[LABEL], "probs": FOUR}),
        "columns named by class": ("a.csv", BY_NAME),
        "in another order": ("a.csv", BY_NAME[["ship", "cat", "horse", "dog", "y_true"]]),
        "of cat": ("a.csv", BY_NAME.rename(columns={name: f"of {name}" for name in CLASSES})),
        "prob_cat": ("a.csv", BY_NAME.rename(columns={name: f"prob_{name}" for name in CLASSES})),
        "a list as NumPy prints it": ("a.csv", pd.DataFrame({"label": LABEL, "probabilities": [*map(str, FOUR)]})),
        "a list as JSON": ("a.csv", pd.DataFrame({"label": LABEL, "probs": map(json.dumps, FOUR.tolist())})),
        **{f"lists in {suffix}": (f"a{suffix}", pd.DataFrame({"label": LABEL, "posteriors": FOUR.tolist()}))
           for suffix in (".parquet", ".jsonl")},
        "a mapping of classes": ("a.jsonl", pd.DataFrame({"label": CLASSES[LABEL], "probs": by_class()})),
        "a pipeline's scores": ("a.jsonl", pd.DataFrame({"text": "?", "label": CLASSES[LABEL], "scores": SCORES})),
        "rounding beyond 0 and 1": ("a.csv", POSTERIORS.assign(prob_0=FOUR[:, 0] + 1e-9)),
        "lm-eval": ("a.jsonl --columns label=target,posteriors=filtered_resps --predictions-are logits",
            pd.DataFrame({"doc_id": range(N), "target": LABEL, "filtered_resps": RESPONSES, "acc": 1.0})),
        "several columns named": (
            'a.csv --columns "label=truth,posteriors=cat of it+dog of it+horse of it+ship of it" --labels 0,1,2,3',
            BY_NAME[CLASSES].add_suffix(" of it").assign(truth=LABEL)),
    },
    "binary": {
        "y_true,y_prob": ("a.csv", BINARY),
        "label,prob": ("a.csv", BINARY.set_axis(["label", "prob"], axis=1)),
        "label,prob_1": ("a.csv", BINARY.set_axis(["label", "prob_1"], axis=1)),
        "label,prob_0": ("a.csv", pd.DataFrame({"label": Y, "prob_0": 1 - P})),
        "named by its class": ("a.csv", pd.DataFrame({"p_ham": 1 - P, "label": SPAM[Y]})),
        "with the predicted class": ("a.csv", BINARY.assign(y_pred=(P > 0.5).astype(int))),
        "Keras": ("a.npz", {"y_true": Y, "y_prob": P[:, None]}),
    },
    "one of four classes": {"predicted and true class": ("a.csv", CHOSEN)},
    "free text": {"predicted and true text": ("a.csv --num-classes inf", CHOSEN)},
}  # fmt: skip


@pytest.mark.parametrize(("whose", "case"), [(whose, case) for whose, cases in TAKEN.items() for case in cases])
def test_files_give_their_numbers(whose, case, assert_scores):
    assert len(assert_scores(whose, *TAKEN[whose][case])) == 1


def test_folders_of_spark_and_of_hive_are_tables(assert_scores, tmp_path):
    for folder in ("spark", "hive/model=A", "hive/model=B"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "spark" / "_SUCCESS").touch()
    BASE.head(150).to_csv(tmp_path / "spark" / "part-00000-1d0b-c000.csv", index=False)
    BASE.tail(50).to_csv(tmp_path / "spark" / "part-00001-1d0b-c000.csv", index=False)
    for model in "AB":
        BASE.to_parquet(tmp_path / "hive" / f"model={model}" / "x.parquet")
    assert assert_scores("confidences", "spark") == ["spark"]
    assert assert_scores("confidences", "hive") == ["A", "B"]


def test_wide_files_hold_several_systems(score):
    error_rate, of_first = TRUTH["confidences"]["error_rate"], TRUTH["confidences"]["ecuas_1"]
    one = pd.DataFrame({"question": BASE["id"], "GPT-4": Q, "correct": C, "b": 0.5})
    two = pd.DataFrame(
        {"id": BASE["id"], "GPT-4_confidence": Q, "GPT-4_correct": C, "b_confidence": 0.5, "b_correct": C}
    )
    for command, table in (("a.csv --columns confidence=GPT-4+b,correct=correct", one), ("a.csv", two)):
        _, rows, _ = score(command, table)
        assert [row["system"] for row in rows] == ["GPT-4", "b"]
        assert [row["ecuas_1"] for row in rows] == pytest.approx([of_first, 0.25 + error_rate])
    assert cli.main(["compare", "a.csv", "--metrics", "ecuas_1", "--resamples", "20"]) == 0


def test_what_is_not_judged_bounds_the_numbers(score, capsys):
    _, (row,), _ = score("a.csv", BASE.assign(correct=[*"-" * 20, *C[20:]]))
    low, high = row["error_rate_min"], row["error_rate_max"]
    assert (row["unlabelled"], row["error_rate"], high - low) == (0.1, None, pytest.approx(0.1))
    assert low < TRUTH["confidences"]["error_rate"] < high
    _, (wrong,), _ = score("a.csv --unlabelled wrong")
    _, (left,), _ = score("a.csv --unlabelled drop")
    assert (wrong["error_rate"], left["N"], left["error_rate"]) == (high, 180, pytest.approx(low / 0.9))
    assert cli.main(["compare", "a.csv", "a.csv"]) == 2
    assert cli.main(["score", "a.csv", "--explain"]) == 2
    err = capsys.readouterr().err
    assert "drop" not in err
    assert err.count("Label them, or count them as wrong with --unlabelled wrong.") == 2
