"""The form as a sequence of symbols, and the grammar of such sequences."""
