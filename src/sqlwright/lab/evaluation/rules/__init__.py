"""Rules by which a predicted result is the gold result: one file and one line of the registry each.

Public: registry, rule.
"""
