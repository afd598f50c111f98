"""A query told so that equal things are equal however they are written."""
