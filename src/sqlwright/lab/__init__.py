"""Measure, compare and train: data sets, evaluation, comparison of recipes, finetuning."""
