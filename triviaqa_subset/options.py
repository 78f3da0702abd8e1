"""The command line of `python -m triviaqa_subset.elicitation`."""

import argparse
import json
from typing import Any

from .chat import PREFILLS
from .methods import METHODS

DESCRIPTION = """\
Ask a language model the questions of a task, with a confidence for each answer; grade the answers.

A run is one model with one method. Each answer is written to --out as it comes; the same command goes on
where the last one ended, by Ctrl-C or otherwise, and grades again when nothing is left to ask. The graded
answers lie beside it (run.jsonl -> run.graded.jsonl), ready for `ecuas score`.
"""
EPILOG = """\
methods
  sequence_posterior   the probability of the answer's tokens (needs log-probabilities)
  is_true              the same answer; the probability of "True" when asked whether it is right (needs them too)
  verbalized           the model writes its probability
  semantic_confidence  several sampled answers; the share of those that mean the same as the commonest

--prefill: the prompts give away the start of the reply, which the model should go on from
  message              as a last message of the assistant: llama.cpp, TGI, Ollama, most others
  continue             and with continue_final_message: vLLM, SGLang
  prefix               and with "prefix": true in that message: Mistral, DeepSeek
  none                 not at all, for a server that refuses it

examples
  python -m triviaqa_subset.elicitation --model Qwen/Qwen3-8B --method verbalized --out verbalized.jsonl
      a provider of the Hub (log in with `hf auth login`), questions from build/triviaqa_subset
  python -m triviaqa_subset.elicitation --base-url http://localhost:11434/v1 --model qwen3:8b \\
      --method verbalized --out verbalized.jsonl --limit 20
      a server of your own (here Ollama), the first 20 questions; without --limit it goes on with the rest
  python -m triviaqa_subset.elicitation --base-url http://localhost:8000/v1 --model Qwen/Qwen3-8B \\
      --method sequence_posterior --out seq.jsonl --prefill continue \\
      --extra-body '{"chat_template_kwargs": {"enable_thinking": false}}'
      vLLM, and a model that is told not to reason
  python -m triviaqa_subset.elicitation --local --model Qwen/Qwen3-0.6B --method is_true --out true.jsonl \\
      --extra-body '{"enable_thinking": false}'
      a transformers model on this machine's GPU or CPU (pip install -e '.[local]')
  python -m triviaqa_subset.elicitation --task mmlu --source mmlu.jsonl --model Qwen/Qwen3-8B \\
      --method verbalized --out mmlu.jsonl
      multiple choice, graded by letter; without --source the Hub's cais/mmlu
  python -m triviaqa_subset.elicitation --model Qwen/Qwen3-8B --method verbalized --out verbalized.jsonl \\
      --judge google/gemma-3-27b-it
      another model judges the answers that neither gold answers nor label bank decide
  ecuas score seq.graded.jsonl true.graded.jsonl verbalized.graded.jsonl
      the table; it says what to do about missing confidences and unknown correctness
"""


