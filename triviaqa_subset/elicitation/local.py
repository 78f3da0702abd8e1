"""Inspect's `hf` provider for models on this machine, made to give the model's own distribution."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from logging import getLogger
from typing import TYPE_CHECKING

from inspect_ai.model import ChatMessage, GenerateConfig, Logprobs, Model, ModelOutput

if TYPE_CHECKING:
    from inspect_ai.model._providers.hf import HuggingFaceAPI as Api

Asks = Callable[..., Awaitable[ModelOutput]]
SET_BY_US = {"eos_token_id", "bos_token_id", "pad_token_id", "transformers_version"}


def without_own_settings(model: Model) -> Model:
    """Make a model of the `hf` provider use only the tokens that end a turn of its generation_config, once."""
    api: Api = model.api
    is_hf = hasattr(api, "hf_chat") and hasattr(api, "do_sample")
    if not is_hf or "generate" in vars(api):
        return model
    ends = _reset(api, str(model))
    if api.tokenizer.chat_template is not None:  # which writes the special tokens itself
        api.tokenizer_call_args = {"add_special_tokens": False} | api.tokenizer_call_args
    api.hf_chat = partial(_chat, api, api.hf_chat)
    api.generate = partial(
        _generate,
        api,
        api.generate,
        frozenset(api.tokenizer.convert_ids_to_tokens(ends)),
    )
    return model


def _reset(api: "Api", name: str) -> list[int]:
    """Replace the generation_config, say what of it is not used, and return the tokens that end a turn."""
    config = api.model.generation_config
    settings = config.to_diff_dict()
    dropped = {
        key: value
        for key, value in settings.items()
        if key not in SET_BY_US and not key.startswith("_")
    }
    if dropped:
        getLogger(__name__).warning("%s: its generation_config is not used: %s", name, dropped)
    ends = settings.get("eos_token_id")
    listed = ends if isinstance(ends, list) else [ends]
    numbers = sorted({*listed, api.tokenizer.eos_token_id} - {None})
    api.model.generation_config = type(config)(
        eos_token_id=numbers or None, pad_token_id=api.tokenizer.pad_token_id
    )
    return numbers


def _chat(
    api: "Api",
    render: Callable[..., object],
    messages: Sequence[ChatMessage],
    tools: Sequence[object],
) -> str:
    """Return the prompt; where the last message is the start of the reply, it ends with that."""
    template = api.chat_template or api.tokenizer.chat_template
    if messages[-1].role != "assistant" or template is None or api.use_chat_template is False:
        return str(render(messages, tools))
    prompt = api.tokenizer.apply_chat_template(
        [{"role": message.role, "content": message.text} for message in messages],
        chat_template=template,
        tokenize=False,
        continue_final_message=True,
        enable_thinking=api.enable_thinking,
    )
    return str(prompt)


async def _generate(
    api: "Api", ask: Asks, ends: frozenset[str], *, config: GenerateConfig, **request: object
) -> ModelOutput:
    """Ask, and cut what stands after the end of the turn, where the other replies of a batch are longer."""
    is_sampled = bool(config.temperature)
    api.do_sample = is_sampled  # read before the provider first waits
    whole = {"temperature": config.temperature, "top_p": 1.0, "top_k": 0}
    sampling = whole if is_sampled else dict.fromkeys(whole)
    output = await ask(config=config.model_copy(update=sampling | {"logprobs": True}), **request)
    reply = output.choices[0]
    # which are not the tokens of a sample
    likeliest = reply.logprobs.content if reply.logprobs else []
    length = next(
        (place for place, token in enumerate(likeliest) if token.token in ends), len(likeliest)
    )
    has_ended = length < len(likeliest)
    if is_sampled:
        tokens = api.tokenizer(output.completion, add_special_tokens=False)["input_ids"]
        has_ended = len(tokens) < (config.max_tokens or 0) - 2
    reply.stop_reason = "stop" if has_ended else "max_tokens"
    reply.logprobs = Logprobs(content=likeliest[:length]) if config.logprobs else None
    if output.usage:
        output.usage.output_tokens = length
    return output
