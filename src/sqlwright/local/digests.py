"""SHA-256 of every file of weights this code was released with.

Written by `python -m sqlwright.training.stamp`; never edited by hand.
"""

from __future__ import annotations

DIGESTS: dict[str, str] = {
    "critic.json": "b309209eebd9a1dfb738addd4e0c932672dfb17d9ff5b2630282050f9217ebe3",
    "embedder.onnx": "3b80f7ea8b774bda14927fc8a557d89a8b003d89a5af5d66df61c4d628cb62c3",
    "linker.npz": "282942636e2efbb1227a7b262b14b8b4b190ca5f2bcd09b61b1f534fa40294ba",
    "minilm_lower.onnx": "c4e95bb7b968e57992e0a860602fd1a5119e3ac550f2034c075ac744ad5480a6",
    "parser_decoder.onnx": "618d62ccb76aadcc93e86ccac78f3bff32a507b4ae283a13fcbe414723a7ae0e",
    "parser_encoder.onnx": "5a3b400c1a4908a30ea206d5761561034bc87eaa9ccf3bd1abc4f94592cfb4af",
    "tokenizer.json": "9114256b104cca80e04367526f03f46aa3c443c2ed174904142a73bbf13b9fbb",
    "word_embeddings.npy": "b4f678bac3ca1c7b8a83950fd32245a4872861e49dc9ad0834503c9ac701631d",
    "word_scales.npy": "7ca924aaf85b4aa347bca4ea9ce4e0fda826aec041fac8402bed0e536d15f356",
}
