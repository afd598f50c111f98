"""Stored values, found by resemblance to a phrase.

`values` is the index sqlwright uses: tokens, their neighbours by one edit, and character trigrams,
in flat memory-mapped files. `minhash`, `substring` and `vectors` are the forms that the papers
describe, behind the same protocol (`protocols.ValueIndex`).

Internal: may change without notice.
"""
