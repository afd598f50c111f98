"""Measurement: what a recipe gets right, with intervals. Inference can't import this package.

Public.
"""
