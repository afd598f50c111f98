"""A small schema for the parser's tests."""

from __future__ import annotations

from sqlwright.schema import Column, ColumnRef, ForeignKey, Schema, Table

SINGERS = Schema(
    "concerts",
    (
        Table(
            "singer",
            (
                Column("Singer_ID", "int"),
                Column("Name", "text"),
                Column("Country", "text"),
                Column("Age", "int"),
                Column("is_male", "text"),
            ),
            ("Singer_ID",),
        ),
        Table(
            "concert",
            (
                Column("concert_ID", "int"),
                Column("concert_Name", "text"),
                Column("singerId", "int"),
                Column("Year", "text"),
            ),
            ("concert_ID",),
        ),
    ),
    (ForeignKey("concert", ("singerId",), "singer", ("Singer_ID",)),),
)

COUNTRY = ColumnRef("singer", "Country")
AGE = ColumnRef("singer", "Age")
NAME = ColumnRef("singer", "Name")
YEAR = ColumnRef("concert", "Year")
MALE = ColumnRef("singer", "is_male")