def parser() -> argparse.ArgumentParser:
    """Make the command line."""
    made = argparse.ArgumentParser(
        prog="python -m triviaqa_subset.elicitation",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--model", required=True, help="its name at the server or on the Hub; with --local also a folder")
    made.add_argument("--method", required=True, choices=METHODS, help="how to get the confidence, see below")
    made.add_argument(
        "--out", required=True, metavar="FILE", help="the run, JSON lines; an existing one is gone on with"
    )
    _add_questions(made.add_argument_group("questions"))
    _add_backend(made.add_argument_group("where the model is"))
    _add_generation(made.add_argument_group("what is asked (recorded in the run)"))
    _add_running(made.add_argument_group("how it runs (may change from one start to the next)"))
    _add_judge(made.add_argument_group("grading"))
    return made


def _add_questions(group: Any) -> None:
    group.add_argument("--task", choices=("triviaqa", "mmlu"), default="triviaqa", help="default: triviaqa")
    group.add_argument("--dataset", metavar="DIR", help="the subset with text (default: build/triviaqa_subset)")
    group.add_argument("--source", metavar="FILE", help="TriviaQA's or MMLU's rows as .jsonl or .parquet")
    group.add_argument("--limit", type=_count, metavar="N", help="the first N questions only")


def _add_backend(group: Any) -> None:
    where = group.add_mutually_exclusive_group()
    where.add_argument("--base-url", metavar="URL", help="a server that speaks the chat-completions protocol")
    where.add_argument(
        "--provider", metavar="NAME", help="a provider of the Hub (default: the first that has the model)"
    )
    where.add_argument("--local", action="store_true", help="a transformers model on this machine")
    group.add_argument(
        "--api-key-env", metavar="NAME", help="environment variable with the server's key (default: none sent)"
    )
    group.add_argument(
        "--device", metavar="NAME", help="with --local: cpu, cuda, mps (default: the GPU if there is one)"
    )


def _add_generation(group: Any) -> None:
    group.add_argument("--prompts", metavar="FILE", help="YAML that replaces any of triviaqa_subset/prompts.yaml")
    group.add_argument(
        "--prefill",
        choices=PREFILLS,
        default="message",
        help='how the server is told to go on from "Guess:", see below (default: message)',
    )
    group.add_argument("--max-tokens", type=_count, default=64, metavar="N", help="longest reply (default: 64)")
    group.add_argument("--temperature", type=_at_least_0, metavar="T", help="default: 0, for semantic_confidence 1")
    group.add_argument("--seed", type=int, metavar="N", help="default: none is sent")
    group.add_argument(
        "--top-logprobs", type=_count, default=20, metavar="K", help="likely tokens that is_true looks at (default: 20)"
    )
    group.add_argument(
        "--samples", type=_count, default=10, metavar="N", help="answers of semantic_confidence (default: 10)"
    )
    group.add_argument(
        "--weights", choices=("uniform", "sequence"), default="uniform", help="its weights (default: uniform)"
    )
    group.add_argument(
        "--same",
        choices=("equality", "judge"),
        default="equality",
        help="its relation: equal normalised answers (default), or what the model judges the same",
    )
    group.add_argument(
        "--answers", metavar="RUN", help="is_true asks about the answers of this run of sequence_posterior"
    )
    group.add_argument(
        "--extra-body",
        type=_json_object,
        default={},
        metavar="JSON",
        help="more parameters of each request; with --local, of the chat template",
    )


def _add_running(group: Any) -> None:
    group.add_argument("--concurrency", type=_count, default=8, metavar="N", help="requests at a time (default: 8)")
    group.add_argument("--batch-size", type=_count, default=8, metavar="N", help="with --local (default: 8)")
    group.add_argument(
        "--timeout",
        type=_above_0,
        default=60.0,
        metavar="S",
        help="seconds without a word from the server (default: 60)",
    )
    group.add_argument("--retries", type=int, default=5, metavar="N", help="after a first failure (default: 5)")
    group.add_argument(
        "--retry-wait",
        type=_above_0,
        default=1.0,
        metavar="S",
        help="seconds before the first, doubled each time (default: 1)",
    )
    group.add_argument("--retry-errors", action="store_true", help="ask again what is recorded with an error")


def _add_judge(group: Any) -> None:
    group.add_argument(
        "--judge", metavar="MODEL", help="judges what nothing else decides (default: that stays unknown)"
    )
    group.add_argument("--judge-base-url", metavar="URL", help="its server (default: --base-url)")


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1; it is {text}")
    return value


def _above_0(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be above 0; it is {text}")
    return value


def _at_least_0(text: str) -> float:
    value = float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be at least 0; it is {text}")
    return value


def _json_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"must be JSON; it is {text} ({error})") from error
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError(f"must be a JSON object; it is {text}")
    return value
