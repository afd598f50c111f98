"""The steps of the embedded models; `recipes/registry.py` names them."""
