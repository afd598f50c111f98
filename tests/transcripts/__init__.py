"""Recipes played back with replies that somebody typed who saw the prompts alone.

`stored` is the form they are kept in, `played` plays them, and the command is in `__main__`.
"""
