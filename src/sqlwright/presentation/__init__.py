"""An answer as JSON, text, CSV and HTML.

Internal: may change without notice.
"""
