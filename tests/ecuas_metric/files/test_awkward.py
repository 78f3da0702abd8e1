"""Files as tools and people write them: read as what they are, asked about with the flag to write, or refused."""

import json
import re
import shlex
from contextlib import suppress
from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from ecuas_metric import prepare_submissions, read_submissions
from ecuas_metric.errors import FileError, InputError, quoted
from ecuas_metric.files.evidence import recipe_of
from ecuas_metric.files.read import sheet_of
from ecuas_metric.files.recipe import Reading, Recipe, json_of
from ecuas_metric.reporting import cli
from tests.conftest import ROOT
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
    WRONG,
    C,
    N,
    P,
    Q,
    Y,
    by_class,
    content_of,
    judged,
)

TEXT = BASE.to_csv(index=False)
COMMAS = BASE.to_csv(index=False, sep=";", decimal=",", lineterminator="\r\n")
RECORDS = BASE.to_dict("records")
FROM_1 = pd.DataFrame(FOUR, columns=[f"p_{k}" for k in range(1, 5)])
SCORES = [[{"label": name, "score": x} for name, x in reversed(row.items())] for row in by_class()]
PROBS = [[{"label": one["label"], "prob": one["score"]} for one in row] for row in SCORES]
LISTS = [
    {"classes": list(row), "scores": list(row.values())}
    for row in (
        {name: by_name[name] for name in sorted(by_name, key=by_name.get, reverse=True)}
        for by_name in by_class()
    )
]
ANSWERS = [{"success": bool(c), "metrics": [{"score": q}]} for q, c in zip(Q, C, strict=True)]
SOME = np.arange(N) % 25 == 0
TENTHS = (10 * P).round()
RATED = np.where((np.arange(N) % 2 == 0) & (Q < 0.6), 1 - Y, Y)  # mostly right where it is sure
HITS = np.where((C == 1) | SOME, "hit", "miss")
ONES = [f"is_{name}" for name in CLASSES]
OF_EACH_CLASS = BY_NAME[CLASSES].join(pd.DataFrame(np.eye(4, dtype=int)[LABEL], columns=ONES))
DULL = (0.4 + 0.03 * C + 0.5 * P).round(2)
RATING = np.digitize(Q, [0.2, 0.4, 0.6, 0.8]) + 1
IN_CELLS = [f'{{"error": {1 - c}, "p": {q}}}' for q, c in zip(Q, C, strict=True)]
MAX = np.maximum(P, 1 - P)
VOTES = np.round(20 * (1 - P)).astype(int)
CHOSEN_OF_TWO = pd.DataFrame({"label": Y, "pred": (P > 0.5) * 1, "prob": MAX})
SENTIMENT = np.array(["negative", "positive"])
AS_ROLES = {"cat": "negative", "dog": "neutral", "horse": "positive", "ship": "index"}
ONE_IN_TEN = np.arange(N) % 10 == 0
MOVED = np.where(np.arange(N) % 3 == 0, LABEL, (LABEL + 1) % 4)  # wrong less often than by chance
SURE = 0.1 + 0.6 * np.eye(4)[LABEL]
PER_CLASS = {
    "item": np.repeat(np.arange(N), 4),
    "class": np.tile(CLASSES, N),
    "prob": FOUR.ravel(),
    "label": np.eye(4, dtype=int)[LABEL].ravel(),
}
SAID = {"says": "predicted", "p": "confidence"}
CHOSEN_TEXTS = pd.DataFrame(  # right ones may be worded in another way
    {
        "gold": [f"g{k % 30}" for k in range(N)],
        "said": [f"g{(k + 1 - c * (k % 3 > 0)) % 30}" for k, c in enumerate(C)],
    }
)
SYSTEMS = pd.concat([BASE.assign(method=name) for name in "AB"])


def named(role, name, values):
    """Return the base table with another column in place of confidence or correct."""
    return BASE.drop(columns=role).assign(**{name: values})


def mapped(order, label):
    """Return posteriors as mappings of classes, in some order."""
    return pd.DataFrame({"label": label, "probs": by_class(order)})


def without_names(row):
    """Return probabilities by the names that transformers writes for classes without any."""
    return {f"LABEL_{k}": share for k, share in enumerate(row)}


def vector(row):
    """Return a dense vector of Spark ML as Parquet has it."""
    return {"type": 1, "size": None, "indices": None, "values": row}


