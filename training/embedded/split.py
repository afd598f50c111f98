"""The division of databases that training keeps to; its rule is that of the data sets."""

from sqlwright.lab.datasets.spider import HELD_BACK, SEED, Split, load_split

__all__ = ["HELD_BACK", "SEED", "Split", "load_split"]
