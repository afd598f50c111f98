"""Trains an adapter for a role on a set of examples. The doorway to peft, trl and accelerate, and
in finetuning to torch and transformers, all of which are an extra.

`plan` says how, `chat` makes tokens, `loading` has the model, `train` trains. Nothing
is downloaded and nothing is sent anywhere.

Internal: may change without notice.
"""
