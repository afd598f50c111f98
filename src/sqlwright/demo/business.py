"""Write the demo database: Harbor & Pine, a wholesaler of coffee, tea and what goes with them.

Twelve tables with what real ones have: codes, money, dates, missing values, accents, names that
nearly repeat, a customer entered twice, phone numbers in three formats, a self-reference.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sqlite3
import tomllib
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

from sqlwright.errors import WorkspaceError
from sqlwright.types import Cell


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    """A question about the demo business; `digest` is `rows_digest` of its answer."""

    level: str
    text: str
    sql: str
    digest: str


def demo_questions() -> tuple[DemoQuestion, ...]:
    """All thirty, easy ones first."""
    path = Path(__file__).parent / "questions.toml"
    listed = tomllib.loads(path.read_text("utf-8"))["question"]
    return tuple(DemoQuestion(**question) for question in listed)


def rows_digest(rows: Iterable[tuple[Cell, ...]]) -> str:
    """A checksum of rows whatever their order; floats to nine significant digits, so that
    summing in another order doesn't change it."""
    plain = [[_digest_text(cell) for cell in row] for row in rows]
    return hashlib.sha256(json.dumps(sorted(plain)).encode()).hexdigest()[:12]


def _digest_text(cell: Cell) -> str:
    """The same text on every engine: a whole decimal is an integer, another one a real number."""
    if isinstance(cell, Decimal):
        cell = int(cell) if cell == cell.to_integral_value() else float(cell)
    return f"{cell:.9g}" if isinstance(cell, float) else str(cell)


