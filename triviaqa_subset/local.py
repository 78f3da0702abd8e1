"""The backend for a local `transformers` model, in batches on a GPU or the CPU (extra `local`)."""

from collections.abc import Callable
from itertools import groupby
from typing import Any

from .replies import Ask, Failure, Reply, Request, Token

Facts = dict[str, Any]


def local_backend(
    model: str, *, device: str | None = None, template: dict[str, Any] | None = None
) -> tuple[Ask, Facts]:
    """Load a causal language model with its tokenizer and make the function that asks it.

    Log-probabilities are those of the model itself, before the temperature. Greedy replies are plain:
    a repetition penalty or the like in the model's generation settings is not applied.

    Parameters
    ----------
    model : str
        A folder, or a model on the Hub.
    device : str, optional
        `cpu`, `cuda`, `mps`; by default the GPU if there is one.
    template : dict, optional
        More arguments of the chat template, such as {"enable_thinking": false}.

    Returns
    -------
    ask : callable
        list of Request -> list of Reply or Failure, generated together.
    facts : dict
        Versions, device and number format, to be recorded.

    Raises
    ------
    ValueError
        A model without a chat template, or no torch.
    OSError
        A model that cannot be loaded.
    """
    network, tokenizer, facts = _load(model, device)

    def ask(requests: list[Request]) -> list[Reply | Failure]:
        replies: list[Reply | Failure] = []
        for _, alike in groupby(requests, key=lambda request: request[1:]):
            replies += _generate(network, tokenizer, template or {}, list(alike))
        return replies

    return ask, facts


def _load(model: str, device: str | None) -> tuple[Any, Any, Facts]:
    try:
        import torch
        import transformers
    except ImportError as error:
        raise ValueError(f"a local model needs torch and transformers ({error}): pip install -e '.[local]'") from error
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    tokenizer: Any = transformers.AutoTokenizer.from_pretrained(model, padding_side="left")
    network: Any = transformers.AutoModelForCausalLM.from_pretrained(model, dtype="auto")
    if tokenizer.chat_template is None:
        raise ValueError(f"{model} has no chat template: a model tuned for dialogue is needed")
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    # What a configuration passed to `generate` leaves open is filled from this one, which may come from the Hub
    # with a repetition penalty, beams or the like. Only the tokens that end a turn are kept.
    network.generation_config = transformers.GenerationConfig(eos_token_id=_ends(network, tokenizer) or None)
    versions = {"torch": torch.__version__, "transformers": transformers.__version__}
    facts = versions | {"device": device, "dtype": str(network.dtype).removeprefix("torch.")}
    return network.to(device).eval(), tokenizer, facts


def _generate(network: Any, tokenizer: Any, template: dict, requests: list[Request]) -> list[Reply | Failure]:
    """Generate the replies to requests that differ in their messages only."""
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
            made = network.generate(
                **inputs, generation_config=_settings(network, tokenizer, like), logits_processor=[record]
            )
    except (RuntimeError, ValueError, TemplateError) as error:  # no memory; messages that the template refuses
        return [Failure(" ".join(str(error).split())[:400])] * len(requests)
    ids = made[:, inputs["input_ids"].shape[1] :]
    chosen, tops = recorded(ids)
    return [_reply(tokenizer, network, *row) for row in zip(ids.tolist(), chosen, tops, strict=True)]


def _prompt(tokenizer: Any, request: Request, template: dict) -> str:
    goes_on = request.messages[-1]["role"] == "assistant"
    return tokenizer.apply_chat_template(
        request.messages, tokenize=False, continue_final_message=goes_on, add_generation_prompt=not goes_on, **template
    )


def _settings(network: Any, tokenizer: Any, request: Request) -> Any:
    from transformers import GenerationConfig

    sampled = {"do_sample": True, "temperature": request.temperature, "top_k": 0, "top_p": 1.0}
    return GenerationConfig(
        max_new_tokens=request.max_tokens,
        eos_token_id=_ends(network, tokenizer) or None,
        pad_token_id=tokenizer.pad_token_id,
        **(sampled if request.temperature > 0 else {"do_sample": False}),
    )


def _ends(network: Any, tokenizer: Any) -> list[int]:
    own = network.generation_config.eos_token_id
    found = [*(own if isinstance(own, list) else [own]), tokenizer.eos_token_id]
    return sorted({end for end in found if end is not None})


def _recorder(k: int) -> tuple[Callable, Callable]:
    """Make a logits processor that changes nothing and keeps the log-probabilities, a step at a time.

    All logits of all steps would be gigabytes: of each step only the chosen token and the top k are kept.
    The token chosen in a step is known in the next one.
    """
    last: list[Any] = []
    chosen: list[Any] = []
    tops: list[list[list[tuple[int, float]]]] = []

    def keep(ids: Any) -> None:
        chosen.append(last.pop().gather(1, ids[:, None])[:, 0].tolist())

    def record(ids: Any, logits: Any) -> Any:
        if last:
            keep(ids[:, -1])
        logprobs = logits.double().log_softmax(-1)
        last.append(logprobs)
        best = logprobs.topk(min(k, logprobs.shape[1]))
        rows = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        tops.append([list(zip(*row, strict=True)) for row in rows])
        return logits

    def recorded(ids: Any) -> tuple[list, list]:
        keep(ids[:, -1])
        return list(zip(*chosen, strict=True)), list(zip(*tops, strict=True))

    return record, recorded


def _reply(tokenizer: Any, network: Any, ids: list[int], chosen: tuple, tops: tuple) -> Reply:
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
