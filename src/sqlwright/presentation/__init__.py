"""An answer as JSON, text, CSV and HTML; `html` is the kit that all pages are built with.

Internal: may change without notice.
"""
