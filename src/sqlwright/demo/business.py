"""Write the demo database: Harbor & Pine, a wholesaler of coffee, tea and what goes with them.

Twelve tables with what real ones have: codes, money, dates, missing values, accents, names that
nearly repeat, a customer entered twice, phone numbers in three formats, a self-reference.
"""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path

from sqlwright.demo import names
from sqlwright.errors import WorkspaceError

SEED = 20261120
"""Chosen once, by date; the demo's questions and answers depend on it."""
FIRST_DAY, LAST_DAY = date(2023, 1, 2), date(2025, 6, 30)
Rows = list[tuple[object, ...]]


def write_business(path: Path, seed: int = SEED) -> None:
    """Write the database to `path`, aside first, then renamed. The same seed, the same rows.

    Raises WorkspaceError when it can't be written, leaving nothing behind.
    """
    aside = path.with_name(path.name + ".part")
    aside.unlink(missing_ok=True)
    try:
        os.close(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with closing(sqlite3.connect(aside)) as connection:
            connection.executescript(business_script())
            for table, rows in business_rows(random.Random(seed)):
                marks = ", ".join("?" * len(rows[0]))
                connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
            connection.commit()
        aside.replace(path)
    except BaseException as error:
        for left in (aside, aside.with_name(f"{aside.name}-journal")):
            left.unlink(missing_ok=True)
        if isinstance(error, sqlite3.Error):
            raise WorkspaceError(
                f"The demo database {path} can't be written: {error}.",
                hint="Make room, or choose another place with SQLWRIGHT_HOME or --save.",
            ) from error
        raise


def write_duckdb_business(path: Path) -> None:
    """Write it to a new DuckDB file, amounts as decimals. Raises DatabaseUnavailable and
    WorkspaceError."""
    from sqlwright.database.duckdb.driver import write_duckdb

    write_duckdb(path, typed_script(), business_rows(random.Random(SEED)))


def typed_script() -> str:
    """The statements that make its tables, for engines with types."""
    text = business_script().replace(") WITHOUT ROWID;", ");")
    return text.replace(" REAL", " NUMERIC(12, 2)")


def business_script() -> str:
    """The statements that make its tables, for SQLite."""
    return (Path(__file__).parent / "business.sql").read_text("utf-8")


def business_rows(rng: random.Random) -> Iterable[tuple[str, Rows]]:
    """Its tables by name, each after those that it refers to, with their rows."""
    employees = _employees(rng)
    customers = _customers(rng)
    products = _products(rng)
    orders, lines, payments, returns = _trade(rng, customers, products, employees)
    yield "employees", employees
    yield "customers", customers
    yield "categories", [(i, name) for i, (name, *_) in enumerate(names.PRODUCTS, 1)]
    yield "suppliers", _suppliers(rng)
    yield "products", products
    yield (
        "warehouses",
        [
            (1, "HAM-1", "Hamburg", 12_000),
            (2, "LYO-1", "Lyon", 7_500),
            (3, "MIL-2", "Milan", 5_000),
            (4, "ATX-1", "Austin", 9_000),
        ],
    )
    yield (
        "stock_levels",
        [
            (warehouse, product[0], rng.choice((0, rng.randint(1, 400))), rng.choice((10, 25, 50)))
            for warehouse in range(1, 5)
            for product in products
            if rng.random() < 0.8
        ],
    )
    yield "orders", orders
    yield "order_lines", lines
    yield "payments", payments
    yield "returns", returns
    yield "support_tickets", _tickets(rng, customers)


def _day(rng: random.Random, first: date = FIRST_DAY, last: date = LAST_DAY) -> date:
    return first + timedelta(days=rng.randrange((last - first).days + 1))


def _phone(rng: random.Random) -> str:
    digits = "".join(str(rng.randrange(10)) for _ in range(9))
    style = rng.randrange(3)
    if style == 0:
        return f"+49 {digits[:3]} {digits[3:]}"
    return (
        f"0{digits[:3]}/{digits[3:]}"
        if style == 1
        else f"({digits[:3]}) {digits[3:6]}-{digits[6:]}"
    )


def _employees(rng: random.Random) -> Rows:
    people = [(f, name) for f in names.FIRST for name in names.LAST]
    rng.shuffle(people)
    rows: Rows = [(1, *people[0], "Managing Director", "Management", "2012-04-01", 98_000, None)]
    for department, title, count, low, high in names.TITLES:
        lead = len(rows) + 1
        rows.append(
            (
                lead,
                *people[lead],
                f"Head of {department}",
                department,
                str(_day(rng, date(2012, 5, 1), date(2018, 12, 31))),
                high + 4_000,
                1,
            )
        )
        for _ in range(count):
            number = len(rows) + 1
            # One in ten earns more than the head of the department: a question worth asking.
            salary = high + 6_500 if rng.random() < 0.1 else rng.randrange(low, high, 500)
            hired = _day(rng, date(2014, 1, 1), date(2025, 3, 1))
            rows.append((number, *people[number], title, department, str(hired), salary, lead))
    return rows


def _customers(rng: random.Random) -> Rows:
    rows: Rows = []
    for number, name in enumerate((*names.BUSINESS, "BEAN THERE"), 1):
        city, country = rng.choice(names.PLACES)
        slug = "".join(c for c in name.casefold() if c.isascii() and c.isalnum())
        email = f"orders@{slug}.example" if rng.random() < 0.9 else None
        limit = rng.choice((None, 1_000, 2_500, 5_000, 10_000, 20_000))
        segment = rng.choices(("cafe", "hotel", "retail", "office"), (5, 2, 2, 1))[0]
        since = str(_day(rng, date(2015, 1, 1), date(2023, 12, 1)))
        rows.append((number, name, segment, email, _phone(rng), city, country, since, limit))
    return rows


def _suppliers(rng: random.Random) -> Rows:
    return [
        (i, company, country, round(rng.uniform(2.8, 5.0), 1))
        for i, (company, country) in enumerate(names.SUPPLIERS, 1)
    ]


def _products(rng: random.Random) -> Rows:
    rows: Rows = []
    for category, (label, listed, low, high) in enumerate(names.PRODUCTS, 1):
        code = "".join(word[0] for word in label.replace("&", "").split()).ljust(2, "X").upper()
        for name in listed.split("|"):
            number = len(rows) + 1
            price = round(rng.uniform(low, high), 2)
            cost = round(price * rng.uniform(0.45, 0.8), 2)
            launched = str(_day(rng, date(2016, 1, 1), date(2024, 12, 31)))
            supplier = rng.choice(names.SUPPLIED_BY[label])
            sku = f"{code}-{1000 + number * 7}"
            rows.append(
                (
                    number,
                    sku,
                    name,
                    category,
                    supplier,
                    price,
                    cost,
                    launched,
                    int(rng.random() < 0.12),
                )
            )
    return rows


def _trade(
    rng: random.Random, customers: Rows, products: Rows, employees: Rows
) -> tuple[Rows, Rows, Rows, Rows]:
    orders: Rows = []
    lines: Rows = []
    payments: Rows = []
    returns: Rows = []
    sellers = [row[0] for row in employees if row[3] == "Sales Representative"]
    buyers = customers[:-6]  # the newest ones have not ordered yet
    sold = products[:-3]  # and three products have never sold
    weights = [rng.random() ** 2 + 0.05 for _ in buyers]
    for number in range(1, 421):
        ordered = _day(rng)
        status = rng.choices(("delivered", "shipped", "pending", "cancelled"), (70, 12, 10, 8))[0]
        shipped = (
            str(ordered + timedelta(days=rng.randint(1, 9)))
            if status in ("delivered", "shipped")
            else None
        )
        customer = rng.choices(buyers, weights)[0][0]
        orders.append(
            (
                number,
                f"SO-{ordered.year}-{number:05d}",
                customer,
                rng.choice(sellers),
                str(ordered),
                shipped,
                status,
                rng.choice(("ground", "ground", "air", "pickup")),
            )
        )
        total = 0.0
        for line, product in enumerate(rng.sample(sold, rng.randint(1, 5)), 1):
            quantity = rng.choice((1, 1, 2, 3, 5, 10, 20))
            discount = rng.choice((0, 0, 0, 0.05, 0.1))
            price = float(str(product[5]))
            lines.append((number, line, product[0], quantity, price, discount))
            total += quantity * price * (1 - discount)
            if status == "delivered" and rng.random() < 0.05:
                returns.append(
                    (
                        len(returns) + 1,
                        number,
                        product[0],
                        str(ordered + timedelta(days=20)),
                        rng.choice(names.RETURN_REASONS),
                        rng.randint(1, quantity),
                    )
                )
        if status != "cancelled" and rng.random() < 0.93:
            paid = ordered + timedelta(days=rng.randint(0, 45))
            method = rng.choices(("invoice", "card", "direct debit", "PayPal"), (5, 3, 2, 1))[0]
            payments.append((len(payments) + 1, number, str(paid), round(total, 2), method))
    return orders, lines, payments, returns


def _tickets(rng: random.Random, customers: Rows) -> Rows:
    rows: Rows = []
    for number in range(1, 131):
        opened = _day(rng)
        status = rng.choices(("closed", "open", "waiting"), (7, 2, 1))[0]
        closed = str(opened + timedelta(days=rng.randint(0, 30))) if status == "closed" else None
        rows.append(
            (
                number,
                rng.choice(customers)[0],
                str(opened),
                closed,
                rng.choices(("low", "normal", "high", "urgent"), (3, 5, 2, 1))[0],
                rng.choice(names.TICKET_SUBJECTS),
                status,
            )
        )
    return rows
