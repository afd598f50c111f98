"""Views of `sqlwright lab finetune`."""
