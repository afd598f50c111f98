"""Executors: how a run's questions are asked, in threads, in processes or on a cluster. Nothing
here is meant for import from outside."""
