"""Tasks as users run them: questions, weights, grading, the judge, prompts as they are sent, and the demonstration."""

import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.conftest import ROOT
from tests.triviaqa_subset.elicitation.servers import (
    answer,
    choice,
    question,
    row,
    serving,
    spelled,
    write,
)

pytest.importorskip("inspect_ai")
from inspect_ai import eval as evaluate
from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score

from ecuas_metric import read_submissions
from examples.ask import EVERY_METHOD, main
from tests.triviaqa_subset.elicitation.test_servers import asked

pytestmark = pytest.mark.e2e


def run(name, reply, folder, judge=False, **options):
    from triviaqa_subset.elicitation import tasks

    def output(messages, tools, choice, config):
        made = ModelOutput.from_content("m", reply("\n".join(message.text for message in messages)))
        return made.model_copy(update={"usage": ModelUsage(output_tokens=1)})

    model = get_model("mockllm/m", custom_outputs=output, memoize=False)
    roles = {"grader": model} if judge else {}
    task = getattr(tasks, name)(**options)
    (log,) = evaluate(task, model=model, model_roles=roles, log_dir=str(folder), display="none")
    assert log.status == "success", log.error
    return {sample.id: sample for sample in log.samples}


@pytest.mark.parametrize("name", ["curated", "kept", "pool"])
def test_questions_of_the_dataset_come_with_weights_and_strata(name, tmp_path):
    with pytest.raises(ValueError, match="must have the texts of its questions"):
        run("triviaqa", None, tmp_path, questions=name, dataset=str(ROOT / "triviaqa_subset"))
    table = pd.read_parquet(ROOT / f"triviaqa_subset/data/{name}.parquet").iloc[::40]
    gold = {"value": "Zarquon", "aliases": ["Zarquon", "Z."], "normalized_aliases": ["zarquon"]}
    (tmp_path / "data").mkdir()
    table.assign(question="Who?", answer=[gold] * len(table)).to_parquet(
        tmp_path / f"data/{name}.parquet"
    )
    options = {"methods": "verbalized", "questions": name, "dataset": str(tmp_path)}
    samples = run(
        "triviaqa", lambda said: " zarquon.\nProbability: 0.9", tmp_path / "logs", **options
    )
    assert set(samples) == set(table["question_id"])
    assert {sample.scores["verbalized"].value for sample in samples.values()} == {"C"}
    (system,) = read_submissions(tmp_path / "logs")
    assert set(system.predictions) == {0.9}
    if name != "pool":
        weights = table.set_index("question_id")["weight"][list(map(str, system.ids))]
        assert list(system.per_sample["sample_weight"]) == pytest.approx(list(weights))


def test_choices_are_graded_by_their_letter_and_have_posteriors(tmp_path):
    rows = [row(i, answer=i % 2, choices=["Nix", "Nox"]) for i in range(3)]
    top = {" A": 0.6, " B": 0.3, "A": 0.06, "x": 0.04}
    with serving() as server:
        server.reply = lambda payload: spelled([(" A", 0.6)], top=top)
        log = asked(server, rows, tmp_path, methods="sequence_posterior")
    assert "A. Nix\nB. Nox" in server.requests[0]["messages"][1]["content"]
    for sample in log.samples:
        score = sample.scores["sequence_posterior"]
        assert score.value == ("I" if sample.target == ["B"] else "C")
        assert score.metadata["posteriors"] == pytest.approx([0.66 / 0.96, 0.3 / 0.96])
        assert score.metadata["confidence"] == pytest.approx(0.6)


@pytest.mark.parametrize(
    "choices, answer, letter",
    [
        (["1", "2", "3", "4"], "2", "B"), ([1, 2, 3, 4], 2, "B"), (["B", "A"], "A", "B"),
        (["Nix", "Nox"], "A", "A"), (["Nix", "Nox"], "Nox", "B"), (["Nix", "Nox"], "1", "B"),
        (["Nix", "Nox"], 2, None), (["Nix", "Nox"], "C", None), (["two", "two"], "two", None),
    ],
)  # fmt: skip
def test_a_choice_is_named_by_its_text_before_its_letter_or_number(choices, answer, letter):
    from triviaqa_subset.elicitation.questions import own_sample

    row = {"question": "?", "choices": choices, "answer": answer}
    if letter is None:
        with pytest.raises(ValueError, match="answer must name one of the choices"):
            own_sample(row)
    else:
        assert own_sample(row).target == [letter]


