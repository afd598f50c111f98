"""Questions and queries that are made for training."""
