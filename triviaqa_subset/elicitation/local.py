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
    if not (hasattr(api, "hf_chat") and hasattr(api, "do_sample")) or "generate" in vars(api):
        return model
    own = api.model.generation_config.to_diff_dict()
    dropped = {name: value for name, value in own.items() if name not in SET_BY_US and not name.startswith("_")}
    if dropped:
        getLogger(__name__).warning("%s: its generation_config is not used: %s", model, dropped)
    ends = own.get("eos_token_id") or []
    ends = sorted({*(ends if isinstance(ends, list) else [ends]), api.tokenizer.eos_token_id} - {None})
    made = type(api.model.generation_config)
    api.model.generation_config = made(eos_token_id=ends or None, pad_token_id=api.tokenizer.pad_token_id)
    if api.tokenizer.chat_template is not None:  # which writes the special tokens itself
        api.tokenizer_call_args = {"add_special_tokens": False} | api.tokenizer_call_args
    api.hf_chat = partial(_chat, api, api.hf_chat)
    api.generate = partial(_generate, api, api.generate, frozenset(api.tokenizer.convert_ids_to_tokens(ends)))
    return model


def _chat(api: "Api", render: Callable[..., object], messages: Sequence[ChatMessage], tools: Sequence[object]) -> str:
    """Return the prompt; where the last message is the start of the reply, it ends with that."""
    template = api.chat_template or api.tokenizer.chat_template
    if messages[-1].role != "assistant" or template is None or api.use_chat_template is False:
        return str(render(messages, tools))
    texts = [{"role": message.role, "content": message.text} for message in messages]
    options = {"tokenize": False, "continue_final_message": True, "enable_thinking": api.enable_thinking}
    return str(api.tokenizer.apply_chat_template(texts, chat_template=template, **options))


async def _generate(
    api: "Api", ask: Asks, ends: frozenset[str], *, config: GenerateConfig, **more: object
) -> ModelOutput:
    """Ask, and cut what stands after the end of the turn, where the other replies of a batch are longer."""
    api.do_sample = bool(config.temperature)  # read before the provider first waits
    plainly = {"temperature": config.temperature, "top_p": 1.0, "top_k": 0} if config.temperature else {}
    asked = config.model_copy(update={"temperature": None, "top_p": None, "top_k": None, "logprobs": True} | plainly)
    output = await ask(config=asked, **more)
    reply, count = output.choices[0], len(api.tokenizer(output.completion, add_special_tokens=False)["input_ids"])
    listed = reply.logprobs.content if reply.logprobs else []  # the likeliest tokens, which are not those of a sample
    length = next((place for place, token in enumerate(listed) if token.token in ends), len(listed))
    ended = count < (config.max_tokens or 0) - 2 if plainly else length < len(listed)
    reply.stop_reason = "stop" if ended else "max_tokens"
    reply.logprobs = Logprobs(content=listed[:length]) if config.logprobs else None
    if output.usage:
        output.usage.output_tokens = length
    return output
