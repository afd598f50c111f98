"""Language models: endpoints, limits, cache, recordings, prices, and the gate in front of them.

Public: `scripted`; the rest is internal and may change without notice.
"""
