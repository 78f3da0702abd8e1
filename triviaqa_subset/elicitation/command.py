"""The arguments of the command `python -m triviaqa_subset.elicitation`."""

import argparse
import json
import math
from collections.abc import Callable
from typing import Any

from .methods import DIALOGUES, SAME, WEIGHTS
from .questions import SETS
from .wire import PREFILLS

DESCRIPTION = """\
Ask a language model the questions of a task, with a confidence for each answer, and grade the answers.

A run is one model with one method. Each answer is written to --out as soon as it arrives. If a run is interrupted,
the same command resumes it; when all questions have been asked, it only grades the answers again. Graded answers
are written beside the run (run.jsonl -> run.graded.jsonl), ready for `ecuas score`.
"""
EPILOG = """\
methods
  sequence_posterior   the probability of the answer's tokens (needs log-probabilities)
  is_true              the same answer, with the probability of "True" when the model is asked whether it is right
                       (also needs log-probabilities of the likeliest tokens)
  verbalized           the probability that the model writes
  semantic_confidence  the share of several sampled answers that have the most common meaning

--prefill: the prompts contain the start of the reply, which the model continues. It is sent as
  message              a last message of the assistant: llama.cpp, TGI, Ollama, most others
  continue             the same, with continue_final_message: vLLM, SGLang
  prefix               the same, with "prefix": true in that message: Mistral, DeepSeek
  none                 not at all, for a server that refuses it

--config: a list `models` with the options of each model by name. Options beside the list, and those given on the
command line, apply to all models. Each model has its own folder in --out, and a row in the table at the end:
  methods: [sequence_posterior, verbalized]
  models:
    - {model: Qwen/Qwen3-8B, base_url: "http://localhost:8000/v1", prefill: continue,
       extra_body: {chat_template_kwargs: {enable_thinking: false}}}
    - {model: mistral-small-latest, base_url: "https://api.mistral.ai/v1", api_key_env: MISTRAL_API_KEY,
       prefill: prefix, method: verbalized, prices: [0.1, 0.3]}

examples
  python -m triviaqa_subset.elicitation --model Qwen/Qwen3-8B --method verbalized --out verbalized.jsonl
      a provider of the Hub (log in with `hf auth login`), questions from build/triviaqa_subset
  python -m triviaqa_subset.elicitation --base-url http://localhost:11434/v1 --model qwen3:8b \\
      --method verbalized --out verbalized.jsonl --limit 20
      your own server (here Ollama), the first 20 questions; run it without --limit to resume with the rest
  python -m triviaqa_subset.elicitation --base-url http://localhost:8000/v1 --model Qwen/Qwen3-8B \\
      --method sequence_posterior --out seq.jsonl --prefill continue \\
      --extra-body '{"chat_template_kwargs": {"enable_thinking": false}}'
      vLLM, with the model's reasoning turned off
  python -m triviaqa_subset.elicitation --local --model Qwen/Qwen3-0.6B --method is_true --out true.jsonl \\
      --extra-body '{"enable_thinking": false}'
      a transformers model on this machine's GPU or CPU (pip install -e '.[local]')
  python -m triviaqa_subset.elicitation --task mmlu --source mmlu.jsonl --model Qwen/Qwen3-8B \\
      --method verbalized --out mmlu.jsonl
      multiple choice, graded by letter; without --source, cais/mmlu from the Hub
  python -m triviaqa_subset.elicitation --model Qwen/Qwen3-8B --method verbalized --out verbalized.jsonl \\
      --judge google/gemma-3-27b-it
      another model judges the answers that neither gold answers nor label bank decide
  python -m triviaqa_subset.elicitation --config models.yaml --out runs --limit 50
      several models, the first 50 questions
  ecuas score seq.graded.jsonl true.graded.jsonl verbalized.graded.jsonl --weight weight
      the table of scores; if answers are not judged yet, the smallest and the largest possible value of each metric
"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    command = argparse.ArgumentParser(
        prog="python -m triviaqa_subset.elicitation",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "--model", required=True, help="name of the model at the server or on the Hub; with --local also a folder"
    )
    method = command.add_mutually_exclusive_group(required=True)
    method.add_argument("--method", choices=DIALOGUES, help="how to elicit the confidence, see below")
    several = (
        "several methods, separated by commas; --out is then a folder, and is_true uses sequence_posterior's answers"
    )
    method.add_argument("--methods", type=_methods, metavar="M,M", help=several)
    command.add_argument(
        "--out", required=True, metavar="FILE", help="file of the run (JSON lines); resumed if it exists"
    )
    models = "YAML file with several models and their options, see below; --out is then a folder"
    command.add_argument("--config", metavar="FILE", help=models)
    command.add_argument("--dry-run", action="store_true", help="print what would be asked for two questions")
    command.add_argument("--name", help="name of the system in tables (default: the model and the method)")
    prices = "prices of a million input and output tokens, to print the cost of the answers"
    command.add_argument("--prices", type=_prices, metavar="IN,OUT", help=prices)
    _add_questions(command.add_argument_group("questions"))
    _add_backend(command.add_argument_group("where the model is"))
    _add_generation(command.add_argument_group("what is asked (recorded in the run)"))
    _add_methods(command.add_argument_group("for single methods (recorded too)"))
    _add_running(command.add_argument_group("how it runs (may change from one start to the next)"))
    _add_judge(command.add_argument_group("grading"))
    return command


def _add_questions(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    own = "triviaqa (default), mmlu, or your own file with columns question, answer and optionally choices"
    add("--task", type=_task, default="triviaqa", metavar="TASK", help=own)
    add("--dataset", metavar="DIR", help="the subset with text (default: build/triviaqa_subset of the clone)")
    add("--source", metavar="FILE", help="file with the rows of TriviaQA or MMLU: .jsonl, .json or .parquet")
    kept = (
        "for triviaqa: the 455 of the subset (default), or all kept questions; a run of one can resume with the other"
    )
    add("--questions", choices=SETS, default="curated", help=kept)
    add("--limit", type=_number(int, 1), metavar="N", help="only the first N questions")


def _add_backend(group: argparse._ArgumentGroup) -> None:
    add, add_one_of = group.add_argument, group.add_mutually_exclusive_group().add_argument
    add_one_of("--base-url", metavar="URL", help="a server with the chat-completions protocol")
    add_one_of(
        "--provider", metavar="NAME", help="an inference provider of the Hub (default: the first that has the model)"
    )
    add_one_of("--local", action="store_true", help="a transformers model on this machine")
    add("--api-key-env", metavar="NAME", help="environment variable with the server's key (default: none is sent)")
    add("--device", metavar="NAME", help="with --local: cpu, cuda, mps (default: the GPU if there is one)")


def _add_generation(group: argparse._ArgumentGroup) -> None:
    add, body = group.add_argument, "additional parameters of each request; with --local, of the chat template"
    prefill = "how to send the start of the reply, 'Guess:'; see below (default: message)"
    prompts = "YAML file that replaces some of the prompts in triviaqa_subset/elicitation/prompts.yaml"
    add("--prompts", metavar="FILE", help=prompts)
    add("--prefill", choices=PREFILLS, default="message", help=prefill)
    add("--max-tokens", type=_number(int, 1), default=64, metavar="N", help="maximum length of a reply (default: 64)")
    add("--temperature", type=_number(float, 0), metavar="T", help="default: 0, for semantic_confidence 1")
    add("--seed", type=int, metavar="N", help="default: none is sent")
    add("--extra-body", type=_json_object, default={}, metavar="JSON", help=body)


def _add_methods(group: argparse._ArgumentGroup) -> None:
    add, same = group.add_argument, "or those that the model says mean the same"
    add("--answers", metavar="RUN", help="is_true: ask about the answers of this run of sequence_posterior")
    add(
        "--top-logprobs",
        type=_number(int, 1),
        default=20,
        metavar="K",
        help="is_true: number of likeliest tokens (default: 20)",
    )
    add(
        "--samples",
        type=_number(int, 1),
        default=10,
        metavar="N",
        help="semantic_confidence: number of answers (default: 10)",
    )
    add(
        "--weights",
        choices=WEIGHTS,
        default="uniform",
        help="semantic_confidence: weights of the answers (default: uniform)",
    )
    meaning = f"which answers mean the same: equal normalised ones (default), {same}"
    add("--same", choices=SAME, default="equality", help=meaning)


def _add_running(group: argparse._ArgumentGroup) -> None:
    add, wait = group.add_argument, "seconds before the first retry, doubled each time (default: 1)"
    failures = "stop asking after this many errors in a row (default: 25)"
    add("--concurrency", type=_number(int, 1), default=8, metavar="N", help="simultaneous requests (default: 8)")
    add("--batch-size", type=_number(int, 1), default=8, metavar="N", help="with --local (default: 8)")
    add(
        "--timeout",
        type=_number(float, 0.1),
        default=60.0,
        metavar="S",
        help="longest wait for a response, s (default: 60)",
    )
    add("--retries", type=_number(int, 0), default=5, metavar="N", help="retries per request (default: 5)")
    add("--retry-wait", type=_number(float, 0), default=1.0, metavar="S", help=wait)
    add(
        "--retry-errors",
        action="store_true",
        help="retry all errors, not only transport errors",
    )
    add("--retry-missing", action="store_true", help="ask again if the confidence is missing")
    add("--max-failures", type=_number(int, 1), default=25, metavar="N", help=failures)


def _add_judge(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    key = "environment variable with the judge's key (default: --api-key-env if the server is the same)"
    add(
        "--judge",
        metavar="MODEL",
        help="a model that judges answers that nothing else decides (default: these stay unknown)",
    )
    add("--judge-base-url", metavar="URL", help="server of the judge (default: --base-url)")
    add("--judge-api-key-env", metavar="NAME", help=key)
    body = "additional parameters of its requests (default: --extra-body if the server is the same)"
    add("--judge-extra-body", type=_json_object, default={}, metavar="JSON", help=body)
    add(
        "--judge-max-tokens",
        type=_number(int, 1),
        default=8,
        metavar="N",
        help="maximum length of its reply (default: 8)",
    )


def _number(kind: type[int] | type[float], least: float) -> Callable[[str], float]:
    """Return a type of argument: a finite number, at least so much."""

    def number(text: str) -> float:
        value = kind(text)
        if not least <= value < math.inf:
            raise argparse.ArgumentTypeError(f"must be at least {least}; got {text}")
        return value

    return number


def _methods(text: str) -> list[str]:
    methods = [name.strip() for name in text.split(",")]
    unknown = [name for name in methods if name not in DIALOGUES]
    if unknown or len(set(methods)) < len(methods):
        raise argparse.ArgumentTypeError(f"must be different methods among {', '.join(DIALOGUES)}; got {text}")
    return methods


def _prices(text: str) -> tuple[float, float]:
    words = text.split(",")
    if len(words) != 2:
        raise argparse.ArgumentTypeError(f"must be two numbers, e.g. 0.15,0.6; got {text}")
    price = _number(float, 0)
    return price(words[0]), price(words[1])


def _task(text: str) -> str:
    if text not in ("triviaqa", "mmlu") and not text.endswith((".jsonl", ".json", ".parquet")):
        raise argparse.ArgumentTypeError(f"must be triviaqa, mmlu or a .jsonl, .json or .parquet file; got {text}")
    return text


def _json_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"must be JSON; got {text} ({error})") from error
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError(f"must be a JSON object; got {text}")
    return value
