"""Loads weights from a folder and generates with them. The doorway to torch and transformers, which
are an extra.

Nothing is downloaded, no code of the folder is run and no pickle is read. Each reply is drawn with
a generator of its own seed, so that it doesn't depend on how many replies are generated at once
(but for the rounding of a larger batch). What the folder says of sampling (top_p, penalties) is not
used: a call says all there is.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlwright.llm.endpoint import Call, Completion, EndpointError
from sqlwright.llm.vendors.chat_text import end_tokens, prompt_tokens, short
from sqlwright.llm.vendors.reading import likeliest, well_formed
from sqlwright.llm.vendors.weights_folder import memory_bytes, weight_bytes
from sqlwright.messages import Reply, TokenLogprob

PIECE = 512
"""Tokens of a prompt that are read at once: between two pieces a cancelled call ends."""
END_OF_THOUGHT = "</think>"
"""The token by which models end their reasoning, where they have one."""
_HERE: Mapping[str, Any] = {"local_files_only": True, "trust_remote_code": False}

NO_MEMORY = "there isn't enough memory"
"""The end of the message of such an error."""


class Weights:
    """A model and its tokenizer in memory. Used from one thread."""

    def __init__(self, folder: Path, state: str) -> None:
        """`state` tells these weights from others in that folder. Raises EndpointError for weights
        that can't be loaded."""
        with explained(f"the weights in {folder} can't be loaded"):
            self._hold(*load(folder))
        self._folder = folder
        self._state = state

    @classmethod
    def over(cls, tokenizer: Any, model: Any, *, folder: Path, state: str = "") -> Weights:
        """Those of a model that is in memory already, as it is at each reply; `folder` is named in
        errors."""
        made = cls.__new__(cls)
        made._hold(tokenizer, model)
        made._folder, made._state = folder, state
        return made

    def _hold(self, tokenizer: Any, model: Any) -> None:
        self._tokenizer, self._model = tokenizer, model
        self._ends = end_tokens(tokenizer, model)
        self._thought: int | None = tokenizer.get_vocab().get(END_OF_THOUGHT)
        """The token that ends a thought; None where it has none."""

    def reply(self, call: Call, stop: threading.Event, *, context: int) -> Completion:
        """All replies to a call. Raises EndpointError for a prompt that doesn't fit, for too little
        memory, and once `stop` is set."""
        with explained(f"the weights in {self._folder} gave no reply"):
            prompt = self._prompt(call)
            room = context - len(prompt)
            if room < 1:
                raise EndpointError(
                    f"the prompt has {len(prompt):,} tokens, more than the model's context of "
                    f"{context:,}",
                    kind="rejected",
                    retryable=False,
                )
            rows, sampler = self._generate(call, prompt, min(call.limit, room), stop)
        replies = [self._read(row, sampler, number) for number, row in enumerate(rows)]
        replies *= call.n if len(replies) == 1 else 1  # without temperature all are the same
        replies[0] = replace(replies[0], prompt_tokens=len(prompt))
        return Completion(
            tuple(replies),
            revision=self._state,
            prompt_tokens=len(prompt),
            reply_tokens=sum(reply.reply_tokens for reply in replies),
            reasoning_tokens=sum(reply.reasoning_tokens for reply in replies),
        )

    def _prompt(self, call: Call) -> list[int]:
        thinks = call.reasoning not in {None, "none"}
        return prompt_tokens(self._tokenizer, call.messages, thinks=thinks)

    def _generate(
        self, call: Call, prompt: Sequence[int], limit: int, stop: threading.Event
    ) -> tuple[list[list[int]], _Sampler]:
        """Tokens of each reply, and what drew them."""
        import torch
        from transformers import GenerationConfig, LogitsProcessorList, StoppingCriteriaList

        count = call.n if call.temperature else 1
        sampler = _Sampler(call, count, stop)
        with torch.inference_mode():
            tokens = torch.tensor([prompt], device=self._model.device)
            known = self._prompt_read(tokens, count, stop)
            tokens = tokens.repeat(count, 1)
            output = self._model.generate(
                tokens,
                attention_mask=torch.ones_like(tokens),
                past_key_values=known,
                generation_config=GenerationConfig(
                    max_new_tokens=limit,
                    do_sample=False,
                    eos_token_id=self._ends or None,
                    pad_token_id=self._ends[0] if self._ends else 0,
                ),
                logits_processor=LogitsProcessorList([sampler]),
                stopping_criteria=StoppingCriteriaList([sampler.ended]),
            )
        _go_on(stop)
        return output[:, len(prompt) :].tolist(), sampler

    def _prompt_read(self, tokens: Any, count: int, stop: threading.Event) -> Any:
        """The model's memory of all tokens but the last one, for so many replies: a prompt is read
        once, however many there are."""
        from transformers import DynamicCache

        known = DynamicCache(config=self._model.config)
        body = self._model.base_model
        for start in range(0, tokens.shape[1] - 1, PIECE):
            _go_on(stop)
            piece = tokens[:, start : min(start + PIECE, tokens.shape[1] - 1)]
            body(input_ids=piece, past_key_values=known, use_cache=True)
        if count > 1 and tokens.shape[1] > 1:
            known.batch_repeat_interleave(count)
        return known

    def _read(self, row: Sequence[int], sampler: _Sampler, number: int) -> Reply:
        """One reply: what comes before its end, without its reasoning."""
        end = next((place for place, token in enumerate(row) if token in self._ends), len(row))
        start = 0
        if self._thought is not None and self._thought in row[:end]:
            start = end - list(reversed(row[:end])).index(self._thought)
        text = self._tokenizer.decode(row[start:end], skip_special_tokens=True)
        places = [each[number] for each in sampler.listed[start:end]]
        return Reply(
            well_formed(text.lstrip() if start else text),
            finish="stop" if end < len(row) else "length",
            reply_tokens=min(end + 1, len(row)),
            reasoning_tokens=start,
            logprobs=tuple(self._logprob(drawn, best) for drawn, *best in places),
        )

    def _logprob(self, drawn: tuple[int, float], best: Sequence[tuple[int, float]]) -> TokenLogprob:
        return TokenLogprob(*self._token(*drawn), tuple(self._token(*each) for each in best))

    def _token(self, token: int, logprob: float) -> tuple[str, float]:
        return well_formed(self._tokenizer.decode([token])), min(logprob, 0.0)


