"""SHA-256 of every file of weights this code was released with.

Written by `python -m training.embedded.stamp`; never edited by hand.
"""

from __future__ import annotations

DIGESTS: dict[str, str] = {
    "confidence.json": "edb6d4d0ff1a81664a72534efaa7f649c2825c94b3cf55b972d7da26b34e58fe",
    "critic.json": "348be7eeeef93af3ab63aa4e003f72d6848544fd94d1e8779f67972f2ddb3cbb",
    "critic_cues.txt": "1ddfc0976d5c975002a2487539f865a6d49feaa1af77012f7a316c1e126f8d99",
    "embedder.onnx": "e40078353902fcc0bdffddeb94ff0e2e9424664b13cfd8f1a31a1ff517eada53",
    "linker.npz": "282942636e2efbb1227a7b262b14b8b4b190ca5f2bcd09b61b1f534fa40294ba",
    "minilm_lower.onnx": "37556d5aa7089090937f23aebee62fab49f0ea86aba66ae39bcf563c2f8a0e15",
    "parser_decoder.onnx": "07faf0fb54d4a54a1de2036990f751ba5dc025da74a0e75d01049df523d8b4cd",
    "parser_encoder.onnx": "e92ac5f07263aa9017f43c4469e4a716a11864b50d0ee66719bbcd3edde83499",
    "tokenizer.json": "9114256b104cca80e04367526f03f46aa3c443c2ed174904142a73bbf13b9fbb",
    "word_embeddings.npy": "b4f678bac3ca1c7b8a83950fd32245a4872861e49dc9ad0834503c9ac701631d",
    "word_scales.npy": "7ca924aaf85b4aa347bca4ea9ce4e0fda826aec041fac8402bed0e536d15f356",
}
