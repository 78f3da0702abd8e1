"""Prompts: the roles, fields and format of the paper's, in other words; replaced one by one."""

import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from triviaqa_subset.elicitation.prompts import DEFAULTS, FIELD, FIELDS, json_sha256, load_prompts, prefill, render

SHAPES = {  # task, method -> roles, the start of the reply, what the prompt says about the form of the reply
    ("triviaqa", "sequence_posterior"): ("system user assistant", "Guess:", []),
    ("triviaqa", "verbalized"): ("system user assistant", "Guess:", ["\nGuess: <", "\nProbability: <", "0.0", "1.0"]),
    ("triviaqa", "is_true"): ("system user", "", ["True", "False"]),
    ("mmlu", "sequence_posterior"): ("system user assistant", "Answer:", ["A, B, C or D"]),
    ("mmlu", "verbalized"): ("system user assistant", "Answer:", ["\nAnswer: <", "\nProbability: <", "0.0", "1.0"]),
    ("mmlu", "is_true"): ("system user", "", ["True", "False"]),
    ("judge", "semantic_equivalence"): ("user", "", ["'Yes.'", "'No.'"]),
}


@pytest.mark.parametrize(("task", "method"), SHAPES)
def test_each_prompt_has_the_papers_shape(task, method):
    messages, (roles, start, said) = load_prompts()[task][method], SHAPES[task, method]
    assert [message["role"] for message in messages] == roles.split()
    assert prefill(messages) == start
    assert all(words in messages[0]["content"] for words in said)
    assert {name for message in messages for name in FIELD.findall(message["content"])} == FIELDS[task][method]


def test_there_is_a_shape_for_every_prompt_and_the_built_in_file_passes_its_own_checks():
    prompts = load_prompts()
    assert set(SHAPES) == {(task, method) for task in prompts for method in prompts[task]}
    assert load_prompts(DEFAULTS) == prompts


def papers_prompts(shared):
    """The appendix's verbatim blocks, as a file for --prompts."""
    tex = (shared / "paper/paper.tex").read_text()
    blocks = re.findall(
        r"\\begin\{verbatim\}\n(.*?)\\end\{verbatim\}", tex[tex.index("label{sec:prompts}") :], re.DOTALL
    )
    assert len(blocks) == 7
    order = ["sequence_posterior", "verbalized", "is_true"]
    places = [("triviaqa", m) for m in order] + [("judge", "semantic_equivalence")] + [("mmlu", m) for m in order]
    prompts: dict = {}
    for (task, method), block in zip(places, blocks, strict=True):
        parts = re.split(r"^(System|User|Assistant): ", block, flags=re.MULTILINE)[1:]
        pairs = zip(parts[::2], parts[1::2], strict=True)
        prompts.setdefault(task, {})[method] = [{"role": r.lower(), "content": c.strip()} for r, c in pairs]
    return prompts


def test_the_papers_wording_can_be_run(shared, tmp_path):
    file = tmp_path / "paper.yaml"
    file.write_text(yaml.safe_dump(papers_prompts(shared)))
    loaded = load_prompts(file)
    for task, method in SHAPES:
        assert [message["role"] for message in loaded[task][method]] == SHAPES[task, method][0].split()
        assert prefill(loaded[task][method]) == SHAPES[task, method][1]


def test_the_wording_is_our_own(shared):
    def runs_of_five_words(prompts):
        contents = (m["content"] for methods in prompts.values() for messages in methods.values() for m in messages)
        for line in (line for content in contents for line in content.splitlines()):  # a line of the format is shorter
            words = re.findall(r"[a-z]{2,}", FIELD.sub("", line).lower())
            yield from (tuple(words[start : start + 5]) for start in range(len(words) - 4))

    ours, papers = (set(runs_of_five_words(prompts)) for prompts in (load_prompts(), papers_prompts(shared)))
    assert min(len(ours), len(papers)) > 50
    assert ours & papers == set()


def test_a_file_replaces_what_it_has(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("triviaqa: {verbalized: [{role: user, content: 'Q {{ question }} with p'}]}")
    ours, mine = load_prompts(), load_prompts(file)
    assert mine["triviaqa"].pop("verbalized") == [{"role": "user", "content": "Q {{ question }} with p"}]
    assert json_sha256(ours) != json_sha256(mine)
    del ours["triviaqa"]["verbalized"]
    assert mine == ours


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a: [", " must be YAML; "),
        ("- 1", " must map tasks to methods to messages; got '[1]'."),
        ("", " must map tasks to methods to messages; got 'None'."),
        ("triviaqa: 3", ": triviaqa must map methods to messages; got 3."),
        ("trivia: {is_true: []}", ": prompts must be among triviaqa: sequence_posterior, "),
        ("mmlu: {is_so: []}", ": prompts must be among triviaqa: sequence_posterior, "),
        (
            "mmlu: {verbalized: []}",
            ", mmlu: verbalized must be a list of messages, each with a role (system, user, assistant) and a content "
            "(text); got [].",
        ),
        ("mmlu: {verbalized: [{role: bot, content: a}]}", ", mmlu: verbalized must be a list of messages"),
        ("mmlu: {verbalized: [{role: user, content: 1}]}", ", mmlu: verbalized must be a list of messages"),
        (
            "mmlu: {verbalized: [{role: system, content: a}]}",
            ", mmlu: verbalized must have a user message; got system.",
        ),
        (
            "mmlu: {verbalized: [{role: user, content: '{{question}}'}]}",
            ", mmlu: verbalized must have the fields {{ choices }}, {{ question }}; got {{ question }}.",
        ),
        (
            "triviaqa: {verbalized: [{role: user, content: '{{ question }} {{ hint }}'}]}",
            ", triviaqa: verbalized must have the fields {{ question }}; got {{ hint }}, {{ question }}.",
        ),
        (
            "triviaqa: {verbalized: [{role: user, content: 'What?'}]}",
            ", triviaqa: verbalized must have the fields {{ question }}; got none.",
        ),
    ],
)
def test_what_is_wrong_with_a_file(content, message, tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(content)
    with pytest.raises(ValueError, match=f"^{re.escape(str(file) + message)}"):
        load_prompts(file)


@given(st.text(), st.text())
def test_fields_stand_in_the_messages_as_they_are(question, answer):
    for filled in (answer, "{{ question }}", r"\1 \g<0>"):
        made = render(load_prompts()["triviaqa"]["is_true"], {"question": question, "answer": filled})
        assert f"Question: {question}\nProposed Answer: {filled}\n" in made[1]["content"]
