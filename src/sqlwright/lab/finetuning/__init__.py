"""Training the roles of the papers on a user's own model and data.

A set of examples is built by running the steps of a recipe with a teacher in the place of its
language models: what a step asks is kept with the right reply, so that training and inference show
the same text. `roles/` say what is right (linker, generator, critic, selector), `building/` makes
sets, `trainer/` trains on them (the doorway to peft and trl).

Internal: may change without notice.
"""