FIRST = (
    "Ada Bruno Chiara Dmitri Elif Farah Gustav Hanna Ivo Jasmin Kofi Lena Mateus Nadia Oskar "
    "Priya Quentin Rosa Stefan Tomasz Ulla Viktor Wanda Ximena Yusuf Zoe Anaïs Björn Céline José"
).split()
LAST = (
    "Almeida Berg Castillo Dubois Eriksen Ferrari Grün Haddad Ito Jansen Kowalska Lindqvist Moreau "
    "Nguyen Okafor Petrov Quist Rossi Santos Tanaka Ueda Varga Weiss Yilmaz Zhang O'Brien Núñez"
).split()
PLACES = (
    ("Hamburg", "Germany"),
    ("Munich", "Germany"),
    ("Lyon", "France"),
    ("Paris", "France"),
    ("Milan", "Italy"),
    ("Turin", "Italy"),
    ("Porto", "Portugal"),
    ("Lisbon", "Portugal"),
    ("Rotterdam", "Netherlands"),
    ("Vienna", "Austria"),
    ("Gdańsk", "Poland"),
    ("São Paulo", "Brazil"),
    ("Austin", "United States"),
    ("Toronto", "Canada"),
)
BUSINESS = (
    "Café Lumière|Bean There|Kaffeehaus Grün|The Daily Grind|Espresso Republic|Northside Bakery|"
    "Hotel Miramar|Bistro Zwölf|Roast & Co.|Mokka Mania|Café São Jorge|Corner Cup|Blue Kettle|"
    "Grand Hotel Aurora|Sunrise Diner|Tazza d'Oro|The Copper Pot|Le Petit Noir|Uptown Coffee|"
    "Brew Brothers|Café Central|Lighthouse Inn|Pão e Café|Office Perks GmbH|Wake Up Market|"
    "Golden Spoon|Museum Café Nord|Slow Drip|Campus Coffee Hub|Riverside Catering|Die Rösterei|"
    "Second Cup Club|Harbour View Hotel|Velvet Crema|Quick Sip Kiosk|Alpine Lodge|Pier 9 Deli|"
    "Salon de Thé Rose|Barista Academy|Old Mill Restaurant|Green Leaf Grocers|Night Owl Bar|"
    "Piazza Piccola|Orchard Farm Shop|Metro Snack Point|The Book Nook|Casa Verde|Ferry Terminal Café|"
    "Studio Kitchen|Cloud Nine Lounge|Kiosk 24|Vintage Vinyl & Coffee|Summit Coworking|"
    "Little Lisbon|Station Buffet|Bakehouse Berg|Hütte am See|Lunchbox Express|Tea & Sympathy|"
    "Grand Café de l'Opéra"
).split("|")
SUPPLIERS = (
    ("Andes Beans Co.", "Colombia"),
    ("Yirgacheffe Growers Union", "Ethiopia"),
    ("Santos Export Ltda", "Brazil"),
    ("Officine Vapore S.p.A.", "Italy"),
    ("Nordic Ceramics AB", "Sweden"),
    ("PaperWay Packaging", "Poland"),
    ("Tea Gardens of Assam", "India"),
    ("Müller Mahlwerke", "Germany"),
    ("Sweet Valley Syrups", "United States"),
)
PRODUCTS = (
    (
        "Coffee Beans",
        "Huila Reserve 1kg|Yirgacheffe Washed 1kg|Santos Classic 1kg|House Espresso Blend 1kg|"
        "Decaf Mountain Water 500g|Sidamo Natural 250g|Harbor Breakfast Blend 1kg|Single Farm Gesha 250g",
        9,
        62,
    ),
    (
        "Tea",
        "Assam Breakfast 100 bags|Earl Grey Loose 500g|Green Sencha 250g|Chamomile 50 bags|Masala Chai 1kg",
        6,
        34,
    ),
    ("Espresso Machines", "Vapore Uno|Vapore Duo Pro|Vapore Leva|Compact Pod One", 390, 6800),
    ("Grinders", "Mahlkönigin M1|Mahlkönigin M3|Hand Mill Classic|Silent Burr 64", 45, 1650),
    (
        "Cups & Glassware",
        "Espresso Cup White|Cappuccino Cup Blue|Latte Glass 350ml|Travel Mug Steel|Saucer White",
        2,
        24,
    ),
    ("Syrups", "Vanilla Syrup 1l|Caramel Syrup 1l|Hazelnut Syrup 1l|Sugar-free Vanilla 1l", 7, 14),
    (
        "Packaging",
        "Paper Cup 250ml x1000|Paper Cup 350ml x1000|Lid Black x1000|Kraft Bag 250g x500",
        22,
        78,
    ),
    (
        "Accessories",
        "Milk Pitcher 600ml|Tamper 58mm|Knock Box|Cleaning Tablets x100|Water Filter Cartridge|Barista Apron",
        8,
        89,
    ),
)
TITLES = (
    ("Sales", "Sales Representative", 9, 39_000, 58_000),
    ("Warehouse", "Warehouse Clerk", 6, 29_000, 38_000),
    ("Finance", "Accountant", 3, 42_000, 57_000),
    ("Support", "Support Agent", 5, 31_000, 43_000),
    ("Procurement", "Buyer", 3, 40_000, 56_000),
)
TICKET_SUBJECTS = (
    "Machine leaks at the group head",
    "Wrong grind size delivered",
    "Invoice shows the old VAT number",
    "Late delivery",
    "Cups arrived broken",
    "Login to the portal fails",
    "Request for a price list",
    "Grinder makes a strange noise",
)
RETURN_REASONS = ("damaged", "wrong item", "not needed", "quality", "late")
SUPPLIED_BY = {  # category to the suppliers' numbers, counted from 1
    "Coffee Beans": (1, 1, 1, 2, 3),
    "Tea": (7,),
    "Espresso Machines": (4,),
    "Grinders": (8,),
    "Cups & Glassware": (5,),
    "Syrups": (9,),
    "Packaging": (6,),
    "Accessories": (4,),
}


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
    yield "categories", [(i, name) for i, (name, *_) in enumerate(PRODUCTS, 1)]
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
    people = [(f, name) for f in FIRST for name in LAST]
    rng.shuffle(people)
    rows: Rows = [(1, *people[0], "Managing Director", "Management", "2012-04-01", 98_000, None)]
    for department, title, count, low, high in TITLES:
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
    for number, name in enumerate((*BUSINESS, "BEAN THERE"), 1):
        city, country = rng.choice(PLACES)
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
        for i, (company, country) in enumerate(SUPPLIERS, 1)
    ]


def _products(rng: random.Random) -> Rows:
    rows: Rows = []
    for category, (label, listed, low, high) in enumerate(PRODUCTS, 1):
        code = "".join(word[0] for word in label.replace("&", "").split()).ljust(2, "X").upper()
        for name in listed.split("|"):
            number = len(rows) + 1
            price = round(rng.uniform(low, high), 2)
            cost = round(price * rng.uniform(0.45, 0.8), 2)
            launched = str(_day(rng, date(2016, 1, 1), date(2024, 12, 31)))
            supplier = rng.choice(SUPPLIED_BY[label])
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
                        rng.choice(RETURN_REASONS),
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
                rng.choice(TICKET_SUBJECTS),
                status,
            )
        )
    return rows