@pytest.mark.parametrize("answer", [None, [], ["Paris", ""], {"aliases": []}])
def test_what_a_row_lacks_is_what_the_message_names(answer):
    from triviaqa_subset.elicitation.questions import own_sample

    with pytest.raises(ValueError, match="^answer must"):
        own_sample({"question": "Capital?", "answer": answer})
    for other, rule in (
        ({"question": None}, "question must"),
        ({"question": ""}, "question must"),
        ({"weight": "heavy"}, "weight must"),
        ({"question_id": [1]}, "weight must be a number, and question_id"),
    ):
        with pytest.raises(ValueError, match=f"^{rule}"):
            own_sample({"question": "Capital?", "answer": "Paris"} | other)


def test_a_judge_sees_each_answer_as_it_stands(tmp_path):
    judged = {
        "Lutetia": "Yes.",
        "Lutetia (or Lyon)": "No.",
        "Paris": None,
        "Rome": "Perhaps",
        "Oslo": "",
    }
    seen = []

    def reply(said):
        if "Accepted answers" not in said:
            return re.search(r"The city (.*)\?", said)[1] + "\nProbability: 0.5"
        seen.append(said.split("Given answer: ")[1].split("\n")[0])
        return judged[seen[-1]]

    rows = [
        {"question_id": own, "question": f"The city {own}?", "answer": ["Paris", "Paree"]}
        for own in judged
    ]
    options = {"file": write(tmp_path / "own.jsonl", rows), "methods": "verbalized"}
    samples = run("questions", reply, tmp_path / "logs", judge=True, **options)
    scores = {own: sample.scores["verbalized"] for own, sample in samples.items()}
    assert sorted(seen) == sorted(set(judged) - {"Paris"})
    expected = [
        ("judge", "C"),
        ("judge", "I"),
        ("exact", "C"),
        ("unlabelled", "nan"),
        ("unlabelled", "nan"),
    ]
    assert [
        (scores[own].metadata["decided_by"], str(scores[own].value)) for own in judged
    ] == expected


@pytest.mark.parametrize("prefill", ["message", "continue", "none", "text"])
def test_the_start_of_the_reply_is_sent_as_was_asked_and_the_rest_to_the_letter(prefill, tmp_path):
    from triviaqa_subset.elicitation.methods import load_prompts, render

    with serving() as server:
        log = asked(
            server,
            [row(1)],
            tmp_path,
            methods="is_true",
            prefill=prefill,
        )
    assert log.samples[0].scores["is_true"].metadata["confidence"] == pytest.approx(0.1)
    first, second = server.requests
    prompts = load_prompts("triviaqa")
    expected = render(prompts["sequence_posterior"], {"question": question(1)})
    checked = render(prompts["is_true"], {"question": question(1), "answer": answer(1)})
    if prefill == "text":
        whole = (
            "\n\n".join(message["content"] for message in messages)
            for messages in (expected, checked)
        )
        expected, checked = ([{"role": "user", "content": text}] for text in whole)
    assert first["messages"] == (expected[:-1] if prefill == "none" else expected)
    assert second["messages"] == checked
    assert first.get("continue_final_message") is (True if prefill == "continue" else None)
    assert "continue_final_message" not in second
    assert (first["temperature"], first["max_tokens"], first["logprobs"], first["seed"]) == (
        0.0,
        64,
        True,
        1,
    )
    assert (second["max_tokens"], first["top_logprobs"], second["top_logprobs"]) == (64, 2, 20)
    assert log.eval.metadata["prompts"] == prompts


