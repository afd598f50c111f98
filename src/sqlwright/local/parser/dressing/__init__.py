"""Conversions that a column's stored format needs in a query, put in by rule and taken out.

A model speaks of plain columns: the year of a day, the sum of an amount. `dress` makes that true
of columns which hold 31/01/2024, 20240131, seconds since 1970 or $1,234.50; `undress` is the way
back."""
