"""HTML by templates: a page, its parts, charts. Everything else that shows HTML uses it.

What is shown was written by somebody else, so markup is a type: `templates.Html` is made by
`templates.part` and `templates.foreign`, and a plain string is text wherever it is put.

Internal: may change without notice.
"""
