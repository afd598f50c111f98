"""Makes a folder with a tiny language model of random weights and a tokenizer of bytes, in the form
that `transformers` saves. Needs the weights extra."""

from __future__ import annotations

from pathlib import Path

CONTEXT = 16_384
TEMPLATE = (
    "{% for m in messages %}<start>{{ m.role }}: {{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}<start>assistant: {% endif %}"
)
CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def save_tiny(
    folder: Path,
    *,
    seed: int = 0,
    template: str | None = TEMPLATE,
    ends: str | None = "",
    thinks: bool = False,
    spread: float = 0.02,
) -> Path:
    """Two layers of width 64. `ends` are letters that end a reply besides its own end token; with
    None nothing ends it. One that `thinks` has a token for the end of a thought. `spread` is the
    standard deviation of the weights: with as little as usual no adapter of so small a model can
    make it sure of a token."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    letters = {letter: n for n, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    inner = Tokenizer(models.BPE(vocab=letters, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    inner.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        bos_token="<start>",
        eos_token=None if ends is None else "<end>",
    )
    tokenizer.chat_template = template
    if thinks:
        tokenizer.add_tokens(["</think>"])
    torch.manual_seed(seed)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=CONTEXT,
            initializer_range=spread,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )
    )
    assert model.generation_config is not None
    if ends is not None:
        others = [letters[letter] for letter in ends]
        model.generation_config.eos_token_id = [tokenizer.eos_token_id, *others]
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