@pytest.mark.parametrize(
    "options, message",
    [({"methods": "guess"}, "methods must be among sequence_posterior, is_true, verbalized, semantic; got guess"),
     ({"prefill": "maybe"}, "prefill must be one of message, continue, none, text; got 'maybe'"),
     ({"samples": 0}, "samples must be at least 1; got 0")],
)  # fmt: skip
def test_options_must_be_known(options, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        run("questions", None, tmp_path, file=str(ROOT / "examples/questions.csv"), **options)


def test_meanings_are_counted(tmp_path):
    drawn = iter(["Mudville", "Oslo", "**mudville** (town)", "Bergen"])
    rows = [{"question_id": "q-1", "question": "Capital of Elbonia?", "answer": "Mudville"}]
    options = {"file": write(tmp_path / "own.jsonl", rows), "methods": "semantic", "samples": 4}
    score = run("questions", lambda said: next(drawn), tmp_path / "logs", **options)["q-1"].scores[
        "semantic"
    ]
    assert (score.answer, score.metadata["confidence"], list(drawn)) == ("Mudville", 0.5, [])


def test_an_answer_is_judged_later_and_again_without_asking_anew(tmp_path):
    """By the printed command; each verdict names its judge, and the confidence stays."""
    with serving() as server:
        log = asked(server, [row(0, answer="Nix"), row(1)], tmp_path, methods="verbalized")
        env = os.environ | {"X_BASE_URL": server.url, "X_API_KEY": "k"}
        for judge, verdict in (("strict", "No."), ("kind", "Yes.")):
            asked_before = len(server.requests)
            server.reply = lambda payload, verdict=verdict: choice(verdict)
            output = tmp_path / f"{judge}.eval"
            role = f"grader=openai-api/x/{judge}"
            options = (
                f"--action overwrite --model-role {role} --output-file {output} --display none"
            )
            options += " --scorer ecuas/verbalized" if judge == "kind" else ""
            inspect = Path(sys.executable).with_name("inspect")
            command = [inspect, "score", log.location, *options.split()]
            done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
            assert len(server.requests) == asked_before + 1
            first, second = (
                sample.scores["verbalized"] for sample in read_eval_log(str(output)).samples
            )
            assert (first.metadata["judge"], first.value) == (
                f"openai-api/x/{judge}",
                "CI"[verdict == "No."],
            )
            assert (second.metadata["decided_by"], second.value) == ("exact", "C")
            assert (
                first.metadata["confidence"]
                == log.samples[0].scores["verbalized"].metadata["confidence"]
            )


def test_two_judges_agree_by_cohens_kappa_and_what_they_see_differently_is_unlabelled(capsys):
    from triviaqa_subset.elicitation.judges import cohens_kappa, compare_judges, compare_logs

    # 0.7 observed, 0.5 expected
    table = {("C", "C"): 20, ("C", "I"): 5, ("I", "C"): 10, ("I", "I"): 15}
    verdicts = [pair for pair, count in table.items() for _ in range(count)]
    assert cohens_kappa(verdicts) == pytest.approx((0.7 - 0.5) / (1 - 0.5))
    assert math.isnan(cohens_kappa([("C", "C")] * 3))

    def log(values, answers="abcd"):
        """Of four samples of which all but the first were judged."""
        samples = []
        for number, (value, said) in enumerate(zip(values, answers, strict=True)):
            score = Score(value=value, answer=said, metadata={"judge": "m"} if number else None)
            samples.append(
                EvalSample(id=number, epoch=1, input="?", target="x", scores={"m": score})
            )
        about = {"created": "2026-01-01T00:00:00Z", "task": "t", "model": "m"}
        spec = EvalSpec(dataset=EvalDataset(), config=EvalConfig(), **about)
        return EvalLog(eval=spec, samples=samples)

    merged = log("CCIC")
    assert compare_judges(merged, log("CCII")) == {"m": [("C", "C"), ("I", "I"), ("C", "I")]}
    assert [str(sample.scores["m"].value) for sample in merged.samples] == ["C", "C", "I", "nan"]
    with pytest.raises(
        ValueError, match="must have the same answers; they differ in m of sample 2"
    ):
        compare_judges(log("CCIC"), log("CCIC", "abxd"))
    with pytest.raises(SystemExit):
        compare_logs(["absent.eval", "absent.eval", "both.eval"])
    assert "No such file" in capsys.readouterr().err


def test_the_demonstration_prints_a_row_for_each_method(tmp_path, capsys):
    assert main(str(tmp_path)) == 0
    printed = capsys.readouterr().out
    assert "made up" in printed
    assert all(f"made-up {method} " in printed for method in EVERY_METHOD)
