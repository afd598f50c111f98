"""The embedded models: linker, parser and critic, which run on a CPU without any key or network.

Internal: may change without notice.
"""