TAKEN = {  # whose numbers; the file and flags, if it is not a.csv alone, and what it holds
    "confidences": {
        "answers, the right ones and the verdict on them": BASE.assign(
            y_true=np.arange(N) % 2, y_pred=(np.arange(N) + C + 1) % 2
        ),
        "with pandas' index": BASE.to_csv(),
        "units below the names, beside pandas' index": BASE.to_csv().replace(
            "correct\n", "correct\n,text,from 0 to 1,0 or 1\n", 1
        ),
        "header with a trailing comma": TEXT.replace("\n", ",\n"),
        "rows that end before a column that is not used": TEXT.replace(
            "correct\n", "correct,note\n"
        ).replace("\nq001", "\n,,,\nq001"),
        "tabs": ("a.tsv", BASE.to_csv(index=False, sep="\t")),
        "bars": BASE.to_csv(index=False, sep="|"),
        "Excel's CSV": COMMAS.encode("utf-8-sig"),
        "Excel's separator": f"sep=;\r\n{COMMAS}",
        "Parquet called CSV": BASE.to_parquet(),
        "an older encoding": BASE.assign(id="\u00e9" + BASE["id"])
        .to_csv(index=False)
        .encode("cp1252"),
        "UTF-16": TEXT.encode("utf-16"),
        "CR": TEXT.replace("\n", "\r"),
        "newlines in quotes": BASE.assign(id=[f'a\n"b", {i}' for i in range(N)]),
        "JSON lines called JSON": ("a.json", BASE.to_json(orient="records", lines=True)),
        **{
            f"JSON of {orient}": ("a.json", BASE.to_json(orient=orient))
            for orient in ("records", "columns", "index", "split")
        },
        "JSON of a table": ("a.json --columns rows=data", BASE.to_json(orient="table")),
        "JSON of lists": ("a.json", json.dumps(BASE.to_dict("list"))),
        "rows within objects": ("a.json", json.dumps({"run": {"output": {"answers": RECORDS}}})),
        "rows by id": ("a.json", BASE.set_index("id").to_json(orient="index")),
        "few-shot examples beside the rows": (
            "a.json --columns rows=output.results",
            json.dumps({"examples": RECORDS[:3], "output": {"results": RECORDS}}),
        ),
        "rows of each of several runs": (
            "a.json --columns rows=rows",
            json.dumps([{"run": 1, "rows": RECORDS[:9]}, {"run": 2, "rows": RECORDS[9:]}]),
        ),
        "promptfoo": (
            "a.json --columns rows=results.results,correct=success,confidence=metrics.0.score",
            json.dumps({"results": {"prompts": [{"raw": "?"}], "results": ANSWERS}}),
        ),
        "an error within a cell": (
            "a.csv --columns correct=1-r.error,confidence=r.p",
            pd.DataFrame({"r": IN_CELLS}),
        ),
        "R's write.csv": judged("TRUE", "FALSE").to_csv(quoting=2),
        **{
            words: judged(*words.split("/"))
            for words in (
                "yes/no",
                "Correct/Incorrect",
                "right/wrong",
                "Pass/FAIL",
                "C/I",
                "Y/N",
                "✅/❌",
            )
        },
        "NumPy's numbers and truths": BASE.assign(
            confidence=[f"np.float64({q})" for q in Q], correct=[f"np.{c == 1}_" for c in C]
        ),
        "ratios": BASE.assign(confidence=[f"{round(10_000 * q)}/10000" for q in Q]),
        "ratios in words": BASE.assign(confidence=[f"{round(10_000 * q)} out of 10000" for q in Q]),
        "a percent sign before each number": BASE.assign(confidence=[f"%{100 * q:.2f}" for q in Q]),
        "tensors, and lists of one": BASE.assign(
            confidence=[f"tensor({q}, device='cuda:0')" for q in Q], correct=[f"[{c}]" for c in C]
        ),
        "a word for wrong with a comma": (
            "a.csv --right='yes/no, never'",
            judged("yes", "no, never"),
        ),
        "several words for wrong": (
            "a.csv --right='A/B, C'",
            BASE.assign(correct=np.where(C, "A", np.where(SOME, "B", "C"))),
        ),
        "a prompt as long as a book": BASE.assign(prompt=["a" * 200_000, *"b" * (N - 1)]),
        "a row whose sample was not answered": (
            "a.csv --unlabelled drop",
            pd.concat([BASE, pd.DataFrame([{"id": "q200"}])]),
        ),
        "a sign for wrong that else is nothing": ("a.csv --right=+/-", judged("+", "-")),
        "other words": ("a.csv --right wahr", judged("wahr", "falsch")),
        "codes": ("a.csv --right 1/2", BASE.assign(correct=2 - C)),
        "a percent sign in each cell": BASE.assign(confidence=[f"{100 * q:.2f} %" for q in Q]),
        "percentages": ("a.csv --scale 100", BASE.assign(confidence=(100 * Q).round(2))),
        "decimal commas in quotes": BASE.assign(confidence=[f"{q}".replace(".", ",") for q in Q]),
        "decimal commas between tabs": ("a.tsv", BASE.to_csv(index=False, sep="\t", decimal=",")),
        "upper case": BASE.rename(columns=str.upper),
        "classes beside them": BASE.assign(label="x", gold="y", prediction="z", predicted="x"),
        "a number of each row called n": BASE.drop(columns="id").assign(n=range(N)),
        "what was said of correctness, beside counts": (
            "a.csv --columns correct=correct",
            BASE.drop(columns="id").assign(n=np.arange(N) % 7),
        ),
        "grades": ("a.csv --correct-from 0.5", BASE.assign(correct=np.where(C, 0.5, 0.49))),
        "an uncertainty": ("a.csv --columns confidence=1-u", named("confidence", "u", 1 - Q)),
        "words for errors": (
            "a.csv --columns correct=1-error",
            named("correct", "error", np.where(C, "no", "yes")),
        ),
        "a name that begins with 1-": (
            "a.csv --columns 'confidence=1-p'",
            named("confidence", "1-p", Q),
        ),
        "a name with a sign": (
            "a.csv --scale 100 --columns 'confidence=conf (%)'",
            named("confidence", "conf (%)", (100 * Q).round(2)),
        ),
    },
    "posteriors": {
        "decimal commas before exponents": POSTERIORS.map(
            lambda cell: f"{cell:.17e}".replace(".", ",") if isinstance(cell, float) else cell
        ).to_csv(index=False, sep=";"),
        "a constant that has the name of ids": POSTERIORS.assign(id="train/test split"),
        "a 1 for the true class in lists, as text": POSTERIORS.assign(
            label=[str(row) for row in np.eye(4)[LABEL]]
        ),
        "columns named 0, 1, .. with the index": pd.DataFrame(FOUR).assign(label=LABEL).to_csv(),
        "logits": (
            "a.csv --predictions-are logits",
            pd.DataFrame(np.log(FOUR) + 1).add_prefix("logit_").assign(label=LABEL),
        ),
        "scikit-learn's predict_proba beside predict": POSTERIORS.rename(
            columns=lambda name: name.replace("prob", "proba")
        ).assign(y_pred=0),
        "numbered from 1 with labels from 0": (
            "a.csv --columns label=y,posteriors=p_1+p_2+p_3+p_4 --labels 0,1,2,3",
            FROM_1.assign(y=LABEL),
        ),
        "counted from 1": FROM_1.assign(label=LABEL + 1),
        "npz of logits and targets": (
            "a.npz --predictions-are logits",
            {"logits": np.log(FOUR), "targets": LABEL},
        ),
        "in another order": BY_NAME[["ship", "cat", "horse", "dog", "y_true"]],
        **{
            f"columns named by class beside {name}": BY_NAME.assign(**{name: values})
            for name, values in {
                "entropy": -(FOUR * np.log(FOUR)).sum(axis=1),
                "max_prob": FOUR.max(axis=1),
                "latency": np.where(np.arange(N) % 9, Q / 99, np.nan),
                "retries": 0,
            }.items()
        },
        "prob_cat": BY_NAME.rename(columns={name: f"prob_{name}" for name in CLASSES}),
        "classes after any prefix": (
            "a.csv --columns 'posteriors=s cat+s dog+s horse+s ship' --labels cat,dog,horse,ship",
            BY_NAME[CLASSES].add_prefix("s ").assign(label=CLASSES[LABEL]),
        ),
        "classes by the names of roles": BY_NAME.rename(columns=AS_ROLES)
        .replace({"y_true": AS_ROLES})
        .assign(prob=0.5),
        "a list as NumPy prints it": pd.DataFrame(
            {"label": LABEL, "pred": LABEL, "probabilities": [*map(str, FOUR)]}
        ),
        "a list as JSON": pd.DataFrame({"label": LABEL, "probs": map(json.dumps, FOUR.tolist())}),
        "tensors": pd.DataFrame(
            {
                "label": LABEL,
                "probs": [f"tensor({row}, dtype=torch.float64)" for row in FOUR.tolist()],
            }
        ),
        **{
            f"lists in {suffix}": (
                f"a{suffix}",
                pd.DataFrame({"label": LABEL, "posteriors": FOUR.tolist()}),
            )
            for suffix in (".parquet", ".jsonl")
        },
        "a mapping of classes": (
            "a.jsonl",
            pd.DataFrame({"label": CLASSES[LABEL], "probs": by_class(), "pred": "cat"}),
        ),
        "mappings and labels in another order": (
            "a.csv --labels ship,horse,dog,cat",
            mapped([0, 1, 2, 3], CLASSES[LABEL]),
        ),
        "a pipeline's scores": (
            "a.jsonl",
            pd.DataFrame({"text": "?", "label": CLASSES[LABEL], "scores": SCORES}),
        ),
        "lists of probabilities by a name of predicted classes": (
            "a.jsonl",
            pd.DataFrame({"label": LABEL, "prediction": FOUR.tolist()}),
        ),
        "Vertex's lists": (
            "a.jsonl --columns posteriors=prediction",
            pd.DataFrame({"label": CLASSES[LABEL], "prediction": LISTS}),
        ),
        "a zero-shot pipeline's lists": (
            "a.jsonl --columns posteriors=classes+scores",
            pd.DataFrame(LISTS).assign(label=CLASSES[LABEL]),
        ),
        "the numbers of classes without names": (
            "a.jsonl",
            pd.DataFrame({"label": LABEL, "probs": [*map(without_names, FOUR.tolist())]}),
        ),
        "dense vectors of Spark ML": (
            "a.parquet",
            pd.DataFrame({"label": LABEL * 1.0, "probabilities": [*map(vector, FOUR.tolist())]}),
        ),
        "Comprehend's scores": (
            "a.jsonl --columns posteriors=Classes",
            pd.DataFrame(
                {
                    "label": CLASSES[LABEL],
                    "Classes": [
                        [{"Name": one["label"], "Score": one["score"]} for one in row]
                        for row in SCORES
                    ],
                }
            ),
        ),
        "BigQuery's probabilities": (
            "a.jsonl",
            pd.DataFrame({"label": CLASSES[LABEL], "probs": PROBS}),
        ),
        "rounding beyond 0 and 1": POSTERIORS.assign(prob_0=FOUR[:, 0] + 1e-9),
        "a predicted class called label": POSTERIORS.assign(
            y_true=LABEL, label=FOUR.argmax(axis=1)
        ),
        "percentages": ("a.csv --scale 100", POSTERIORS * [100, 100, 100, 100, 1]),
    },
    "rated": {
        "from 1 to 5": ("a.csv --scale=1:5", BASE.assign(confidence=RATING)),
        "in halves": ("a.csv --scale=1:3", BASE.assign(confidence=RATING / 2 + 0.5)),
        "from below 0": ("a.csv --scale=-2:2", BASE.assign(confidence=RATING - 3)),
    },
    "rounded posteriors": {"two digits": ("a.csv --renormalize", POSTERIORS.round(2))},
    "binary": {
        **{
            names: BINARY.set_axis(names.split(), axis=1)
            for names in ("y_true y_prob", "label prob", "label prob_1")
        },
        "the complement": ("a.csv --columns positive=1-q", pd.DataFrame({"label": Y, "q": 1 - P})),
        "the classes against the alphabet": (
            "a.csv --labels spam,ham",
            pd.DataFrame({"label": SPAM[1 - Y], "prob": P}),
        ),
        "with the predicted class": BINARY.assign(y_pred=(P > 0.5).astype(int)),
        "Keras": ("a.npz", {"y_true": Y, "y_prob": P[:, None]}),
        "margins": (
            "a.csv --predictions-are logits",
            pd.DataFrame({"label": Y, "prob": np.log(P / (1 - P))}),
        ),
        "a column called y_pred": (
            "a.csv --columns positive=y_pred",
            BINARY.set_axis(["y_true", "y_pred"], axis=1),
        ),
    },
    "one of four classes": {
        "predicted and true class": CHOSEN,
        "the numbers of predicted classes without names": CHOSEN.assign(
            label=LABEL, predicted=[f"LABEL_{k}" for k in FOUR.argmax(axis=1)]
        ),
        "several true classes in a row, and as many predicted ones": CHOSEN.replace(
            {name: f"[{k}, 1]" for k, name in enumerate(CLASSES)}
        ),
        "a class called NA": CHOSEN.replace({"cat": "NA"}),
        "a pipeline's output": (
            "a.csv --columns label=true,predicted=label,confidence=score",
            CHOSEN.set_axis(["true", "label", "score"], axis=1),
        ),
    },
    "free text": {"predicted and true text": ("a.csv --num-classes inf", CHOSEN)},
    "confidence of two": {"what was said wins": ("a.csv --columns confidence=prob", CHOSEN_OF_TWO)},
}
ASKED = {  # what only the user can tell: a file, flags that the refusal prints, and other numbers that they lead to
    "doubts and mistakes": (
        pd.DataFrame({"uncertainty": 1 - Q, "error": 1 - C}),
        "--columns confidence=1-uncertainty,correct=1-error",
    ),
    "verdicts beside the texts that were judged": (
        CHOSEN_TEXTS.assign(p_true=Q, judged_ok=C),
        "--columns confidence=p_true,correct=judged_ok",
    ),
    "verdicts twice, at two depths": (
        json.dumps(
            [{"ok": c, "out": {"p": q, "ok": c}} for q, c in zip(Q, C.tolist(), strict=True)]
        ),
        "--columns confidence=out.p,correct=ok",
    ),
    "a decision that the probability makes": (
        pd.DataFrame({"churned": Y, "churn_predicted": (P > 0.5) * 1, "p": P}),
        "--columns positive=p,label=churned",
        "binary",
    ),
    "a true class twice, and the likeliest": (
        pd.DataFrame({"bad": Y, "from": Y, "into": (P > 0.5) * 1, "p_bad0": 1 - P, "p_bad1": P}),
        "--columns label=bad,posteriors=p_bad",
        "binary",
    ),
    "columns of 1 for the true class, in another order": (
        OF_EACH_CLASS[[*CLASSES, *ONES[::-1]]],
        f"--columns posteriors={'+'.join(CLASSES)},label={'+'.join(ONES)}",
        "posteriors",
    ),
    "log-probabilities by class": (
        json.dumps(
            [
                {"top": {name: np.log(q) for name, q in row.items()}, "y": CLASSES[k]}
                for row, k in zip(by_class(), LABEL, strict=True)
            ]
        ),
        "--columns label=y,posteriors=top --predictions-are log_probabilities",
        "posteriors",
    ),
    "labels that always are the likeliest class beside others": (
        pd.DataFrame(FOUR, columns=list("abcd")).assign(label=FOUR.argmax(axis=1), by_hand=LABEL),
        "--columns label=by_hand,posteriors=a+b+c+d",
        "posteriors",
    ),
    "lists that are called as one probability": (
        json.dumps(
            [
                {"y_true": int(k), "y_proba": row.tolist()}
                for row, k in zip(FOUR, LABEL, strict=True)
            ]
        ),
        "--columns posteriors=y_proba",
        "posteriors",
    ),
    "lists of one class": (
        json.dumps(
            [
                {"cats": row, "accept": [CLASSES[k]]}
                for row, k in zip(by_class(), LABEL, strict=True)
            ]
        ),
        "--columns label=accept.0,posteriors=cats.cat+cats.dog+cats.horse+cats.ship "
        "--labels cat,dog,horse,ship",
        "posteriors",
    ),
    "an object of two lists, which it stands for": (
        json.dumps([{"all": row, "y": CLASSES[k]} for row, k in zip(LISTS, LABEL, strict=True)]),
        "--columns label=y,posteriors=all",
        "posteriors",
    ),
    "how sure a rater is of one of two classes": (
        pd.DataFrame({"first": SENTIMENT[Y], "by rater": SENTIMENT[RATED], "sure": Q}),
        '--columns "label=first,predicted=by rater,confidence=sure"',
        "",
    ),
    "percentages of two forecasts": (
        pd.DataFrame({"A (%)": 10 * TENTHS, "B (%)": np.where(SOME, 50, 10 * TENTHS)}).assign(
            rain=np.array(["no", "yes"])[Y]
        ),
        '--columns "A (%):positive=A (%),label=rain,scale=100" '
        '--columns "B (%):positive=B (%),label=rain,scale=100" --labels no,yes',
        "",
    ),
    "a verdict by its name": (
        pd.DataFrame({"p_error": 1 - Q, "is_it_correct": C}),
        "--columns confidence=1-p_error,correct=is_it_correct",
    ),
    "log odds beside what may be labels": (
        pd.DataFrame({"effusion": Y, "raw": np.log(P / (1 - P))}),
        "--columns positive=raw,label=effusion --predictions-are logits",
        "binary",
    ),
    "log odds, or margins": (
        pd.DataFrame({"label": Y, "raw": np.log(P / (1 - P))}),
        "--columns positive=raw --predictions-are logits",
        "binary",
    ),
    "two words beside labels of several classes": (
        CHOSEN[["label"]].assign(p=Q, verdict=np.where(C == 1, "keep", "drop")),
        "--columns confidence=p,correct=verdict --right=keep/drop",
    ),
    "verdicts beside the names of two systems": (
        pd.concat(
            [
                pd.DataFrame({"arm": name, "confidence": q, "result": HITS})
                for name, q in (("a", 0.5 + Q / 2), ("b", Q / 2))
            ]
        ),
        "--columns correct=result --right=hit/miss --columns system=arm",
        "",
    ),
    "which of two verdicts": (
        BASE.rename(columns={"correct": "match"}).assign(judge=np.where(SOME, 1 - C, C)),
        "--columns correct=match",
    ),
    "names above those of the columns of two systems": (
        pd.concat({"gpt": BASE, "llama": BASE}, axis=1).drop(columns=[("llama", "id")]).to_csv(),
        "--columns gpt:confidence=gpt.confidence,correct=gpt.correct --columns "
        "llama:confidence=llama.confidence,correct=llama.correct",
    ),
    "scores of several classes, or systems": (
        pd.DataFrame({"a_p": P, "a_y": Y, "b_p": P**2, "b_y": np.where(SOME, 1 - Y, Y)}),
        "--columns a:positive=a_p,label=a_y --columns b:positive=b_p,label=b_y",
        "",
    ),
    "lists of classes in another order in each row": (
        json.dumps([{**row, "y": CLASSES[k]} for row, k in zip(LISTS, LABEL, strict=True)]),
        "--columns label=y,posteriors=classes+scores",
        "posteriors",
    ),
    "such lists by names that are known": (
        json.dumps(
            [
                {"labels": row["classes"], "scores": row["scores"], "y": CLASSES[k]}
                for row, k in zip(LISTS, LABEL, strict=True)
            ]
        ),
        "--columns posteriors=labels+scores,label=y",
        "posteriors",
    ),
    "such lists in a list of one, beside those of ids": (
        json.dumps(
            [
                {"out": [{"ids": [f"id of {name}" for name in row["classes"]], **row}], "y": y}
                for row, y in zip(LISTS, CLASSES[LABEL], strict=True)
            ]
        ),
        "--columns label=y,posteriors=out.0.classes+out.0.scores",
        "posteriors",
    ),
    "lists in lists of one": (
        json.dumps(
            [
                {"label": k, "out": {"rows": [row]}}
                for k, row in zip(LABEL.tolist(), FOUR.tolist(), strict=True)
            ]
        ),
        "--columns posteriors=out.rows.0",
        "posteriors",
    ),
    "numbers by their names, in changing order": (
        json.dumps(
            [
                {
                    "scores": [{"name": "sure", "value": q}, {"name": "ok", "value": c}][
                        :: k % 2 * 2 - 1
                    ]
                }
                for k, (q, c) in enumerate(zip(Q.tolist(), C.tolist(), strict=True))
            ]
        ),
        "--columns confidence=scores.sure.value,correct=scores.ok.value",
    ),
    "logarithms beside codes of the chosen class": (
        CHOSEN.set_axis(["gold", "choice", "ln"], axis=1).assign(
            ln=np.log(CHOSEN.confidence), code=65 + FOUR.argmax(axis=1)
        ),
        "--columns label=gold,predicted=choice,confidence=ln --scale log",
        "one of four classes",
    ),
    "verdicts beside the classes, and rows of another kind": (
        pd.concat(
            [
                CHOSEN.set_axis(["gold", "choice", "p"], axis=1).assign(ok=~WRONG),
                pd.DataFrame({"log": ["x"] * 3 * N}),
            ]
        ),
        "--columns confidence=p,correct=ok",
        None,
    ),
    "a class called none": (
        BY_NAME.rename(columns={"cat": "none", "y_true": "is"}).replace({"is": {"cat": "none"}}),
        "--columns label=is",
        "posteriors",
    ),
    "classes behind small letters": (
        BY_NAME.rename(columns={name: f"choice{name.title()}" for name in CLASSES}),
        "--columns posteriors=choiceCat+choiceDog+choiceHorse+choiceShip --labels cat,dog,horse,ship",
        "posteriors",
    ),
    "a predicted class beside what is called probability": (
        CHOSEN.set_axis(["gold", "pred", "prob"], axis=1),
        "--columns label=gold,confidence=prob",
        "one of four classes",
    ),
    "two predicted classes that are verdicts by their words": (
        pd.DataFrame(
            {
                "buys": np.where(Y, "yes", "no"),
                **{
                    name: column
                    for model, p in (("one", P), ("two", P**2))
                    for name, column in (
                        (f"{model} model", np.where(p > 0.5, "yes", "no")),
                        (f"{model} model (no)", 1 - p),
                        (f"{model} model (yes)", p),
                    )
                },
            }
        ),
        '--columns "one:label=buys,posteriors=one model (no)+one model (yes)" --labels no,yes',
        "",
    ),
    "percentages by the last word of a name, hardly higher where it is right": (
        pd.DataFrame({"verbalized_confidence": 100 * DULL, "is_correct": C}),
        "--columns confidence=verbalized_confidence --scale 100",
        "",
    ),
    "percentages beside a constant": (
        pd.DataFrame({"progress": 100, "sure": 1 + 98 * Q, "ok": C}),
        "--columns confidence=sure,correct=ok --scale 100",
        "",
    ),
    "doubts in per cent, and mistakes": (
        pd.DataFrame({"doubt": 100 * (1 - Q), "wrong?": 1 - C}),
        '--columns "confidence=1-doubt,correct=1-wrong?,scale=100"',
    ),
    "mistakes beside percentages": (
        pd.DataFrame({"conf": 100 * Q, "failed?": 1 - C}),
        '--columns "correct=1-failed?,scale=100"',
    ),
    "shares of a word, as of answers": (
        pd.DataFrame({"p_yes": Q, "label": judged("yes", "no")["correct"]}),
        "--columns confidence=p_yes,correct=label",
    ),
    "shares of a word, as of a class": (
        pd.DataFrame({"p_true": P, "label": Y == 1}),
        "--columns positive=p_true,label=label",
        "binary",
    ),
    "shares beside words that are of answers alone": (
        pd.DataFrame({"p_correct": Q, "label": judged("Correct", "Incorrect")["correct"]}),
        "--columns confidence=p_correct,correct=label",
    ),
    "probabilities beside verdicts by their names": (
        pd.DataFrame({"prob": Q, "is_correct": C}),
        "--columns confidence=prob",
    ),
    "probabilities of class 0": (
        pd.DataFrame({"label": Y, "prob_0": 1 - P}),
        "--columns positive=1-prob_0",
        "binary",
    ),
    "verdicts called labels, beside what is never below a half": (
        pd.DataFrame({"label": C, "prob": 0.5 + Q / 2}),
        "--columns confidence=prob,correct=label",
        "",
    ),
    "votes beside their total": (
        named("confidence", "votes", RATING - 1).assign(of=4),
        "--columns confidence=votes --scale 4",
        "rated",
    ),
    **{
        f"a range in a name, as {name}": (
            named("confidence", name, RATING - low),
            f"--columns {quoted(f'confidence={name}')} --scale {scale}",
            "rated",
        )
        for name, low, scale in (
            ("sure_1_5", 0, "1:5"),
            ("sure: 0..4", 1, "4"),
            ("1 to 5", 0, "1:5"),
        )
    },
    "chosen and true classes beside percentages": (
        CHOSEN.set_axis(["gold", "choice", "max"], axis=1).assign(max=100 * CHOSEN["confidence"]),
        "--columns label=gold,predicted=choice,confidence=max --scale 100",
        "one of four classes",
    ),
    "a pipeline's output": (
        CHOSEN.set_axis(["gold", "label", "score"], axis=1),
        "--columns predicted=label,confidence=score,label=gold",
        "one of four classes",
    ),
    "classes and confidences within objects that are called predictions": (
        "\n".join(
            json.dumps({"truth": true, "prediction": {"class": chosen, "p": q}})
            for true, chosen, q in CHOSEN.itertuples(index=False)
        ),
        "--columns label=truth,predicted=prediction.class,confidence=prediction.p",
        "one of four classes",
    ),
    "lists of logits": (
        json.dumps({"predictions": (np.log(FOUR) + 3).tolist(), "label_ids": LABEL.tolist()}),
        "--columns posteriors=predictions --predictions-are logits",
        "posteriors",
    ),
    "swapped columns": (
        BASE.rename(columns={"confidence": "correct", "correct": "confidence"}),
        "--columns confidence=correct,correct=confidence",
    ),
    "codes of 1 and -1": (BASE.assign(correct=2 * C - 1), "--right=1/-1"),
    "signs": (judged("+", "\N{EM DASH}"), "--right WORD", ""),
    "percentages": (BASE.assign(confidence=(100 * Q).round(2)), "--scale 100"),
    "words of another language": (judged("richtig", "falsch"), "--right=richtig/falsch"),
    "an unknown column of systems": (SYSTEMS, "--columns system=method"),
    "the class that was chosen": (
        CHOSEN_OF_TWO,
        "--columns confidence=prob,predicted=pred",
        "confidence of two",
    ),
    **{
        f"{whose} of systems {names} in rows, beside a column that numbers the samples": (
            pd.concat([table.assign(item=range(N), net=name) for name in names]),
            "--columns system=net",
            whose,
        )
        for whose, table in (
            ("posteriors", BY_NAME),
            ("binary", BINARY),
            ("one of four classes", CHOSEN),
            ("confidences", BASE.drop(columns="id")),
        )
        for names in ("ab", "12")
    },
    "named systems of which each has samples of its own, numbered": (
        pd.concat(
            [BY_NAME.assign(item=range(N), net="a"), BY_NAME[::-1].assign(item=range(N), net="b")]
        ),
        "--columns system=net",
        "posteriors",
    ),
    "verdicts by their name beside probabilities and labels that contradict them": (
        pd.DataFrame({"label": np.arange(N) % 2, "prob": Q, "is_correct": C}),
        "--columns confidence=prob,correct=is_correct",
    ),
    "verdicts beside labels of more classes than have a probability": (
        pd.DataFrame({"label": CLASSES[LABEL % 3], "prob": Q, "ok": C}),
        "--columns confidence=prob,correct=ok",
    ),
    "P(spam) as confidence": (
        pd.DataFrame({"label": SPAM[Y], "predicted": SPAM[(P > 0.5) * 1], "confidence": P}),
        "--columns label=label,positive=confidence --labels ham,spam",
        "binary",
    ),
    "the verdicts in another column, by three that each follow from the others": (
        BASE.assign(correct=np.arange(N) % 2, is_right=C, answer=np.arange(N) % 2 == C),
        "--columns label=correct,predicted=answer",
        "",
    ),
    "rounded posteriors": (POSTERIORS.round(2), "--renormalize", "rounded posteriors"),
    "classes numbered behind another prefix": (
        POSTERIORS.rename(columns=lambda name: name.replace("prob", "class")),
        "--columns posteriors=class_",
        "posteriors",
    ),
    "classes numbered from 1 in brackets, and labels of another name": (
        pd.DataFrame(FOUR, columns=[f"p[{k}]" for k in range(1, 5)]).assign(truth=LABEL + 1),
        '--columns "label=truth,posteriors=p[1]+p[2]+p[3]+p[4]" --labels 1,2,3,4',
        "posteriors",
    ),
    "labels from 1, columns from 0": (
        POSTERIORS.assign(label=LABEL + 1),
        "--labels 1,2,3,4",
        "posteriors",
    ),
    "classes in words, columns by numbers": (
        POSTERIORS.assign(label=CLASSES[LABEL]),
        "--labels cat,dog,horse,ship",
        "posteriors",
    ),
    "classes in another case": (
        BY_NAME.rename(columns={name: f"Prob_{name.title()}" for name in CLASSES}),
        "--columns posteriors=Prob_Cat+Prob_Dog+Prob_Horse+Prob_Ship --labels cat,dog,horse,ship",
        "posteriors",
    ),
    "classes in brackets, one of which is never true": (
        BY_NAME.rename(columns={name: f"p({name})" for name in CLASSES}).rename(
            columns={"y_true": "class"}
        )[LABEL != 1],
        '--columns "label=class,posteriors=p(cat)+p(horse)+p(ship)+p(dog)" --labels cat,horse,ship,dog',
        "",
    ),
    "posteriors without labels of a known name": (
        POSTERIORS.rename(columns={"label": "gold"}).assign(fold=np.arange(N) % 3),
        "--columns label=gold",
        "posteriors",
    ),
    "two classes in words": (
        pd.DataFrame({"label": SPAM[Y], "prob": P}),
        "--labels ham,spam",
        "binary",
    ),
    "one of two classes in the name": (
        pd.DataFrame({"label": SPAM[1 - Y], "Ham-prob": P}),
        "--columns positive=Ham-prob --labels spam,ham",
        "binary",
    ),
    "two codes of classes": (BINARY.assign(y_true=2 * Y - 1), "--labels=-1,1", "binary"),
    "verdicts twice beside texts that are equal for some of them": (
        BASE.drop(columns="correct").assign(
            answer=np.where(C & ~SOME, "Paris", "Lima"), gold="Paris", ok=C == 1, passed=C
        ),
        "--columns correct=ok",
    ),
    "either of two confidences": (
        pd.DataFrame({"first": Q, "second": 1 - (1 - Q) ** 2, "ok": C}),
        "--columns confidence=first,correct=ok",
    ),
    "names with points, as pandas flattens objects, beside other fractions": (
        pd.DataFrame({"out.confidence": Q, "out.share": Q[::-1], "mark.correct": C}),
        "--columns confidence=out.confidence,correct=mark.correct",
    ),
    "the one of several fractions that goes with the chosen class": (
        CHOSEN.set_axis(["gold", "guess", "sure"], axis=1).assign(other=Q),
        "--columns label=gold,predicted=guess,confidence=sure",
        "one of four classes",
    ),
    "forecasts of several models beside one truth of another name": (
        pd.DataFrame({"day": range(N), "rain": Y, "p_gfs": P, "p_icon": P**2}),
        "--columns p_gfs:positive=p_gfs,label=rain",
        "",
    ),
    "lists of log-probabilities": (
        pd.DataFrame({"gold": LABEL, "choices": np.log(FOUR).tolist()}),
        "--columns label=gold,posteriors=choices --predictions-are log_probabilities",
        "posteriors",
    ),
    "right answers by the name of verdicts": (
        CHOSEN.rename(columns={"label": "correct"}),
        "--columns label=correct,predicted=predicted",
        "one of four classes",
    ),
    "predictions and references": (
        BASE.set_axis(["id", "predictions", "references"], axis=1),
        "--columns confidence=predictions,correct=references",
    ),
    "confidences of another name": (
        BASE.rename(columns={"confidence": "p true"}).assign(entropy=1 - Q),
        '--columns "confidence=p true"',
    ),
    "a list in JSON in a list in an object": (
        json.dumps(
            [
                {"r": {"choices": [{"text": json.dumps({"confidence": q})}]}, "correct": c}
                for q, c in zip(Q.tolist(), C.tolist(), strict=True)
            ]
        ),
        "--columns confidence=r.choices.0.text.confidence",
    ),
    "errors": (BASE.drop(columns="correct").assign(e=1 - C), "--columns correct=1-e"),
    "doubts": (BASE.drop(columns="confidence").assign(doubt=1 - Q), "--columns confidence=1-doubt"),
    "percentages and words of other names": (
        BASE.assign(sure=(100 * Q).round(2), judge=np.where(C, "CORRECT", "INCORRECT"))[
            ["id", "sure", "judge"]
        ],
        "--columns confidence=sure,correct=judge --scale 100",
    ),
    **{
        f"{name} above the table": (f"{lines}\n{text}", f'--columns "a.csv:skip={rows}"')
        for name, lines, rows, text in (
            ("a title", "Results,,", "1", TEXT),
            ("titles without separators", "Results\nof 2026\n", "1+2", COMMAS.replace("\r", "")),
            ("a title of two columns", "Results", "1", BASE.drop(columns="id").to_csv(index=False)),
        )
    },
    "answers that were not attempted": (
        BASE.assign(correct=np.where(C, "CORRECT", np.where(SOME, "NOT_ATTEMPTED", "INCORRECT"))),
        "--right=correct/incorrect,not_attempted",
    ),
    "grades of three words": (
        named(
            "correct", "grade", np.where(C, "CORRECT", np.where(SOME, "NOT_ATTEMPTED", "INCORRECT"))
        ),
        "--columns correct=grade --right=correct/incorrect,not_attempted",
    ),
    "probabilities of answers, under the name of those of class 1": (
        pd.DataFrame({"id": BASE["id"], "prob": Q, "passed": C == 1}),
        "--columns confidence=prob,correct=passed",
    ),
    "columns of numbers beside one name": (
        pd.DataFrame({"y": Y, "0": 1 - P, "1": P}),
        "--columns label=y",
        "binary",
    ),
    "words of another language, and decimal commas": (
        pd.DataFrame(
            {"Fall": range(N), "Konfidenz": Q, "richtig": np.where(C, "ja", "nein")}
        ).to_csv(index=False, sep=";", decimal=","),
        "--columns confidence=Konfidenz,correct=richtig --right=ja/nein",
    ),
    "a name in another language beside its words": (
        named("confidence", "confiance", Q).assign(correct=np.where(C, "vrai", "faux")),
        "--columns confidence=confiance --right=vrai/faux",
    ),
    "verdicts and confidences of any name within objects": (
        "\n".join(
            json.dumps({"id": k, "output": {"body": {"sure": q}}, "judge": {"verdict": verdict}})
            for k, (q, verdict) in enumerate(zip(Q, np.where(C, "pass", "fail"), strict=True))
        ),
        "--columns confidence=output.body.sure,correct=judge.verdict",
    ),
    "labels of another name beside lists": (
        pd.DataFrame({"gold_idx": LABEL, "probs": FOUR.tolist()}),
        "--columns label=gold_idx",
        "posteriors",
    ),
    "votes of each class": (
        pd.DataFrame(np.c_[VOTES, 20 - VOTES], columns=["votes_0", "votes_1"]).assign(label=Y),
        "--columns posteriors=votes_ --scale 20",
        "",
    ),
    "doubts or mistakes, both without a name": (
        pd.DataFrame({"id": range(N), "doubt": 1 - Q, "accurate": C}),
        "--columns confidence=1-doubt,correct=accurate",
    ),
    "names with an equals sign, brackets and spaces": (
        BASE.set_axis(["no.", "sure [0-1]", "right (1=yes)"], axis=1),
        '--columns "confidence=sure [0-1],correct=right (1=yes)"',
    ),
    "codes within a name": (
        BASE.set_axis(["no.", "sure [0-1]", "right? 1=so, 2=not so, 9=?"], axis=1),
        '--columns "confidence=sure [0-1],correct=right? 1=so, 2=not so, 9=?"',
    ),
    "logarithms of probabilities by class": (
        np.log(BY_NAME[CLASSES]).add_prefix("log ").assign(truth=CLASSES[LABEL]),
        '--columns "label=truth,posteriors=log cat+log dog+log horse+log ship" --labels cat,dog,horse,ship '
        "--predictions-are log_probabilities",
        "posteriors",
    ),
    "log-probabilities of answers": (
        BASE.assign(sure=np.log(Q)).drop(columns="confidence"),
        "--columns confidence=sure --scale log",
    ),
    "log-probabilities by the name of confidences": (
        BASE.assign(confidence=np.log(Q)),
        "--scale log",
    ),
    "words in quotes": (
        BASE.assign(correct=np.where(C, '"yes"', '"no"')),
        '--right=\'"yes"/"no"\'',
    ),
    "a list of each system": (
        json.dumps({"a": RECORDS, "b": RECORDS}),
        "a=FILE b=FILE --columns a:rows=a --columns b:rows=b",
        "",
    ),
    "percentages of classes": (
        (100 * BY_NAME[CLASSES]).add_suffix("%").assign(label=CLASSES[LABEL]),
        '--columns "posteriors=cat%+dog%+horse%+ship%" --labels cat,dog,horse,ship --scale 100',
        "posteriors",
    ),
    "the chosen class beside the true one": (
        BY_NAME.rename(columns={"y_true": "truth"}).assign(choice=CLASSES[FOUR.argmax(axis=1)]),
        "--columns label=truth",
        "posteriors",
    ),
    "logits": (
        pd.DataFrame(np.log(FOUR) + 1).add_prefix("logit_").assign(label=LABEL),
        "--predictions-are logits",
        "posteriors",
    ),
    "systems side by side": (
        BASE.set_axis(["id", "gpt_confidence", "gpt_correct"], axis=1).assign(
            **{"conf.b": Q, "correct.b": C}
        ),
        "--columns gpt:confidence=gpt_confidence,correct=gpt_correct --columns b:confidence=conf.b,correct=correct.b",
    ),
    "posteriors of systems side by side": (
        BY_NAME[CLASSES]
        .add_prefix("net_")
        .join(BY_NAME[CLASSES].add_prefix("tree_"))
        .assign(truth=CLASSES[LABEL]),
        "--columns net:label=truth,posteriors=net_cat+net_dog+net_horse+net_ship "
        "--columns tree:label=truth,posteriors=tree_cat+tree_dog+tree_horse+tree_ship --labels cat,dog,horse,ship",
        "posteriors",
    ),
    "posteriors of systems side by side, by numbers": (
        POSTERIORS.add_prefix("a.").join(POSTERIORS[[*POSTERIORS][:4]].add_prefix("b.")),
        "--columns a:label=a.label,posteriors=a.prob_ --columns b:label=a.label,posteriors=b.prob_",
        "posteriors",
    ),
    "chosen classes of systems side by side": (
        pd.DataFrame({"key": CHOSEN["label"]}).assign(
            **{f"{name} {what}": CHOSEN[one] for name in "AB" for what, one in SAID.items()}
        ),
        '--columns "A:label=key,predicted=A says,confidence=A p" '
        '--columns "B:label=key,predicted=B says,confidence=B p"',
        "one of four classes",
    ),
    "probabilities of systems side by side": (
        pd.DataFrame({"label": Y, "p a": P, "p b": P}),
        '--columns "p a:positive=p a" --columns "p b:positive=p b"',
        "binary",
    ),
    "two tables of lists": (
        json.dumps({"gpt": {"confidence": [0.5], "correct": [1]}, "llama": {"correct": [1]}}),
        "rows=gpt",
        "",
    ),
    "rows of each of several models": (
        json.dumps([{"model": model, "rows": RECORDS} for model in "ab"]),
        "--columns rows=rows",
        "",
    ),
    "two lists of rows": (
        json.dumps({"folds": RECORDS[:2], "predictions": RECORDS}),
        "rows=predictions",
        "",
    ),
}
GOLD = np.arange(N) % 2
SPARSE = [  # posteriors without those of 0, by class
    {
        name: share / 10
        for name, share in (("a", k % 4), ("b", k % 3), ("c", 10 - k % 4 - k % 3))
        if share
    }
    for k in range(N)
]
COUNTED = BASE.assign(confidence=Q.round(1)).value_counts(["confidence", "correct"])
REFUSED = {  # a file, what the refusal says, and flags
    "lists of classes, of which only the numbers are named": (
        pd.DataFrame(
            {name: [*map(json.dumps, column)] for name, column in pd.DataFrame(LISTS).items()}
        ).assign(label=CLASSES[LABEL]),
        "column 'classes' has names of classes, in each row as many as column 'scores' has numbers. Is it this? "
        "--columns posteriors=classes+scores",
        "--columns posteriors=scores --labels cat,dog,horse,ship",
    ),
    "a sum below ids that are texts": (
        f"{judged('yes', 'no').to_csv(index=False)},0.5,35\n",
        "got '35' in row 202 (1 of 201). Leave such rows out",
    ),
    "fractions by a name of labels": (
        pd.DataFrame({"id": np.arange(N), "target": P}),
        "has neither confidence and correct",
    ),
    **{
        f"numbers written as {form.format(1200)}": (
            pd.DataFrame(
                {
                    "label": [f"{100 * k}" for k in 9 + 2 * Y],
                    "predicted": [
                        (form if place % 3 else "{}").format(100 * k)
                        for place, k in enumerate(9 + 2 * (P > 0.5))
                    ],
                    "confidence": MAX,
                }
            ),
            "have classes that differ in upper and lower case only, or in how spaces, quotes, letters and numbers are",
        )
        for form in ("{:,}", "${}", "€ {:,}.00")
    },
    "classes in two cases beside columns of posteriors": (
        pd.DataFrame(FOUR, columns=[f"prob_{name}" for name in CLASSES]).assign(
            label=[name.title() if k % 10 == 0 else name for k, name in enumerate(CLASSES[LABEL])]
        ),
        "has label = label, but no posteriors",
    ),
    "rows of a log without ids": (
        pd.concat([BASE.assign(queue=None), pd.DataFrame({"queue": range(4)})]),
        '(4 of 204). Leave such rows out: --columns "a.csv:skip=202+203+204+205".',
    ),
    "the probability of the chosen class beside codes": (
        pd.DataFrame({"label": Y, "prob": MAX}),
        "column 'prob' is 0.5 or higher in every row, as of the class that was chosen. ",
    ),
    "the probability of the chosen class beside words": (
        pd.DataFrame({"label": SPAM[Y], "prob": MAX}),
        "column 'prob' is 0.5 or higher in every row, as of the class that was chosen. If it is of class 1 all the "
        "same: --columns positive=prob.",
        "--labels ham,spam",
    ),
    "lists beside labels that have nothing to do with them": (
        pd.DataFrame({"predictions": (3 + np.log(FOUR[::-1])).tolist(), "label_ids": LABEL}),
        "Name them: --columns posteriors=A+B",
    ),
    **{
        f"a row for each class, by {names}": (
            pd.DataFrame(PER_CLASS).rename(
                columns=dict(zip(PER_CLASS, names.split(), strict=True))
            ),
            "Make one row of the rows of each sample, with the true class and",
        )
        for names in ("item class prob label", "id class prob label", "id class confidence correct")
    },
    "percentages of class 1": (
        BINARY.assign(y_prob=(1 + 98 * P).round()),
        "Percentages? --scale 100",
    ),
    "a mean below ids of varied shapes": (
        BASE.assign(id=[f"What is {'x' * (k % 7)} {k}{'?.'[k % 2]}" for k in range(N)]).to_csv(
            index=False
        )
        + "TOTAL,0.5,1\n",
        "got 'TOTAL' in row 202 (1 of 201). Leave such rows out: --columns \"a.csv:skip=202\".",
    ),
    "rows that end in a separator": (
        TEXT.replace("\n", ",\n").replace(",\n", "\n", 1),
        "row 2 has more cells than the header has names; ",
    ),
    "names of rows as R writes them": (
        BASE.set_index("id", drop=False).to_csv().removeprefix("id,"),
        "or begin it with one if they begin with names, as R writes them.\n",
    ),
    "a text with a separator": (
        TEXT.replace("q009", "q0,09"),
        "row 11 has more cells than the header has names; put texts with separators in quotes, or ",
    ),
    "a last number that is cut": (f"{TEXT}q,1,0.", "ends within the number in its last row"),
    "classes in two Unicode forms": (
        CHOSEN.replace({"label": {"cat": "caf\u00e9"}, "predicted": {"cat": "cafe\u0301"}}),
        "in how spaces, quotes, letters and numbers are written",
    ),
    "rows that stand for several samples": (
        COUNTED.reset_index(name="n"),
        "--columns weight=n --weights-are counts; if not: --columns correct=correct.",
    ),
    "labels and predictions of other words": (
        CHOSEN.assign(label="a " + CHOSEN["label"]),
        "has no class in common with column 'predicted', which has ",
    ),
    "another word among 0 and 1": (
        BASE.assign(correct=np.where(SOME, "?", C)),
        "got '?' in row 2 (8 of 200). No verdict? Leave these cells empty.",
    ),
    "probabilities called y_pred": (
        BINARY.set_axis(["y_true", "y_pred"], axis=1),
        "the probability of class 1: --columns positive=y_pred,label=y_true.",
    ),
    "answers and the right ones as 0 and 1": (
        BASE.assign(
            correct=GOLD, answer=np.where(np.arange(N) * 0.618 % 1 < np.sqrt(Q), GOLD, 1 - GOLD)
        ),
        "it may hold the right answers. --columns label=correct,predicted=answer if it does",
    ),
    "verdicts of two judges in words": (
        judged("right", "wrong").assign(judge=np.where(SOME, "right", "wrong")),
        "if it does, --columns correct=correct if it says whether answers are right",
    ),
    "the likeliest classes, in texts of lists": (
        pd.DataFrame({"label": LABEL, "probs": map(str, np.sort(FOUR).tolist())}),
        "all the same: --columns posteriors=probs.",
    ),
    "the likeliest classes": (
        POSTERIORS.assign(**dict(zip(POSTERIORS, np.sort(FOUR)[:, ::-1].T, strict=False))),
        "same: --columns posteriors=prob_0+prob_1+prob_2+prob_3.",
    ),
    "some of the classes": (
        POSTERIORS.assign(**dict(zip(POSTERIORS, 0.9 * FOUR.T, strict=False))),
        "Are classes missing? Each row needs the probability of every class.",
    ),
    "ratings without the lowest": (
        BASE.assign(confidence=np.maximum(RATING, 2)),
        "--scale=LOW:HIGH maps",
    ),
    "the class that was chosen, by its name": (
        CHOSEN_OF_TWO.assign(label=SPAM[Y], pred=SPAM[(P > 0.5) * 1]),
        "by column 'pred'; got",
        "--labels ham,spam",
    ),
    "a path of rows in CSV": (TEXT, "has no several lists of rows", "--columns rows=data"),
    "a role that there is not, of several": (
        TEXT,
        "got 'truth'",
        "--columns truth=correct,confidense=confidence",
    ),
    "a name of a column that no flag says": (
        BASE.rename(columns={"correct": "ok, u=1"}),
        "got 'u'. Is it within the name of a column? Rename that.",
        "--columns 'correct=ok, u=1'",
    ),
    "labels as numbers beside names of classes": (
        pd.DataFrame({"label": LABEL, "probs": by_class()}),
        "must be among the classes cat, dog, horse, ship; got '2' in row 2 (200 of 200).\n",
    ),
    "words for confidences": (
        BASE.assign(confidence=np.where(C, "high", "low")),
        "must hold numbers; got 'low' in row 2 (200 of 200). Words for degrees? ",
    ),
    "no header": (
        BASE[["confidence", "correct"]].to_csv(index=False, header=False),
        "The first row must contain",
    ),
    "a page of a server": (
        "\n<!DOCTYPE html><h1>404</h1>\n<p>confidence,correct</p>",
        "page of HTML",
    ),
    "nothing": ("", "a.csv: the file is empty."),
    "two rows of names that are the same": (
        pd.concat([BASE, BASE], keys=["gpt", "gpt"], axis=1).to_csv(index=False),
        "columns must have different names; 'gpt' is repeated",
    ),
    "numbers up to 2 beside verdicts": (
        pd.DataFrame({"p": 2 * Q, "match": C}),
        "Name them with --columns confidence=NAME,correct=NAME, or label=NAME,posteriors=A+B",
    ),
    "how many of several answers are right": (
        pd.DataFrame({"sure": 50 + 10 * (LABEL % 5), "items": 5 + LABEL, "right": 1 + LABEL}),
        "Name them with --columns confidence=NAME,correct=NAME, or label=NAME,posteriors=A+B",
    ),
    "a pointer": ("version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "git lfs pull"),
    "the chosen class without the true one": (
        BY_NAME.drop(columns="y_true").assign(choice=CLASSES[FOUR.argmax(axis=1)]),
        "Name them with --columns confidence=NAME,correct=NAME, or label=NAME,posteriors=A+B",
    ),
    "the complement of the class in the name": (
        pd.DataFrame({"label": SPAM[Y], "not spam": 1 - P}),
        "If 'not spam' is the probability of spam: --columns",
    ),
    "two classes in words beside no probabilities": (
        pd.DataFrame({"label": SPAM[Y], "prob": np.nan}),
        "must hold numbers of classes; got ",
    ),
    "an older encoding of columns without a role": (
        pd.DataFrame({"Höhe": range(N), "größe": np.arange(N) % 7}).to_csv().encode("cp1252"),
        "beside them: letters beyond ASCII (read as Windows-1252). Name them with",
    ),
    "the complement of logarithms": (
        BASE.assign(confidence=np.log(Q)),
        "must hold probabilities, since it is a complement",
        "--scale log --columns confidence=1-confidence",
    ),
    "few on another scale": (
        BASE.assign(confidence=np.where(SOME, 100, Q)),
        "must lie on one scale; 192",
    ),
    "few on another scale, told": (
        BASE.assign(confidence=np.where(SOME, 100, Q)),
        "in row 3 (192 of 200).",
        "--scale 100",
    ),
    "percent signs in some cells": (
        BASE.assign(
            confidence=[f"{q:.0%}" if some else f"{q}" for q, some in zip(Q, SOME, strict=True)]
        ),
        "written in one way; most are whole or with decimal points; got",
    ),
    "points between thousands": (
        BASE.assign(w="1.234", confidence=BASE["confidence"].map("{:.4f}".format))
        .replace({"confidence": {r"\.": ","}}, regex=True)
        .to_csv(index=False, sep=";"),
        "decimal",
        "--weight w",
    ),
    "a sum below a gap": (f"{TEXT},,\nSumme,100,120\n", "the last rows are unlike all others"),
    "a mean by its value": (
        pd.concat([pd.DataFrame([{"id": "", "confidence": Q.mean(), "correct": C.mean()}]), BASE]),
        "one row is unlike all others",
    ),
    "a title above names that are repeated": (
        f"Results,,\nid,confidence,confidence\n{BASE.to_csv(index=False, header=False)}",
        "columns must have different names; 'confidence' is repeated",
        "--columns a.csv:skip=1",
    ),
    "a row that is not there to skip": (
        TEXT,
        "has no such row to skip; got '202'.",
        "--columns a.csv:skip=1+202",
    ),
    "UTF-16 without a mark": (TEXT.encode("utf-16-le"), "it is UTF-16 without a mark"),
    "entropy": (
        named("confidence", "entropy", -np.log(Q + 1e-3)),
        "but no confidence; its columns are id (200 texts",
    ),
    "logits of confidences": (
        BASE.assign(confidence=np.log(Q + 1e-3) + 2),
        "Map it to a probability in [0, 1] first",
    ),
    "a missing code": (
        BASE.assign(correct=np.where(SOME, 99, C)),
        "got 99.0 in row 2 (8 of 200). No verdict?",
    ),
    "counts": (
        BASE.assign(correct=np.arange(N) % 3 * 45 + 10),
        "must be 0 (incorrect) or 1 (correct); got 10.0",
    ),
    "three words": (
        BASE.assign(correct=np.where(SOME, "maybe", np.where(C, "yes", "no"))),
        "'maybe' in row 2",
    ),
    "verdicts of several kinds, of one of which there is one word": (
        BASE.assign(correct=np.where(SOME, "true", C)),
        "must hold verdicts written in one way, not 192 as 1/0, 8 as true/false; got 'true' in row 2 (8 of 200).\n",
    ),
    "three words of which one is right": (
        BASE.assign(correct=np.where(C, "A", np.where(SOME, "B", "C"))),
        "must hold a, b, or nothing; got 'C' in row 3 (93 of 200). --right=a/b,c counts these as wrong.",
        "--right A",
    ),
    "a row of nothing that is read": (
        pd.concat([pd.DataFrame([{"spec": "of the run"}]), BASE]),
        "has no value, and no other column that is used has one in row 2 (1 of 201). Leave such rows out",
    ),
    "a row that has an id alone, and one without": (
        pd.concat([BASE, pd.DataFrame([{"id": "q"}, {"correct": 1}])]),
        "column 'id' has no value in row 203 (1 of 202). Give each row its id",
    ),
    "a cell that takes long to search": (
        BASE[:20].assign(confidence="tensor(" + 100_000 * ",a="),
        "column 'confidence' must hold numbers; got 'tensor(",
    ),
    "a slip": (
        BASE.assign(correct=["corect", *judged("correct", "incorrect")["correct"][1:]]),
        "must hold correct, incorrect, or nothing; got 'corect' in row 2 (1 of 200). No verdict?",
    ),
    "words of two pairs": (
        BASE.assign(correct=np.where(C, "yes", "wrong")),
        "two codes, wrong and yes: one of them is right",
    ),
    "two codes that no flag separates": (
        judged("3/5", "1/5"),
        "has two codes, 1/5 and 3/5: one of them is right. Write 1 for right answers, and 0 for wrong ones.",
    ),
    "ignored rows": (
        POSTERIORS.assign(label=np.where(SOME, -100, LABEL)),
        "rows that do not count? Leave these out.",
    ),
    "ignored rows of -1": (
        POSTERIORS.assign(label=np.where(SOME, -1, LABEL)),
        "rows that do not count?",
    ),
    "P(chosen class) alone": (
        pd.DataFrame({"label": Y, "prob": MAX}),
        "0.5 or higher in every row",
    ),
    "classes in two cases": (
        CHOSEN.replace({"predicted": {"ship": "Ship"}}),
        "differ in upper and lower case only",
    ),
    "numbers of mapped classes": (
        mapped([3, 0, 1, 2], LABEL),
        "must name the same classes",
        "--labels 0,1,2,3",
    ),
    "the likeliest classes by name": (
        pd.DataFrame({"label": CLASSES[LABEL], "probs": by_class()}).assign(
            probs=lambda table: [
                {name: q for name, q in row.items() if q > 0.1} for row in table["probs"]
            ]
        ),
        "cat, dog, horse, ship, or leave out those whose probability is 0; missing there, or too many: ship in row",
    ),
    "numbers and verdicts of other names, of two systems": (
        pd.concat([BASE.assign(by=name) for name in ("ann", "bob")])[
            ["by", "confidence", "correct"]
        ]
        .set_axis(["by", "p", "ok"], axis=1)
        .to_csv(index=False),
        "Does it name systems? --columns system=by.",
    ),
    "a list of classes beside that of their probabilities": (
        pd.DataFrame(
            {"label": [*map(str, [["a", "b"], ["b", "a"]] * 9)], "probs": ["[.7, .3]"] * 18}
        ),
        "as many as column 'probs' has numbers. Is it this? --columns posteriors=label+probs,label=NAME.",
    ),
    "lists of 1 for the true class among fewer": (
        POSTERIORS.assign(label=[str(row) for row in np.eye(5)[LABEL]]),
        "must hold numbers of classes",
    ),
    "two true classes in a row": (
        OF_EACH_CLASS.assign(**{"is_cat": 1}),
        "must have a 1 in one of its columns, and 0 in the others; got '1+",
        f"--columns posteriors={'+'.join(CLASSES)},label={'+'.join(ONES)}",
    ),
    "a 1 for the true class, and names": (
        OF_EACH_CLASS,
        "must be read without names of classes",
        f"--columns posteriors={'+'.join(CLASSES)},label={'+'.join(ONES)} --labels ship,cat,dog,horse",
    ),
    "a true class without a column": (
        OF_EACH_CLASS,
        "must have a column for each of the labels; got 3 labels and cat..ship",
        f"--columns posteriors={'+'.join(CLASSES)},label={'+'.join(ONES[1:])}",
    ),
    "several classes in a row": (
        POSTERIORS.assign(label=[f"[{k}, {(k + 1) % 4}]" for k in LABEL]),
        "one column has the probability of B.\n",
    ),
    "a class without a column": (
        BY_NAME.drop(columns="ship"),
        "No column has the probability of ship: each class in the labels needs one.",
    ),
    "both forms": (
        POSTERIORS.assign(confidence=0.5, correct=1),
        "confidence=confidence or label=label",
    ),
    "two sets of posteriors": (
        POSTERIORS.join(FROM_1.set_axis([f"p_{k}" for k in range(4)], axis=1)),
        "several sets",
    ),
    "roles that no form has": (
        POSTERIORS,
        "no form of input with correct, posteriors",
        "--columns correct=label,posteriors=prob",
    ),
    "answers beside true ones": (
        CHOSEN.rename(columns={"predicted": "answer"}),
        "but no predicted; its columns are label",
        "--metrics ER",
    ),
    "answers as correctness": (
        CHOSEN.rename(columns={"predicted": "answer"}),
        "yes or no, or such a pair; got",
        "--columns correct=answer,confidence=confidence",
    ),
    "percent signs on a scale": (
        BASE.assign(confidence=[f"{q:.0%}" for q in Q]),
        "Per cent signs are read as they are, without --scale",
        "--scale 100",
    ),
    "several columns of a role that has one": (
        BASE.assign(lang=1),
        "has no column",
        "--columns weight=lang+id",
    ),
}
NOTED = {  # a file, what is said beside the number, and flags
    "the columns of two classes in the other order": (
        pd.DataFrame({"label": Y, "prob_0": P, "prob_1": 1 - P}),
        "more often than by chance: are they in the order of the columns",
    ),
    "logarithms": (BASE.assign(confidence=np.log(Q)), "scale = natural logarithms", "--scale log"),
    "predicted classes that are not the likeliest": (
        POSTERIORS.assign(pred=np.where(SOME, FOUR.argmin(axis=1), FOUR.argmax(axis=1))),
        "'pred' is not the likeliest class in 8 of the first 200 rows",
    ),
    **{
        f"{what} in another order of classes": (table, "of rows, more often than by chance")
        for what, table in (
            ("columns", POSTERIORS.set_axis([*POSTERIORS.columns[[1, 2, 3, 0]], "label"], axis=1)),
            (
                "names",
                CHOSEN.replace({"predicted": dict(zip(CLASSES, np.roll(CLASSES, 1), strict=True))}),
            ),
        )
    },
    **{
        f"{what} numbered otherwise in most rows": (
            table,
            "of the first 200 rows; in another order they would be in 34%",
        )
        for what, table in (
            ("predicted classes", CHOSEN.assign(label=LABEL, predicted=MOVED)),
            ("predicted names", CHOSEN.assign(predicted=CLASSES[MOVED])),
            ("labels", pd.DataFrame({"label": MOVED, "probs": map(str, SURE.tolist())})),
        )
    },
    **{
        f"verdicts that contradict {what}": (
            table.assign(correct=np.where(SOME, WRONG, ~WRONG)),
            "'correct' does not say whether the likeliest class is the true one in 8 of the first 200",
        )
        for what, table in (
            ("posteriors", POSTERIORS),
            ("those of named classes", BY_NAME),
            ("lists", pd.DataFrame({"label": LABEL, "probs": map(str, FOUR.tolist())})),
        )
    },
    **{
        f"{end} for no confidence": (
            BASE.assign(confidence=np.where(ONE_IN_TEN, end, (1 - end) / 2 + Q / 2)),
            f"Is {end} a code for no confidence?",
        )
        for end in (0, 1)
    },
    "confidences that were divided by 100": (BASE.assign(confidence=Q / 100), "divided by 100?"),
    "P(spam) as confidence beside verdicts": (
        pd.DataFrame({"truth": SPAM[Y], "choice": SPAM[(P > 0.5) * 1]}).assign(
            confidence=P, correct=((P > 0.5) == Y) * 1
        ),
        "of 'spam'? If it is: --columns label=truth,positive=confidence --labels ham,spam.",
    ),
    "confidences on one side of 1/2 by a word": (
        BASE.assign(band=np.where(Q > 0.5, "high", "low")),
        "'band' is 'low' in all rows with confidences below 1/2, and 'high' above",
    ),
    "labels beside answers": (
        pd.DataFrame({"prediction": BASE["id"], "prob": Q, "label": C}),
        "right answers: --columns confidence=prob,correct=label; if it is the true class,",
    ),
    "a column of weights": (BASE.assign(weight=1 + C), "not used: weight (2 values)"),
    "several samples of a question": (
        pd.concat([BASE, BASE]),
        "200 of 400 ids in column 'id' occur more than once. Several answers to a question? They depend on each",
        "--interval 0.95",
    ),
    "a class that some rows leave out": (
        pd.DataFrame({"label": [*"abbc" * 50], "probs": SPARSE}),
        f"{sum(len(row) < 3 for row in SPARSE)} of 200 rows name not all classes, and sum to 1 without these",
    ),
    "inverted": (
        BASE.assign(confidence=1 - Q),
        "Wrong answers have higher confidences than right ones",
    ),
    "the probability of the other class": (
        BINARY.assign(y_prob=1 - P),
        "--columns positive=1-y_prob.",
    ),
    "perfect": (BASE.assign(correct=(Q > 0.5) * 1), "is one column computed from the other?"),
    "K of classes": (CHOSEN, "K is 4. For free text, use --num-classes inf."),
    "a first class that never occurs": (
        POSTERIORS.assign(label=np.maximum(LABEL, 1)),
        "Class 0 never occurs, and all other classes up to 3 do: are labels counted from 0?",
    ),
    "hard posteriors": (
        POSTERIORS.assign(**dict(zip(POSTERIORS, np.eye(4)[LABEL].T, strict=False))),
        "are 0 or 1",
    ),
    "systems without ids": (
        SYSTEMS.drop(columns="id"),
        "200 rows each, and all rows count as one system's. Does it",
    ),
    "as many words of each utterance": (
        CHOSEN.assign(utterance=np.arange(N) // 10, word=np.arange(N) % 10),
        "--columns system=word.",
    ),
    "systems in rows that are numbered": (
        SYSTEMS.assign(id=range(2 * N)).sample(frac=1, random_state=0).sort_values("id"),
        "--columns system=method.",
    ),
    "comments above the header": (f"# a\n# b\n{TEXT}", "not used: # (2 lines above the header)"),
    "the likeliest class as the label": (
        POSTERIORS.assign(label=FOUR.argmax(axis=1)),
        "The likeliest class is the true one in all 200 rows: is column 'label' computed",
    ),
    "decimal commas between commas, below one name too many": (
        "id,correct,confidence,\n"
        + "".join(
            f"{k},{c},0,{100 * q:02.0f}\n" for k, (c, q) in enumerate(zip(C, Q, strict=True))
        ),
        "All 200 confidences are 0: they tell no answer from another.",
    ),
    "verdicts of another judge": (
        BASE.assign(judge=np.where(SOME, 1 - C, C)),
        "and 'judge' those of the system? --columns label=correct,predicted=judge if it does",
    ),
}


@pytest.mark.parametrize(
    ("whose", "case"), [(whose, case) for whose, cases in TAKEN.items() for case in cases]
)
def test_files_give_their_numbers(whose, case, assert_scores):
    taken = TAKEN[whose][case]
    assert (
        len(assert_scores(whose, *(taken if isinstance(taken, tuple) else ("a.csv", taken)))) == 1
    )


def asked(case):
    """Return the path and the content of a file, the flags that are asked for, and whose numbers they lead to."""
    table, flags, whose = (*ASKED[case], "confidences")[:3]
    return "a.json" if isinstance(table, str) and table[0] in "[{" else "a.csv", table, flags, whose


@pytest.mark.parametrize("case", ASKED)
def test_what_only_the_user_knows_is_asked_for_with_the_flags_to_write(case, score, assert_scores):
    path, table, flags, whose = asked(case)
    code, _, said = score(path, table)
    assert (code, all(flag in said for flag in flags.split(" --"))) == (2, True), said
    if whose:
        assert_scores(whose, f"{path} {flags}")


def test_no_complement_of_logarithms_is_proposed(score):
    said = score("a.csv", pd.DataFrame({"logs": np.log(Q), "match": C}))[2]
    assert "confidence=logs,correct=match --scale log" in said
    assert "1-logs" not in said


@pytest.mark.parametrize("space", ["", " "])
def test_columns_that_are_named_after_classes_need_only_their_labels(space, score, assert_scores):
    table = BY_NAME.add_prefix(space).drop(columns=f"{space}y_true")
    table = table.assign(**{"is": [space + name for name in BY_NAME.y_true]})
    assert score("a.parquet", table)[2].endswith("these: --columns label=is.\n")
    assert_scores("posteriors", "a.parquet --columns label=is")


KINDS_OF_ANSWERS = {  # one case of each set of roles and flags
    tuple(re.findall(r"\w+(?==)|--[\w-]+", asked(case)[2])): case
    for case in ASKED
    if asked(case)[3]
}


@pytest.mark.parametrize("case", KINDS_OF_ANSWERS.values())
def test_what_score_asks_for_read_asks_for_and_takes(case, score, capsys):
    path, table, flags, _ = asked(case)
    _, _, said = score(path, table)
    code = cli.main(["read", path])
    read = capsys.readouterr().err
    is_without_labels = code == 0 and "No column is read as the labels" in read
    assert is_without_labels or (code, read) == (2, said)
    assert cli.main(["read", path, *shlex.split(flags)]) == 0


@pytest.mark.parametrize("name", ["correct", "verdict"])
@pytest.mark.parametrize("share", ["{:.0f}%", "%{:.0f}", "{:.0f}/100", "{:.0f} out of 100"])
def test_what_is_asked_does_not_depend_on_how_shares_are_written(share, name, score):
    cents = 100 * Q.round(2)
    columns = [cents / 100, [share.format(one) for one in cents]]
    said = [score("a.csv", pd.DataFrame({"how_sure": one, name: C}))[2] for one in columns]
    flags, as_texts = (re.findall(r"--columns \S+", one) for one in said)
    assert flags
    assert as_texts == flags


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused_in_one_line(case, score):
    table, rule, *flags = REFUSED[case]
    code, _, said = score(" ".join(["a.csv", *flags]), table)
    assert (code, said.count("\n")) == (2, 1)
    assert rule in said
    assert "--correct-from" not in said


@pytest.mark.parametrize("case", NOTED)
def test_what_a_number_is_not_is_said(case, score):
    table, note, *flags = NOTED[case]
    code, _, said = score(" ".join(["a.csv", *flags]), table)
    assert code == 0
    assert note in said


@pytest.mark.parametrize("names", [["correct", "answer", "gold"], ["verdict", "answer", "correct"]])
def test_which_of_three_columns_has_the_verdicts_is_told_by_confidences_or_asked(names):
    """Each is true where the others agree: a file whose verdicts are called otherwise is never taken without a word."""
    said = []
    for seed in range(50):
        rng = np.random.default_rng(seed)
        confidence = rng.random(N)
        verdict = rng.random(N) < 0.25 + confidence / 2  # AUROC is 0.58
        gold = rng.random(N) < 0.5
        columns = dict(zip(names, [verdict * 1, (gold == verdict) * 1, gold * 1], strict=True))
        frame = pd.DataFrame(columns | {"confidence": confidence})
        try:
            recipe = recipe_of(sheet_of(frame), Reading(), rows=N)
        except FileError as error:
            said.append(error.rule)
        else:
            said.append("".join(note.id for note in recipe.notes if note.id != "like_systems"))
    if names[0] == "correct":
        assert said.count("words_of_other") <= 1
        assert said.count("") >= 45
    else:
        assert said.count("words_of_other") >= 47
        assert "" not in said


@pytest.mark.parametrize("numbers", [1 + np.arange(len(COUNTED)), np.linspace(0, 2, len(COUNTED))])
def test_numbers_of_rows_and_fractions_are_no_counts(numbers, score):
    code, _, said = score("a.csv", COUNTED.reset_index(name="n").assign(n=numbers))
    assert code == 0, said


@pytest.mark.parametrize("names", [("1E2", "100"), ("1.1", "1.10")])
def test_classes_that_are_equal_only_as_numbers_are_others(names, tmp_path):
    table = CHOSEN.replace(dict(zip(CLASSES, (*names, "3", "4"), strict=True)))
    (tmp_path / "a.csv").write_text(table.to_csv(index=False), encoding="utf-8")
    columns = {"predicted": "predicted"}
    (submission,) = read_submissions(tmp_path / "a.csv", columns=columns)
    assert submission.references.tolist() == (~WRONG).astype(int).tolist()
    assert submission.num_classes == 4


@pytest.mark.parametrize(
    ("lines", "rows"),
    [
        ("TOTAL,120,0.5\n", "202"),
        ("# resumed\n# again\n", "202+203"),
        ("id,confidence,correct\n", "202"),
        ("q200,0.5\nq201\n", "202+203"),
    ],
)
def test_rows_that_are_none_of_samples_are_skipped_as_the_refusal_says(lines, rows, score):
    code, _, refusal = score("a.csv", TEXT + lines)
    assert code == 2
    (flags,) = re.findall(r"--columns \"(.*)\"", refusal)
    assert flags == f"a.csv:skip={rows}"
    code, values, said = score(f"a.csv --columns {flags}", TEXT + lines)
    assert (code, values) == (0, score("a.csv", TEXT)[1])
    assert f"; skip = {rows}" in said


@pytest.mark.parametrize("count", [20, 21])
def test_many_rows_of_another_kind_are_skipped_by_what_they_have_and_no_others(count, score):
    lines = BASE.drop(columns="id").assign(kind="answer", at=np.arange(N))
    others = pd.DataFrame({"kind": ["health"] * count, "at": np.arange(count)})
    table = pd.concat([others, lines]).replace({np.nan: None})
    (said,) = re.findall(r'"a.jsonl:(.*)"', score("a.jsonl", table)[2])
    assert said == (
        "skip=kind=health" if count > 20 else f"skip={'+'.join(map(str, range(1, 21)))}"
    )
    code, values, first = score(f"a.jsonl --columns {said}")
    assert (code, values) == (0, score("a.jsonl", lines)[1])
    assert f"; {said.replace('=', ' = ', 1)}; " in first


def test_rows_without_values_beside_others_of_their_ids_are_skipped_with_those_that_are(score):
    prompts = BASE[["id"]].assign(kind="prompt")
    refusal = score("a.csv --columns skip=202", pd.concat([BASE.assign(kind="answer"), prompts]))[2]
    (flags,) = re.findall(r"--columns \"(.*)\"", refusal)
    assert flags == "a.csv:skip=202+kind=prompt"
    assert score(f"a.csv --columns {flags}")[:2] == (0, score("a.csv", BASE)[1])


@pytest.mark.parametrize(("count", "left"), [(1, "203"), (21, "confidence=-1.0")])
def test_rows_without_a_predicted_and_a_true_class_are_skipped_beside_a_title(count, left, score):
    lines = CHOSEN.rename(columns={"label": "gold", "predicted": "said"}).assign(kind="word")
    others = pd.DataFrame({"kind": ["line"] * count, "confidence": -1})
    command = "a.csv --columns a.csv:skip=1 --columns label=gold,predicted=said"
    refusal = score(command, "Results\n" + pd.concat([lines, others]).to_csv(index=False))[2]
    assert f"and neither has 'gold', in row 203 ({count} of {N + count}). Leave" in refusal
    (flags,) = re.findall(r"--columns .*\"", refusal)
    assert flags == f'--columns "a.csv:skip=1+{left}"'
    code, values, _ = score(f"{command} {flags}")
    assert (code, values) == (0, score("a.csv", CHOSEN)[1])


def test_no_row_is_skipped_where_one_of_them_has_a_true_class(score):
    table = CHOSEN.assign(predicted=np.where(SOME, None, CHOSEN["predicted"]))
    refusal = score("a.csv --columns predicted=predicted", table)[2]
    assert refusal.endswith("column 'predicted' has no value in row 2 (8 of 200).\n")


def test_rows_that_are_not_there_and_rows_out_of_core_are_not_skipped(score):
    for row in ("300", "id=q300", "ids=q1"):
        assert "has no such row" in score(f"a.csv --columns skip={row}", TEXT)[2]
    parquet = BASE.assign(id=np.arange(N))
    said = score("a.parquet --columns skip=2 --out-of-core", parquet)[2]
    assert "cannot skip rows of files that are not read whole" in said


@pytest.mark.parametrize("name", ["w", "1-w"])  # the second is no complement
def test_the_complement_of_a_column_is_one_wherever_rows_are_read(name, score):
    table = BASE.assign(id=np.arange(N), **{name: Q})
    rows = [score(f"a.parquet --weight 1-w{end}", table)[1] for end in ("", " --out-of-core")]
    assert rows[0][0]["error_rate"] == pytest.approx(rows[1][0]["error_rate"], rel=1e-12)
    words = table.assign(**{name: np.where(C, "hit", "miss")})
    assert score("a.csv --right hit --columns correct=1-w", words)[0] == 0


def test_lists_beside_the_rows_are_named_and_a_name_is_once_in_an_object(score):
    document = json.dumps({"gpt": RECORDS, "llama": RECORDS[:7]})
    assert "not used: llama (7 rows)" in score("a.json --columns rows=gpt", document)[2]
    twice = '{"confidence": 0.5, "correct": 1, "confidence": 0.6}\n'
    code, _, said = score("a.jsonl", '{"confidence": 0.5, "correct": 1}\n' + twice)
    assert (code, "has 'confidence' twice, in what begins in row 2" in said) == (2, True)


def test_every_column_is_used_or_named_and_a_recipe_is_taken_back(score, tmp_path, capsys):
    tables = [one for cases in TAKEN.values() for one in cases.values()]
    for table in (one for one in tables if isinstance(one, pd.DataFrame)):
        path = tmp_path / "a.csv"
        path.write_bytes(content_of(table, ".csv"))
        (submission,) = read_submissions(path)
        recipe = submission.recipe
        used = {name for names in recipe.columns.values() for name in names}
        assert {str(name) for name in table} == used | {name for name, _ in recipe.unused}
        assert Recipe.from_fields(json.loads(json_of([recipe]))) == recipe
        (again,) = read_submissions(path, recipe=recipe)
        assert (again.recipe.digest(), again.recipe.said()) == (recipe.digest(), recipe.said())
    score("b.csv", BASE.rename(columns={"confidence": "p"}))
    assert cli.main(["read", "b.csv", "--columns", "confidence=p", "--output", "r.json"]) == 0
    line, *columns = capsys.readouterr().out.splitlines()
    assert line == "read b.csv: 200 rows; confidence = p, correct = correct, id = id"
    assert [column.split()[0] for column in columns] == ["id", "p", "correct"]
    assert score("b.csv --recipe r.json")[0] == 0


def test_the_line_that_the_page_on_files_shows_is_what_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs/files.md").read_text(encoding="utf-8")
    number = np.arange(900)
    columns = {"conf": number / 900, "correct": number % 2, "question": number // 3}
    columns |= {"llm": np.array(["a", "b", "c"])[number % 3], "seed": number % 3}
    columns |= {"answer": [f"text {one % 812}" for one in number]}
    pd.DataFrame(columns).to_csv("long.csv", index=False)
    first, *_ = read_submissions("long.csv")
    assert f"```\n{first.recipe}\n```" in page


SIDE_BY_SIDE = BASE.rename(columns={"confidence": "a_p", "correct": "a_ok"}).assign(
    b_p=1 - Q, b_ok=C
)
FLAGS = "--columns a:confidence=a_p,correct=a_ok --columns b:confidence=1-b_p,correct=b_ok"


@pytest.mark.parametrize("is_off", [False, True])
def test_the_likeliest_class_of_a_system_is_no_other_systems(is_off, score):
    """But what is not quite that of any of them contradicts them."""
    shares = [FOUR, np.roll(FOUR, 1, axis=0)]
    table = pd.DataFrame({"label": LABEL})
    flags = ""
    for name, values in zip("ab", shares, strict=True):
        columns = [f"{name}{k}" for k in range(4)]
        table[columns] = values
        table[f"says {name}"] = np.where(SOME & is_off, 0, values.argmax(axis=1))
        flags += f" --columns {name}:posteriors={'+'.join(columns)}"
    code, systems, said = score(f"a.csv{flags}", table)
    assert (code, len(systems)) == (0, 2)
    assert ("is not the likeliest class" in said) == is_off
    assert ("says b (4 values)" in said.partition("\n")[0]) == is_off  # of system a


def test_systems_side_by_side_are_named_one_by_one_and_kept_in_a_recipe(
    score, assert_scores, tmp_path
):
    columns = {
        "a": {"confidence": "a_p", "correct": "a_ok"},
        "b": {"confidence": "1-b_p", "correct": "b_ok"},
    }
    assert assert_scores("confidences", f"a.csv {FLAGS}", SIDE_BY_SIDE) == ["a", "b"]
    document = json.loads((tmp_path / "out.json").read_text())
    assert (
        document["read"][1]
        == "read a.csv: 200 rows; b: confidence = 1-b_p, correct = b_ok, id = id"
    )
    assert [recipe["system"] for recipe in document["recipes"]] == ["a", "b"]
    assert document["basis"]["a"]["recipe"] == document["recipes"][0]["digest"]
    (tmp_path / "out.json").rename(tmp_path / "before.json")
    assert assert_scores("confidences", "a.csv --recipe before.json") == ["a", "b"]
    one, two = read_submissions("a.csv", columns=columns)
    assert (one.recipe.unused, one.predictions.tolist(), two.name) == ((), Q.tolist(), "b")
    assert one.recipe.digest() == read_submissions("a.csv", columns=columns["a"])[0].recipe.digest()
    (task, other) = read_submissions(
        "a.csv", columns=columns | {"part": "b_ok", "b": columns["a"]}
    )[::2]
    assert (task.name, other.name) == ("a 0", "b 0")
    SIDE_BY_SIDE.to_parquet(tmp_path / "a.parquet")
    for flags in (
        f"a.parquet --out-of-core {FLAGS}",
        f"a.csv a.parquet {FLAGS}",
        "a.csv --columns b.csv:id=id",
    ):
        code, _, said = score(flags)
        assert (code, said.startswith("ecuas: --columns")) == (2, True)


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


def test_rows_that_end_early_are_refused_in_parts_too(score, tmp_path):
    (tmp_path / "spark").mkdir()
    (tmp_path / "spark" / "part-00000.csv").write_text("confidence,correct\n0.9,1\n0.4,0\n")
    (tmp_path / "spark" / "part-00001.csv").write_text("confidence,correct\n0.8,1\n0.7\n0.6,0\n")
    code, _, said = score("spark")
    assert (code, "got 1 of 2 cells in row 4 (1 of 5)" in said) == (2, True)
    assert score('spark --columns "skip=4"')[0] == 0


def test_what_is_not_judged_bounds_the_numbers(score, capsys):
    _, (row,), _ = score("a.csv", BASE.assign(correct=[*"-" * 20, *C[20:]]))
    low, high = row["error_rate_min"], row["error_rate_max"]
    assert (row["unlabelled"], row["error_rate"], high - low) == (0.1, None, pytest.approx(0.1))
    assert low < TRUTH["confidences"]["error_rate"] < high
    _, (wrong,), _ = score("a.csv --unlabelled wrong")
    _, (left,), _ = score("a.csv --unlabelled drop")
    assert (wrong["error_rate"], left["N"], left["error_rate"]) == (
        high,
        180,
        pytest.approx(low / 0.9),
    )
    assert cli.main(["compare", "a.csv", "a.csv"]) == 2
    assert cli.main(["score", "a.csv", "--explain"]) == 2
    err = capsys.readouterr().err
    assert "drop" not in err
    assert err.count("Label them, or count them as wrong with --unlabelled wrong.") == 2


def test_groups_and_ids_of_several_columns(score):
    table = BASE.assign(lang=np.arange(N) % 2, doc=np.arange(N) % 20 // 2)
    table["both"] = table["lang"] * 100 + table["doc"]
    command = "a.csv --interval 0.95 --metrics ER --columns group="
    limits = {
        name: score(command + name, table)[1][0]["error_rate_low"]
        for name in ("both", "lang+doc", "lang")
    }
    assert limits["lang+doc"] == pytest.approx(limits["both"], rel=1e-12)
    # of groups that vary no more than independent answers
    assert limits["lang"] <= limits["both"] + 1e-12


def test_the_first_part_of_a_joined_id_that_repeats_is_a_group(tmp_path):
    path = tmp_path / "a.csv"
    pd.concat([BASE.assign(seed=seed) for seed in (1, 2)]).to_csv(path, index=False)
    (submission,) = read_submissions(path, columns={"id": "id+seed"})
    assert submission.per_sample["groups"] == [*BASE["id"]] * 2
    assert submission.ids.to_pylist()[:2] == ["q000 | 1", "q001 | 1"]


def test_both_ways_out_for_repeated_ids_compare_systems(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runs = [BASE.assign(model=model, seed=seed) for model in "ab" for seed in (1, 2, 3)]
    pd.concat(runs).to_csv("a.csv", index=False)
    compare = ["compare", "a.csv", "--metrics", "ER", "--output", "out.json"]
    assert cli.main(compare) == 2
    ways = re.findall(r"--columns (\S+)\.", capsys.readouterr().err)
    compared = {}
    for way in ways:
        assert cli.main([*compare, "--columns", way]) == 0
        rows = json.loads((tmp_path / "out.json").read_text())["rows"]
        compared[way] = len({row["first"] for row in rows} | {row["second"] for row in rows})
    assert compared == {"system=model+seed": 6, "id=id+seed": 2}


def test_ids_of_which_none_is_shared_have_ways_out(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    BASE.to_csv("a.csv", index=False)
    BASE.assign(id=np.arange(N), key=BASE["id"]).sample(frac=1, random_state=0).to_csv(
        "b.csv", index=False
    )
    compare = ["compare", "a.csv", "b.csv", "--metrics", "ecuas_1", "--output", "out.json"]
    for flags in ([], ["--common"]):
        assert cli.main([*compare, *flags]) == 2
        said = capsys.readouterr().err
        assert "--columns FILE:id=NAME." in said
        assert "--by-position" not in said  # which is wrong here
    for way, is_same in (["--by-position"], False), (["--columns", "b.csv:id=key"], True):
        assert cli.main([*compare, *way]) == 0
        (row,) = json.loads((tmp_path / "out.json").read_text())["rows"]
        # else one more answer is not all that differs
        assert (row["high"] - row["low"] < 0.05) == is_same


PLAIN_KINDS = """
    bool int8 uint64 float16 float32 string large_string binary large_binary string_view binary_view
    date32 time64[us] timestamp[ns] duration[s] null month_day_nano_interval
"""
KINDS = [
    *map(pa.type_for_alias, PLAIN_KINDS.split()),
    pa.decimal128(5, 2),
    pa.decimal256(40, 2),
    pa.timestamp("us", tz="UTC"),
    pa.list_(pa.float64()),
    pa.large_list(pa.int8()),
    pa.list_(pa.float32(), 2),
    pa.struct({"a": pa.float64(), "b": pa.float64()}),
    pa.map_(pa.string(), pa.float64()),
    pa.dictionary(pa.int32(), pa.string()),
    pa.dictionary(pa.int8(), pa.int64()),
    pa.run_end_encoded(pa.int32(), pa.float64()),
]
CELLS = ([1, 0, 1], ["1", "0", None], [None] * 3, [[0.5, 0.5]] * 3, [{"a": 0.5, "b": 0.5}] * 3)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_any_type_in_any_role_is_read_or_refused(kind, tmp_path):
    answers = pa.table({"confidence": [0.9, 0.4, 0.5], "correct": [1, 0, 1]})
    classes = pa.table({"label": [1, 0, 1], "prob": [0.9, 0.4, 0.5]})
    tables = dict.fromkeys(
        ["confidence", "correct", "id", "group", "weight", "system", "other"], answers
    )
    tables |= {"label": classes, "prob": classes, "probs": classes.drop_columns("prob")}
    for (role, table), values in product(tables.items(), CELLS):
        try:
            column = pa.array(values, kind)
        except (
            pa.ArrowInvalid,
            pa.ArrowTypeError,
            pa.ArrowNotImplementedError,
            TypeError,
            ValueError,
        ):
            continue
        one = table.drop_columns([role] * (role in table.column_names)).append_column(role, column)
        with (
            pa.OSFile(str(tmp_path / "a.arrow"), "wb") as file,
            pa.ipc.new_file(file, one.schema) as writer,
        ):
            writer.write_table(one)
        columns = {role: role} if role in ("group", "weight") else {}
        with suppress(InputError):  # of which the fuzz knows that it is one line
            prepare_submissions(
                read_submissions(tmp_path / "a.arrow", columns=columns), missing_confidence=0.5
            )


def test_confidences_that_are_all_missing_are_no_confidences(score):
    text = "id,confidence,correct\n1,,1\n2,,0\n"
    said = score("a.csv", text)[2]
    assert said == "ecuas: a.csv: column 'confidence' has no value at all.\n"
    assert score("a.csv --missing-confidence 0.5", text)[0] == 0


def test_counts_are_read_out_of_core_as_the_refusals_say(score):
    table = pd.DataFrame({"q": [0.5, 0.9], "n": [10, 20], "errors": [4, 2]})
    flags = "--columns count=n,wrong=errors,confidence=q"
    assert "Out of core, files are Parquet" in score(f"a.csv {flags}", table.to_csv())[2]
    assert "Score it with --out-of-core." in score(f"a.parquet {flags}", table)[2]
    (row,) = score(f"a.parquet {flags} --out-of-core", table)[1]
    assert row["error_rate"] == pytest.approx(0.2, rel=1e-12)


def test_ids_that_name_groups_are_proposed_where_groups_are_read(score):
    table = BASE.assign(id=np.arange(N) // 2, seed=np.arange(N) % 2)
    assert "question? --columns id=id+seed.\n" in score("a.parquet", table)[2]
    said = score("a.parquet --out-of-core", table)[2]
    assert "score in memory, without --out-of-core, with --columns id=id+seed.\n" in said
    assert score("a.parquet --columns id=id+seed", table)[0] == 0
    assert score("a.parquet --columns system=seed --out-of-core", table)[0] == 0


@pytest.mark.parametrize("encoding", ["cp1252", "iso8859-2", "mac-roman", "utf-8"])
@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_classes_are_the_same_in_any_encoding_of_their_letters(encoding, suffix, score):
    """A line says what they were read as, however many columns there are."""
    table = pd.DataFrame({"label": Y, "predicted": (P > 0.5) * 1, "confidence": MAX})
    table = table.replace({0: "gr\u00fcn", 1: "gr\u00e4u"}).assign(
        **{f"column {k}": k for k in range(30)}
    )
    is_csv = suffix == ".csv"
    text = (
        table.to_csv() if is_csv else table.to_json(orient="records", lines=True, force_ascii=False)
    )
    code, (row,), said = score(f"a{suffix}", text.encode(encoding))
    assert code == 0
    assert row["error_rate"] == np.mean((P > 0.5) != Y)
    is_said = "not used: letters beyond ASCII (read as Windows-1252), " in said
    assert is_said == (encoding != "utf-8")
