"""The confidence in an answer: what speaks for and against it, as a probability with an interval.

One calibration for answers of embedded and of language models: `measures` says what is measured of
each, `calibration` makes a probability of it, `fitting` fits one. What the candidates are and which
is chosen is settled before; nothing here changes that.

Internal: may change without notice.
"""
