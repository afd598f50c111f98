"""Spending, cheapest first: whether to ask a language model, and what its queries then say."""
