"""Time, memory and money that a training will take: an estimate before anything is loaded.

Counted: tokens of a set. Computed: floating-point operations by the usual formulas, memory by its
parts. Taken from others: the rate at which GPUs were seen to train. Nothing here is measured by us.

Internal: may change without notice.
"""
