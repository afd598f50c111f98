"""Views of `sqlwright finetune`."""
