"""A small kit for HTML: elements, blocks of them, a page. Everything else that shows HTML uses it.

What is shown was written by somebody else, so markup is a type: `elements.Html` is made by
`elements.element` alone, and a plain string is text wherever it is put.

Internal: may change without notice.
"""
