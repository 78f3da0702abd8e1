"""Asks a made-up model seven questions with Inspect and scores its confidences: no account, no weights, no network.

The replies and their log-probabilities are written below; what happens between them and the table is what happens with
a real model: `inspect eval ecuas/questions -T file=examples/questions.csv --model PROVIDER/MODEL`.
"""

import sys
import tempfile
from math import log
from pathlib import Path

from inspect_ai import eval as evaluate
from inspect_ai import model as models

from ecuas_metric.reporting.cli import main as ecuas
from triviaqa_subset.elicitation.methods import EVERY_METHOD
from triviaqa_subset.elicitation.tasks import questions

QUESTIONS = Path(__file__).parent / "questions.csv"
KNOWS = {  # a word of the question -> the answer of the made-up model, its probability, and the one it writes
    "France": ("Paris", 0.98, 0.99),
    "spider": ("8", 0.93, 0.95),
    "Hamlet": ("Shakespeare", 0.97, 0.97),
    "Australia": ("Sydney", 0.62, 0.9),
    "gold": ("Au", 0.95, 0.96),
    "moons": ("None", 0.41, 0.6),
    "largest planet": ("Saturn", 0.35, 0.7),
}


def reply(
    messages: list[models.ChatMessage],
    _tools: object,
    _choice: object,
    config: models.GenerateConfig,
) -> models.ModelOutput:
    """Return what the made-up model says: an answer, an answer and its probability, or whether an answer is right."""
    asked = " ".join(message.text for message in messages)
    answer, known, stated = next(known for word, known in KNOWS.items() if word in asked)
    if "Accepted answers" in asked:  # the judge, of what no accepted answer equals
        return spoken("No.", {})
    if "Is this answer right?" in asked:
        words = {"True": known, "False": 1 - known}
        return spoken("True" if known > 0.5 else "False", words)
    if "how likely" in asked:
        return spoken(f" {answer}\nProbability: {stated}", {})
    if (
        config.seed or 0
    ) % 10 >= 10 * known:  # of ten samples, as many as are probable are the answer
        answer = "something else"
    return spoken(f" {answer}", {f" {answer}": known, " something": 1 - known})


def spoken(
    text: str,
    top: dict[str, float],
) -> models.ModelOutput:
    """Return a reply of one token, whose likely alternatives are given with their probabilities."""
    logprobs = None
    if top:
        likely = [
            models.TopLogprob(token=token, logprob=log(probability))
            for token, probability in top.items()
        ]
        token = models.Logprob(token=text, logprob=log(top[text]), top_logprobs=likely)
        logprobs = models.Logprobs(content=[token])
    message = models.ChatMessageAssistant(content=text, model="made-up")
    choice = models.ChatCompletionChoice(message=message, stop_reason="stop", logprobs=logprobs)
    return models.ModelOutput(
        model="made-up",
        choices=[choice],
        usage=models.ModelUsage(output_tokens=1),
    )


def main(folder: str) -> int:
    """Ask, print what is made up, and score the log."""
    model = models.get_model("mockllm/made-up", custom_outputs=reply)
    task = questions(file=str(QUESTIONS), methods=EVERY_METHOD)
    evaluate(
        task,
        model=model,
        model_roles={"grader": model},
        log_dir=folder,
        display="none",
        seed=0,
    )
    print(
        f"{len(KNOWS)} questions, asked by Inspect. The model, its replies and their probabilities are made up.\n"
    )
    return ecuas(["score", folder])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else folder))
