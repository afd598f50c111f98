"""A language model of a few layers with random weights, made on the spot, for real servers to run.

    python benchmarks/tiny_model.py FOLDER

It needs torch, transformers and gguf. The tokenizer is trained on this project's own pages. FOLDER
gets the model as transformers reads it (hf/) and as llama.cpp does (tiny.gguf). It writes nonsense,
in words about as frequent as on the pages, and ends a reply after some fifty of them: one dimension
of the hidden state is kept constant, so that its weights in the last layer are a bias per token.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VOCABULARY = 2_000
WIDTH, LAYERS, HEADS, INNER = 64, 2, 4, 128
CONTEXT = 16_384
BEGIN, END, PAD = "<|im_start|>", "<|im_end|>", "<|endoftext|>"
LENGTH = 50
"""Tokens of a reply on average."""
CONSTANT = 12.0
"""The constant dimension's share of every token's vector, beside numbers of size 1."""
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def texts() -> list[str]:
    pages = [*ROOT.glob("docs/*.md"), *ROOT.glob("src/sqlwright/steps/**/*.jinja")]
    return [path.read_text("utf-8") for path in sorted(pages)]


def make(folder: Path) -> None:
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[PAD, BEGIN, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts(), trainer)
    vocabulary = tokenizer.get_vocab_size()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=END, pad_token=PAD, chat_template=TEMPLATE
    )
    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=vocabulary, hidden_size=WIDTH, num_hidden_layers=LAYERS,
        num_attention_heads=HEADS, num_key_value_heads=2, intermediate_size=INNER,
        max_position_embeddings=CONTEXT, tie_word_embeddings=False, bos_token_id=None,
        eos_token_id=fast.eos_token_id, pad_token_id=fast.pad_token_id,
    )  # fmt: skip
    model = LlamaForCausalLM(config)
    counts = Counter(token for text in texts() for token in tokenizer.encode(text).ids)
    with torch.no_grad():
        for name, weight in model.named_parameters():  # large enough for prompts to matter
            if "layers" in name and weight.dim() == 2:
                weight.normal_(std=1 / weight.shape[1] ** 0.5)
        for layer in model.model.layers:  # nothing is added to the constant dimension
            layer.self_attn.o_proj.weight[0] = 0.0
            layer.mlp.down_proj.weight[0] = 0.0
        model.model.embed_tokens.weight.normal_()
        model.model.embed_tokens.weight[:, 0] = CONSTANT
        total = sum(counts.values())
        # After the norm the dimension is near CONSTANT / sqrt(mean square).
        size = CONSTANT / ((CONSTANT**2 + WIDTH - 1) / WIDTH) ** 0.5
        bias = torch.tensor([counts[token] / total + 1e-7 for token in range(vocabulary)]).log()
        bias[fast.eos_token_id] = torch.tensor(1 / LENGTH).log()
        for mark in ('"', "]", "}"):  # so that texts in JSON end
            bias[fast.convert_tokens_to_ids(mark)] = torch.tensor(1 / LENGTH).log()
        bias[fast.convert_tokens_to_ids(BEGIN)] = bias[fast.pad_token_id] = -30.0
        model.lm_head.weight.normal_(std=0.12)
        model.lm_head.weight[:, 0] = bias / size
    model.generation_config.do_sample = True
    model.save_pretrained(folder / "hf")
    fast.save_pretrained(folder / "hf")
    write_gguf(folder, model)


def write_gguf(folder: Path, model: object) -> None:
    import gguf

    said = json.loads((folder / "hf" / "tokenizer.json").read_text("utf-8"))["model"]
    tokens = sorted(said["vocab"], key=said["vocab"].get)
    special = {PAD, BEGIN, END}
    writer = gguf.GGUFWriter(folder / "tiny.gguf", "llama")
    writer.add_name("tiny")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(2)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    kinds = [gguf.TokenType.CONTROL if t in special else gguf.TokenType.NORMAL for t in tokens]
    writer.add_token_types(kinds)
    pairs = [pair if isinstance(pair, str) else " ".join(pair) for pair in said["merges"]]
    writer.add_token_merges(pairs)
    writer.add_eos_token_id(said["vocab"][END])
    writer.add_pad_token_id(said["vocab"][PAD])
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    names = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}
    parts = {
        "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
        "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
        "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm",
        "post_attention_layernorm": "ffn_norm",
    }  # fmt: skip
    for number in range(LAYERS):
        names |= {f"model.layers.{number}.{k}": f"blk.{number}.{v}" for k, v in parts.items()}
    for name, tensor in model.state_dict().items():  # type: ignore[attr-defined]
        writer.add_tensor(f"{names[name.removesuffix('.weight')]}.weight", tensor.float().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    make(parser.parse_args().folder)
