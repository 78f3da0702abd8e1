"""What only the user can tell is asked, in lines to choose from; what rows cannot be is refused; nothing is guessed."""

import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest

from ecuas_metric import read_submissions
from ecuas_metric.errors import FileError
from tests.ecuas_metric.files.tables import (
    BASE,
    BINARY,
    BY_NAME,
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
    judged,
)

SOME = np.arange(N) % 25 == 0
TEXT = BASE.to_csv(index=False)
MAX = np.maximum(P, 1 - P)
RECORDS = BASE.to_dict("records")


def renamed(**names):
    return BASE.rename(columns=names)


def of_json(rows):
    return json.dumps(rows)


LISTS = pd.DataFrame({"label": LABEL, "probs": FOUR.tolist()})
MAPPED = pd.DataFrame({"label": CLASSES[LABEL], "probs": by_class()})
COUNTED = BASE.assign(confidence=Q.round(1)).value_counts(["confidence", "correct"])
READ = {  # whose numbers, a file, and flags: read at once
    "two names of one role that say the same": (
        "confidences",
        BASE.assign(is_correct=np.where(C, "yes", "no"), conf=Q),
    ),
    "an id that repeats beside one that does not": (
        "confidences",
        BASE.assign(question=np.arange(N) // 2),
    ),
    "answers, right ones, and the verdict": (
        "confidences",
        BASE.assign(answer=BASE.id, gold=BASE.id, prediction="x"),
    ),
    "a score by its name": (
        "confidences",
        of_json(
            [
                {"scores": [{"name": "p", "value": q}], "correct": int(c)}
                for q, c in zip(Q, C, strict=True)
            ]
        ),
        "--columns confidence=scores.p.value",
    ),
    "a score whose name is an object": (
        "confidences",
        of_json(
            [
                {"stats": [{"name": {"name": "p"}, "mean": q}], "correct": int(c)}
                for q, c in zip(Q, C, strict=True)
            ]
        ),
        "--columns confidence=stats.p.mean",
    ),
    "a first object that is skipped": (
        "confidences",
        of_json([{"confidence": 50, "correct": 100}, *RECORDS]),
        "--columns skip=1",
    ),
    "a row that is skipped": ("confidences", f"{TEXT}Total,100,120\n", "--columns skip=202"),
    "copies that are skipped": (
        "confidences",
        pd.concat([BASE, BASE.head(9)]),
        "--columns skip=copies",
    ),
    "probabilities beside a confidence of their own": (
        "posteriors",
        LISTS.assign(confidence=0.5),
    ),
    "lists of scores": (
        "posteriors",
        of_json(
            [
                {"label": y, "scores": [{"label": k, "score": p} for k, p in row.items()]}
                for y, row in zip(CLASSES[LABEL].tolist(), by_class(), strict=True)
            ]
        ),
    ),
}
REFUSED = {  # a file, what is said of it, and flags
    "no id": (BASE.assign(id=np.where(SOME, "", BASE.id)), "column 'id' has no value"),
    "counts": (COUNTED.reset_index(name="n"), "how many samples each row is of"),
    "words of another column": (
        judged("yes", "no").assign(answer=np.where(SOME, "yes", "no")),
        "it may hold the right answers",
    ),
    "codes of answers": (BASE.assign(answer=np.arange(N) % 2), "it may hold the right answers"),
    "another prediction": (POSTERIORS.assign(pred=np.where(SOME, 9, LABEL)), "likeliest class"),
    "another verdict": (LISTS.assign(correct=C), "likeliest class"),
    "the chosen class": (BINARY.assign(y_prob=MAX), "0.5 or higher in every row"),
    "one of two classes": (
        pd.DataFrame({"label": SPAM[Y], "predicted": SPAM[(P > 0.5) * 1], "confidence": P}),
        "the probability of 'spam'",
    ),
    "a row for each class": (
        pd.DataFrame(
            {
                "item": np.repeat(np.arange(N), 4),
                "confidence": FOUR.ravel(),
                "correct": np.eye(4, dtype=int)[LABEL].ravel(),
            }
        ),
        "they are of its classes",
    ),
    "sorted": (
        pd.DataFrame({"label": LABEL, "probs": np.sort(FOUR).tolist()}),
        "the likeliest classes",
    ),
    "copies": (pd.concat([BASE, BASE.head(9)]), "in 9 of 209 rows that are copies of others"),
    "systems": (
        pd.concat([BASE.assign(prompt=one, confidence=Q / one) for one in (1, 2)]),
        "unique together with column 'prompt'",
    ),
    "systems without ids": (
        pd.concat([BASE.assign(arm=one).rename(columns={"id": "stem"}) for one in "ab"]),
        "unique together with column 'arm'",
    ),
    "ratings": (
        BASE.assign(confidence=np.digitize(Q, [0.3, 0.6]) + 1),
        "--scale LOW:HIGH",
    ),
    "a code": (BASE.assign(confidence=np.where(SOME, -1, Q)), "Is -1 a code for no confidence?"),
    "a code on a scale": (
        BASE.assign(confidence=np.where(SOME, 999, 100 * Q)),
        "Is 999 a code",
        "--scale 100",
    ),
    "two scales": (BASE.assign(confidence=np.where(SOME, 100 * Q, Q)), "must lie on one scale"),
    "divided already": (
        BASE.assign(confidence=np.where(SOME, 100, Q)),
        "must lie on one scale",
        "--scale 100",
    ),
    "beyond a scale": (BASE.assign(confidence=120 * Q), "the scale 100", "--scale 100"),
    "grades": (BASE.assign(correct=np.arange(N) % 4), "--correct-from"),
    "a code among grades": (
        BASE.assign(correct=np.where(SOME, 99, C)),
        "far from all others",
        "--correct-from 1",
    ),
    "a slip": (
        judged("yes", "no")
        .replace({"correct": {}})
        .assign(correct=["yess", *["yes", "no"] * 99, "no"]),
        "yess",
    ),
    "another class in a row": (
        of_json(
            [
                {**row, "probs": {"cat": 0.5, "eel": 0.5}} if k == 3 else row
                for k, row in enumerate(MAPPED.to_dict("records"))
            ]
        ),
        "must name the same classes in each row",
    ),
    "Python's repr": (MAPPED.astype(str), "Python's repr, no JSON"),
    "two sets": (POSTERIORS.assign(**{f"p_{k}": 0.25 for k in range(4)}), "several sets"),
}
ASKED = {  # a file, lines that the refusal prints, of which one gives the known numbers of whom, and flags
    "a probability and a verdict": (
        renamed(confidence="risk", correct="outcome").drop(columns="id"),
        ["confidence=risk,correct=outcome", "positive=risk,label=outcome"],
        "confidences",
    ),
    "percentages and words": (
        pd.DataFrame({"sure": 100 * Q, "ok": np.where(C, "yes", "no")}),
        [
            "confidence=sure,correct=ok,scale=100",
            "positive=sure,label=ok,scale=100 --labels no,yes",
        ],
        "confidences",
    ),
    "a doubt": (
        BASE.drop(columns="confidence").assign(doubt=1 - Q),
        ["confidence=doubt", "confidence=1-doubt"],
        "confidences",
    ),
    "two verdicts": (
        BASE.assign(is_correct=np.where(SOME, 1 - C, C)),
        ["correct=correct", "correct=is_correct"],
        "confidences",
    ),
    "one of three words": (
        BASE.assign(correct=np.where(C, "correct", np.where(SOME, "skipped", "incorrect"))),
        [
            "--right correct/incorrect,skipped",
            "--right correct,skipped/incorrect",
            "--abstained skipped",
        ],
        "confidences",
    ),
    "two words of another language": (
        judged("ja", "nein"),
        ["--right ja/nein", "--right nein/ja"],
        "confidences",
    ),
    "a slip": (
        judged("yes", "no").drop(columns="id").to_csv(index=False) + "0.5,yse\n",
        [f"--columns a.csv:skip={len(BASE) + 2}"],
        "confidences",
    ),
    "which of two texts a probability is of": (
        pd.DataFrame({"y_true": SPAM[Y], "p": P}),
        ["--labels ham,spam", "--labels spam,ham"],
        "binary",
        "--columns positive=p",
    ),
    "a title": ("Answers of May\n" + TEXT, ["--columns skip=1"], "confidences"),
    "classes in the names of columns": (
        BY_NAME.rename(columns={name: f"P({name})" for name in CLASSES} | {"y_true": "truth"}),
        ['label=truth,posteriors=P(cat)+P(dog)+P(horse)+P(ship)" --labels cat,dog,horse,ship'],
        "posteriors",
    ),
    "fields of objects": (
        of_json([{"out": {"p": q}, "judge": {"ok": int(c)}} for q, c in zip(Q, C, strict=True)]),
        ["confidence=out.p,correct=judge.ok", "positive=out.p,label=judge.ok"],
        "confidences",
    ),
    "rows within rows": (
        of_json([{"model": "a", "answers": RECORDS}]),
        ["rows=answers"],
        "confidences",
    ),
}


def path_of(content):
    return "a.json" if isinstance(content, str) and content[0] in "[{" else "a.csv"


@pytest.mark.parametrize("case", READ)
def test_a_file_that_says_it_is_read(case, assert_scores):
    whose, content, *flags = READ[case]
    assert_scores(whose, " ".join([path_of(content), *flags]), content)


@pytest.mark.parametrize("case", REFUSED)
def test_a_file_that_contradicts_its_names_is_refused(case, score):
    content, said, *flags = REFUSED[case]
    code, _, error = score(" ".join([path_of(content), *flags]), content)
    assert (code, said in error) == (2, True), error
    assert error.startswith("ecuas: a.")


@pytest.mark.parametrize("case", ASKED)
def test_what_only_the_user_knows_is_asked_in_lines_to_choose_from(case, score, assert_scores):
    content, lines, whose, *flags = ASKED[case]
    code, _, error = score(" ".join([path_of(content), *flags]), content)
    printed = [line.strip() for line in error.splitlines() if line.startswith("  ecuas ")]
    assert code == 2
    assert len(printed) == len(lines), error
    assert all(line.endswith(said) for line, said in zip(printed, lines, strict=True)), error
    right = 0
    for line in printed:
        _, _, *command = shlex.split(line)
        if "--output" in command:  # which is added again
            place = command.index("--output")
            del command[place : place + 2]
        try:
            assert_scores(whose, shlex.join(command))
            right += 1
        except AssertionError:
            pass
    assert right == 1


def test_an_error_is_a_table_and_lines_and_data_break_none(score):
    table = renamed(confidence="a\nb", correct="c\r\n# d").drop(columns="id")
    first, *below = score("a.csv", table)[2].splitlines()
    assert first.endswith(" It has:")
    assert all(line.startswith(("  ", "Say")) for line in below)


def test_a_line_of_an_error_can_be_said_in_python(tmp_path):
    path = tmp_path / "a.csv"
    renamed(confidence="risk", correct="outcome").to_csv(path, index=False)
    with pytest.raises(FileError) as refusal:
        read_submissions(path)
    first, second = refusal.value.ways
    (one,) = read_submissions(path, columns=first.columns, **first.options)
    assert one.form == "confidences"
    assert re.search(r"columns=\{'confidence': 'risk', 'correct': 'outcome'\}", str(refusal.value))
    (other,) = read_submissions(path, columns=second.columns, **second.options)
    assert other.form == "posteriors"


def test_the_first_part_of_a_joined_id_that_repeats_is_a_group(tmp_path):
    path = tmp_path / "a.csv"
    pd.concat([BASE.assign(seed=seed) for seed in (1, 2)]).to_csv(path, index=False)
    (submission,) = read_submissions(path, columns={"id": "id+seed"})
    assert submission.per_sample["groups"] == [*BASE["id"]] * 2
    assert submission.ids.to_pylist()[:2] == ["q000 | 1", "q001 | 1"]


@pytest.mark.parametrize("store", ["lists", "mappings", "text", "columns", "zeros"])
def test_of_questions_with_options_of_their_own_the_largest_probability_is_asked_about_too(store):
    """A row lacks the options of the other question: in lists of two lengths, in empty columns, or in zeros."""
    rng = np.random.default_rng(0)
    shares = [
        dict(zip(options, rng.dirichlet(np.ones(len(options))).tolist(), strict=True))
        for _ in range(15)
        for options in (["yes", "no"], ["sales", "billing", "nobody"])
    ]
    largest = np.array([max(one.values()) for one in shares])
    cells = {
        "lists": [list(one.values()) for one in shares],
        "mappings": shares,
        "text": list(map(json.dumps, shares)),
    }
    table = pd.DataFrame(shares) if store not in cells else pd.DataFrame({"shares": cells[store]})
    table = table.fillna(0) if store == "zeros" else table
    table = table.assign(correct=rng.integers(0, 2, 30), note="a")
    (submission,) = read_submissions(table.assign(confidence=largest))
    assert submission.predictions == pytest.approx(largest)
    with pytest.raises(FileError, match="not the largest"):
        read_submissions(table.assign(confidence=2 * largest - 1))
