"""The backend for a local `transformers` model, in batches on a GPU or the CPU (extra `local`)."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from .replies import Ask, Failure, Reply, Request, Token

Facts = dict[str, str]
Chosen = tuple[float, ...]  # of one reply, the log-probability at each step
Tops = tuple[list[tuple[int, float]], ...]  # and the likeliest tokens with theirs
# Of torch and transformers, which may not be installed:
Network = Any
Tokenizer = Any
Tensor = Any


@dataclass(frozen=True)
class LocalModel:
    """A model on this machine.

    Parameters
    ----------
    model : str
        A folder, or a model on the Hub.
    device : str, optional
        `cpu`, `cuda`, `mps`; by default the GPU if there is one.
    template : dict, optional
        More arguments of the chat template, e.g. {"enable_thinking": False}.
    prefill : str
        As for `Endpoint`; recorded in a run.
    """

    model: str
    device: str | None = None
    template: dict[str, Any] | None = None
    prefill: str = "message"


def local_backend(local: LocalModel) -> tuple[Ask, Facts]:
    """Load a causal language model with its tokenizer, and return a function that asks it.

    Log-probabilities are those of the model itself, before the temperature. Greedy replies are plain: of
    the model's own generation settings only the tokens that end a turn are used. Models that also read
    images are asked in text.

    In float32 a batch gives what single requests give, within 4e-6. In bfloat16, the format of most weights,
    the log-probability of a token differs by up to 0.02 with what is beside it in the batch; with batches of
    one (`--batch-size 1`) it does not.

    Parameters
    ----------
    local : LocalModel

    Returns
    -------
    ask : callable
        list of Request -> list of Reply or Failure, generated together.
    facts : dict
        Versions, device and number format, for the file of a run.

    Raises
    ------
    ValueError
        A model without a chat template; torch or transformers not installed.
    OSError
        A model that cannot be loaded.

    Examples
    --------
    >>> ask, facts = local_backend(LocalModel("Qwen/Qwen3-0.6B"))  # doctest: +SKIP
    """
    network, tokenizer, facts = _load(local.model, local.device)
    template = local.template or {}

    def ask(requests: list[Request]) -> list[Reply | Failure]:
        replies: list[Reply | Failure] = []
        for _, alike in groupby(requests, key=lambda request: request[1:]):
            replies += _generate(network, tokenizer, template, list(alike))
        return replies

    return ask, facts


def _load(model: str, device: str | None) -> tuple[Network, Tokenizer, Facts]:
    try:
        import torch
        import transformers
    except ImportError as error:
        raise ValueError(
            f"torch and transformers must be installed for a local model; got: {error}. "
            "Install them: pip install -e '.[local]'."
        ) from error
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    tokenizer: Tokenizer = transformers.AutoTokenizer.from_pretrained(model, padding_side="left")
    network = _pretrained(transformers, model)
    if tokenizer.chat_template is None:
        raise ValueError(f"{model} must have a chat template; got none. Use a model tuned for dialogue.")
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    # What a configuration passed to `generate` leaves open is filled from this one, which may come from the Hub
    # with a repetition penalty, beams or the like. Only the tokens that end a turn are kept.
    network.generation_config = _generation_config(eos_token_id=_ends(network, tokenizer) or None)
    versions = {"torch": torch.__version__, "transformers": transformers.__version__}
    facts = versions | {"device": device, "dtype": str(network.dtype).removeprefix("torch.")}
    return network.to(device).eval(), tokenizer, facts


def _pretrained(transformers: Any, model: str) -> Network:
    """Load a language model, or one that also reads images and answers in text, of which no image is asked."""
    try:
        return transformers.AutoModelForCausalLM.from_pretrained(model, dtype="auto")
    except ValueError as error:
        if "Unrecognized configuration class" not in str(error):
            raise
        return transformers.AutoModelForImageTextToText.from_pretrained(model, dtype="auto")


def _generate(
    network: Network, tokenizer: Tokenizer, template: dict[str, Any], requests: list[Request]
) -> list[Reply | Failure]:
    """Generate the replies to requests that differ only in their messages."""
    import torch
    from jinja2 import TemplateError

    like = requests[0]
    try:
        texts = [_prompt(tokenizer, request, template) for request in requests]
        inputs = tokenizer(texts, padding=True, add_special_tokens=False, return_tensors="pt").to(network.device)
        if like.seed is not None:
            torch.manual_seed(like.seed)
        record, recorded = _recorder(like.top_logprobs or 0)
        with torch.inference_mode():
            generated = network.generate(
                **inputs, generation_config=_settings(network, tokenizer, like), logits_processor=[record]
            )
    except (RuntimeError, ValueError, TemplateError) as error:  # out of memory; messages that the template refuses
        return [Failure(" ".join(str(error).split())[:400])] * len(requests)
    ids = generated[:, inputs["input_ids"].shape[1] :]
    chosen, tops = recorded(ids)
    return [_reply(tokenizer, network, *row) for row in zip(ids.tolist(), chosen, tops, strict=True)]


def _prompt(tokenizer: Tokenizer, request: Request, template: dict[str, Any]) -> str:
    started = request.messages[-1]["role"] == "assistant"
    text: str = tokenizer.apply_chat_template(
        request.messages, tokenize=False, continue_final_message=started, add_generation_prompt=not started, **template
    )
    return text


def _settings(network: Network, tokenizer: Tokenizer, request: Request) -> Any:
    sampled = {"do_sample": True, "temperature": request.temperature, "top_k": 0, "top_p": 1.0}
    return _generation_config(
        max_new_tokens=request.max_tokens,
        eos_token_id=_ends(network, tokenizer) or None,
        pad_token_id=tokenizer.pad_token_id,
        **(sampled if request.temperature > 0 else {"do_sample": False}),
    )


def _generation_config(**settings: object) -> Any:
    from transformers import GenerationConfig

    untyped: Any = GenerationConfig
    return untyped(**settings)


def _ends(network: Network, tokenizer: Tokenizer) -> list[int]:
    own = network.generation_config.eos_token_id
    found = [*(own if isinstance(own, list) else [own]), tokenizer.eos_token_id]
    return sorted({end for end in found if end is not None})


def _recorder(k: int) -> tuple[Callable[[Tensor, Tensor], Tensor], Callable[[Tensor], tuple[list[Chosen], list[Tops]]]]:
    """Return a logits processor that changes nothing and records log-probabilities, and a function for what it has.

    All logits of all steps would be gigabytes: of each step only those of the chosen token and of the top k
    are kept. The token chosen in a step is known in the next one.
    """
    last: list[Tensor] = []
    chosen: list[list[float]] = []
    tops: list[list[list[tuple[int, float]]]] = []

    def keep(ids: Tensor) -> None:
        chosen.append(last.pop().gather(1, ids[:, None])[:, 0].tolist())

    def record(ids: Tensor, logits: Tensor) -> Tensor:
        if last:
            keep(ids[:, -1])
        logprobs = logits.double().log_softmax(-1)
        last.append(logprobs)
        best = logprobs.topk(min(k, logprobs.shape[1]))
        rows = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        tops.append([list(zip(*row, strict=True)) for row in rows])
        return logits

    def recorded(ids: Tensor) -> tuple[list[Chosen], list[Tops]]:
        keep(ids[:, -1])
        return list(zip(*chosen, strict=True)), list(zip(*tops, strict=True))

    return record, recorded


def _reply(tokenizer: Tokenizer, network: Network, ids: list[int], chosen: Chosen, tops: Tops) -> Reply:
    ends = set(_ends(network, tokenizer))
    length = next((place for place, token in enumerate(ids) if token in ends), len(ids))
    tokens, text = [], ""
    for place in range(length):
        so_far = tokenizer.decode(ids[: place + 1], skip_special_tokens=True)
        # A character of several tokens comes with the last of them.
        piece = "" if so_far.endswith("\ufffd") else so_far[len(text) :]
        top = [(tokenizer.decode([other]), logprob) for other, logprob in tops[place]]
        tokens.append(Token(piece, chosen[place], top))
        text += piece
    text = tokenizer.decode(ids[:length], skip_special_tokens=True)
    return Reply(text, tokens, "stop" if length < len(ids) else "length")
