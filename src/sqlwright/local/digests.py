"""SHA-256 of every file of weights this code was released with.

Written by `python -m sqlwright.training.stamp`; never edited by hand.
"""

from __future__ import annotations

DIGESTS: dict[str, str] = {
    "critic.json": "843d01304c1ff2bccf6dd507b4f9848f4941a131085f621eb215cd19750172b8",
    "embedder.onnx": "3b80f7ea8b774bda14927fc8a557d89a8b003d89a5af5d66df61c4d628cb62c3",
    "linker.npz": "282942636e2efbb1227a7b262b14b8b4b190ca5f2bcd09b61b1f534fa40294ba",
    "minilm_lower.onnx": "c4e95bb7b968e57992e0a860602fd1a5119e3ac550f2034c075ac744ad5480a6",
    "parser_decoder.onnx": "1bc9e8f02309c58aec2c026d5889d9a146f0731454ab8d48d06ae22f5ec14a42",
    "parser_encoder.onnx": "d230e71284b9d0cf74c9a64b3c1ccb55a59c59857de1f9d193b9a22474dd29a5",
    "tokenizer.json": "9114256b104cca80e04367526f03f46aa3c443c2ed174904142a73bbf13b9fbb",
    "word_embeddings.npy": "b4f678bac3ca1c7b8a83950fd32245a4872861e49dc9ad0834503c9ac701631d",
    "word_scales.npy": "7ca924aaf85b4aa347bca4ea9ce4e0fda826aec041fac8402bed0e536d15f356",
}