class _Sampler:
    """Draws the next token of each reply: the likeliest one without a temperature, else the first
    of independent exponential clocks, whose rates are the probabilities (the Gumbel-max trick).

    In the place of `transformers`' sampling, which has one seed for a whole batch."""

    def __init__(self, call: Call, count: int, stop: threading.Event) -> None:
        import torch

        self._temperature = call.temperature
        self._stop = stop
        self._wanted = None if call.logprobs is None else likeliest(call.logprobs)
        self._generators = [
            torch.Generator().manual_seed((call.seed + number) % 2**63) for number in range(count)
        ]
        self.listed: list[list[list[tuple[int, float]]]] = []
        """For each place and reply the token drawn and the likeliest ones, with their log
        probabilities at temperature 1."""

    def __call__(self, _tokens: Any, scores: Any) -> Any:
        """Scores by which nothing but the token drawn can come next."""
        import torch

        logits = scores.float()
        chosen = logits.argmax(-1)
        if self._temperature:
            waits = torch.stack(
                [
                    torch.empty(logits.shape[-1], dtype=torch.float64).exponential_(generator=each)
                    for each in self._generators
                ]
            )
            chosen = (logits.double().cpu() / self._temperature - waits.log()).argmax(-1)
            chosen = chosen.to(scores.device)
        if self._wanted is not None:
            self._list(logits.log_softmax(-1), chosen)
        forced = torch.full_like(scores, float("-inf"))
        return forced.scatter_(-1, chosen[:, None], 0.0)

    def ended(self, tokens: Any, _scores: Any, **_: Any) -> Any:
        """True for every reply once nobody wants them."""
        import torch

        return torch.full((len(tokens),), self._stop.is_set(), device=tokens.device)

    def _list(self, logprobs: Any, chosen: Any) -> None:
        drawn = logprobs.gather(-1, chosen[:, None])
        best = logprobs.topk(min(self._wanted or 0, logprobs.shape[-1]), -1)
        self.listed.append(
            [
                [(token, first[0]), *zip(others, their, strict=True)]
                for token, first, others, their in zip(
                    chosen.tolist(),
                    drawn.tolist(),
                    best.indices.tolist(),
                    best.values.tolist(),
                    strict=True,
                )
            ]
        )


def load(folder: Path) -> tuple[Any, Any]:
    """Tokenizer and model of a folder. Raises EndpointError for one that isn't whole, and whatever
    the libraries raise."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # read as it is imported
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    import torch
    from transformers import AutoModelForCausalLM, GenerationConfig
    from transformers.utils import logging

    device = "cuda" if torch.cuda.is_available() else "cpu"
    needed, there = weight_bytes(folder), memory_bytes()
    if device == "cpu" and there and needed > there:
        raise _unusable(
            f"the weights in {folder} have {needed / 1e9:.1f} GB, this machine's memory "
            f"{there / 1e9:.1f} GB"
        )
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    tokenizer = load_tokenizer(folder)
    model, about = AutoModelForCausalLM.from_pretrained(
        str(folder), use_safetensors=True, dtype="auto", output_loading_info=True, **_HERE
    )
    if missing := sorted(about["missing_keys"]):
        raise _unusable(
            f"the weights in {folder} aren't whole: {len(missing)} are missing, {missing[0]} first"
        )
    ends = model.generation_config.eos_token_id
    model.generation_config = GenerationConfig(eos_token_id=ends)
    return tokenizer, model.to(device).eval()


def load_tokenizer(folder: Path) -> Any:
    """The tokenizer of a folder. Raises whatever the library raises."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(str(folder), **_HERE)


@contextmanager
def explained(problem: str) -> Iterator[None]:
    """Errors of torch and transformers become an EndpointError with their first line."""
    import torch
    from safetensors import SafetensorError

    unreadable: tuple[type[Exception], ...] = (
        SafetensorError, OSError, ValueError, ImportError, LookupError, RuntimeError, TypeError,
        AttributeError,
    )  # fmt: skip
    try:
        yield
    except (MemoryError, torch.OutOfMemoryError):
        raise _unusable(f"{problem}: {NO_MEMORY}") from None
    except unreadable as error:
        if "allocate memory" in str(error):
            raise _unusable(f"{problem}: {NO_MEMORY}") from None
        raise _unusable(f"{problem}: {short(error)}") from error


def _unusable(message: str) -> EndpointError:
    return EndpointError(message, kind="rejected", retryable=False)


def _go_on(stop: threading.Event) -> None:
    """Raise EndpointError once nobody waits any more."""
    if stop.is_set():
        raise EndpointError("the generation was stopped", retryable=False)
