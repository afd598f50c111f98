"""The stages of a question's way to an answer. Stages do not import one another."""
