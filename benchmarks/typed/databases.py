"""Two databases for typed trials, the same in every run: a chain of campsites, a repair workshop.

They are as such databases are: codes with and without a table that explains them, dates as text in
two forms, amounts in cents, abbreviations, keys that are declared and keys that are not.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path

CAMPSITES = """
CREATE TABLE site (site_id INTEGER PRIMARY KEY, name TEXT, region TEXT, opened TEXT);
CREATE TABLE pitch_type (code TEXT PRIMARY KEY, label TEXT, night_cents INTEGER);
CREATE TABLE pitch (pitch_id INTEGER PRIMARY KEY, site_id INTEGER REFERENCES site (site_id),
  no TEXT, type TEXT REFERENCES pitch_type (code), power INTEGER, shade TEXT);
CREATE TABLE guest (guest_id INTEGER PRIMARY KEY, surname TEXT, first TEXT, country TEXT,
  club_no TEXT);
CREATE TABLE booking (bk_no INTEGER PRIMARY KEY, guest_id INTEGER REFERENCES guest (guest_id),
  pitch_id INTEGER REFERENCES pitch (pitch_id), arr TEXT, nights INTEGER, adults INTEGER,
  kids INTEGER, st TEXT, via TEXT);
CREATE TABLE extra (extra_id INTEGER PRIMARY KEY, what TEXT, unit_cents INTEGER);
CREATE TABLE booked_extra (bk_no INTEGER, extra_id INTEGER, qty INTEGER);
CREATE TABLE payment (pay_id INTEGER PRIMARY KEY, bk_no INTEGER, paid_on TEXT, cents INTEGER,
  how TEXT);
CREATE TABLE review (rev_id INTEGER PRIMARY KEY, bk_no INTEGER, stars INTEGER, written TEXT);
CREATE TABLE warden (warden_id INTEGER PRIMARY KEY, name TEXT, site_id INTEGER, since TEXT,
  boss_id INTEGER);
"""
WORKSHOP = """
CREATE TABLE cust (cno INTEGER PRIMARY KEY, nm TEXT, town TEXT, kind TEXT, disc_pct REAL);
CREATE TABLE dev_class (cls TEXT PRIMARY KEY, descr TEXT);
CREATE TABLE device (dev_id INTEGER PRIMARY KEY, cno INTEGER REFERENCES cust (cno), cls TEXT
  REFERENCES dev_class (cls), maker TEXT, model TEXT, bought TEXT);
CREATE TABLE tech (tech_id INTEGER PRIMARY KEY, nm TEXT, grade INTEGER, rate_cents INTEGER,
  left_on TEXT);
CREATE TABLE job (job_no TEXT PRIMARY KEY, dev_id INTEGER, tech_id INTEGER, d_in TEXT, d_out TEXT,
  stat TEXT, warranty INTEGER, fault TEXT);
CREATE TABLE labour (job_no TEXT, tech_id INTEGER, day TEXT, mins INTEGER);
CREATE TABLE part (part_no TEXT PRIMARY KEY, descr TEXT, sup_id INTEGER, cost_cents INTEGER,
  price_cents INTEGER, stock INTEGER, min_stock INTEGER);
CREATE TABLE used_part (job_no TEXT, part_no TEXT, qty INTEGER);
CREATE TABLE supplier (sup_id INTEGER PRIMARY KEY, nm TEXT, country TEXT, lead_days INTEGER);
CREATE TABLE invoice (inv_no INTEGER PRIMARY KEY, job_no TEXT, issued TEXT, total_cents INTEGER,
  paid TEXT);
"""
Rows = Sequence[Sequence[object]]


def _fill(connection: sqlite3.Connection, table: str, rows: Rows) -> None:
    marks = ", ".join("?" * len(rows[0]))
    connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)


def _day(draw: random.Random, first: date, days: int) -> date:
    return first + timedelta(days=draw.randrange(days))


def _campsites(con: sqlite3.Connection, draw: random.Random) -> None:
    names = ["Lakeside", "Pine Hollow", "Dune Camp", "Old Quarry", "Heron Bend", "Hilltop"]
    regions = ["North", "North", "Coast", "Hills", "Coast", "Hills"]
    opened = ["2009-04-01", "2012-05-15", "2015-03-20", "2018-06-01", "2020-07-10", "2023-04-05"]
    _fill(con, "site", list(zip(range(1, 7), names, regions, opened, strict=True)))
    types = [("T", "tent", 1800), ("C", "caravan", 3200), ("M", "motorhome", 3600),
             ("L", "lodge", 8900)]  # fmt: skip
    _fill(con, "pitch_type", types)
    pitches = [
        (n, 1 + (n - 1) // 15, f"{'ABC'[n % 3]}{n % 15 + 1}", draw.choice("TTTCCML"),
         int(draw.random() < 0.6), draw.choice(["full", "part", "none", None]))
        for n in range(1, 91)
    ]  # fmt: skip
    _fill(con, "pitch", pitches)
    last = ["Berg", "Novak", "Smith", "Rossi", "Dubois", "Jansen", "Costa", "Larsen", "Kovacs"]
    countries = ["DE", "NL", "GB", "FR", "DK", "CZ"]
    first = ["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gia", "Hugo", "Ida", "Jon"]
    guests = [
        (n, draw.choice(last), draw.choice(first), draw.choice(countries),
         f"CC{1000 + n}" if draw.random() < 0.3 else None)
        for n in range(1, 181)
    ]  # fmt: skip
    _fill(con, "guest", guests)
    bookings = []
    for n in range(5001, 5701):
        arrival = _day(draw, date(2022, 4, 1), 930)
        bookings.append((
            n, draw.randint(1, 170), draw.randint(1, 88), arrival.isoformat(), draw.randint(1, 14),
            draw.randint(1, 4), draw.choice([0, 0, 0, 1, 2, 3]),
            draw.choices("BICN", [2, 14, 3, 1])[0], draw.choice(["web", "web", "phone", "desk"]),
        ))  # fmt: skip
    _fill(con, "booking", bookings)
    extras = [(1, "firewood", 650), (2, "bike hire", 1500), (3, "dog", 400), (4, "kayak", 2200),
              (5, "breakfast", 1150), (6, "late checkout", 1900)]  # fmt: skip
    _fill(con, "extra", extras)
    taken = [(b[0], draw.randint(1, 5), draw.randint(1, 6)) for b in bookings
             if draw.random() < 0.45]  # fmt: skip
    _fill(con, "booked_extra", taken)
    night = {code: cents for code, _, cents in types}
    kind = {p[0]: p[3] for p in pitches}
    paid = []
    for b in bookings:
        if b[7] == "C" or draw.random() < 0.1:
            continue
        day = date.fromisoformat(str(b[3])) - timedelta(days=draw.randrange(40))
        cents = night[str(kind[b[2]])] * int(str(b[4]))
        parts = [cents] if draw.random() < 0.7 else [cents // 2, cents - cents // 2]
        paid += [(b[0], day.strftime("%d.%m.%Y"), part, draw.choice(["card", "cash", "transfer"]))
                 for part in parts]  # fmt: skip
    _fill(con, "payment", [(n, *row) for n, row in enumerate(paid, 1)])
    staid = [b for b in bookings if b[7] == "I" and draw.random() < 0.35]
    _fill(con, "review", [
        (n, b[0], draw.choices([1, 2, 3, 4, 5], [1, 2, 4, 8, 6])[0],
         (date.fromisoformat(str(b[3])) + timedelta(days=20)).isoformat())
        for n, b in enumerate(staid, 1)
    ])  # fmt: skip
    wardens = ["Olga", "Piet", "Quinn", "Rita", "Sven", "Tara", "Uwe", "Vera", "Walt"]
    _fill(con, "warden", [
        (n, name, 1 + (n - 1) % 6 if n < 9 else None, f"{2010 + n}-03-01", None if n == 1 else
         1 if n < 5 else 2)
        for n, name in enumerate(wardens, 1)
    ])  # fmt: skip


def _workshop(con: sqlite3.Connection, draw: random.Random) -> None:
    towns = ["Leeds", "York", "Hull", "Selby", "Ripon"]
    names = ["Hart", "Bell", "Nowak", "Shah", "Reed", "Cole", "Page", "Ward", "Lane", "Moss"]
    customers = [
        (n, f"{draw.choice(names)} {'Ltd' if n % 4 == 0 else draw.choice('ABCDEFG') + '.'}",
         draw.choice(towns), "B" if n % 4 == 0 else "P",
         draw.choice([5.0, 10.0, 12.5]) if n % 4 == 0 else None)
        for n in range(1, 121)
    ]  # fmt: skip
    _fill(con, "cust", customers)
    classes = [("WM", "washing machine"), ("DW", "dishwasher"), ("FR", "fridge"), ("OV", "oven"),
               ("TD", "tumble dryer"), ("VC", "vacuum cleaner")]  # fmt: skip
    _fill(con, "dev_class", classes)
    makers = ["Borsch", "Mielo", "Hotline", "Wirlpul", "Candid"]
    devices = [
        (n, draw.randint(1, 112), draw.choice(classes[:5])[0], draw.choice(makers),
         f"{draw.choice('XKZ')}{draw.randint(100, 999)}",
         _day(draw, date(2014, 1, 1), 3400).isoformat())
        for n in range(1, 231)
    ]  # fmt: skip
    _fill(con, "device", devices)
    _fill(con, "tech", [
        (1, "Amir", 3, 5200, None), (2, "Beth", 3, 5400, None), (3, "Carl", 2, 4300, None),
        (4, "Dora", 2, 4500, None), (5, "Ewan", 1, 3600, "2024-01-31"), (6, "Fay", 1, 3500, None),
        (7, "Gus", 1, 3400, None),
    ])  # fmt: skip
    _fill(con, "supplier", [(1, "Partner Parts", "GB", 2), (2, "Ersatz GmbH", "DE", 6),
                            (3, "Ricambi Srl", "IT", 9), (4, "Delta Spares", "GB", 3)])  # fmt: skip
    what = ["drum belt", "door seal", "pump", "heating element", "thermostat", "control board",
            "motor", "hinge", "filter", "fan", "inlet valve", "knob"]  # fmt: skip
    parts = [
        (f"P-{100 + n}", name, draw.choice([1, 1, 2, 2, 3]), cost := draw.randint(300, 9000),
         round(cost * draw.choice([1.3, 1.5, 1.8])), draw.randint(0, 25), draw.choice([3, 5, 8]))
        for n, name in enumerate(what)
    ]  # fmt: skip
    _fill(con, "part", parts)
    price = {p[0]: p[4] for p in parts}
    faults = ["leaks", "no heat", "noisy", "won't start", "door stuck", "smells"]
    jobs, labour, used, invoices = [], [], [], []
    for n in range(1, 421):
        begun = _day(draw, date(2022, 1, 3), 1060)
        status = draw.choices(["F", "W", "X", "O"], [16, 2, 1, 2])[0]
        ended = begun + timedelta(days=draw.randint(0, 30)) if status == "F" else None
        number, lead = f"J{begun:%y}-{n:04}", draw.randint(1, 6)
        warranty = int(draw.random() < 0.2)
        jobs.append((number, draw.randint(1, 220), lead, begun.strftime("%d/%m/%Y"),
                     ended and ended.strftime("%d/%m/%Y"), status, warranty,
                     draw.choice(faults)))  # fmt: skip
        total = 0
        for _ in range(draw.randint(1, 3) if status in "FW" else 0):
            minutes = draw.randrange(15, 200, 5)
            labour.append((number, draw.choice([lead, lead, draw.randint(1, 6)]),
                           begun.isoformat(), minutes))  # fmt: skip
            total += minutes * 80
        for _ in range(draw.choice([0, 1, 1, 2]) if status == "F" else 0):
            part, count = draw.choice(parts[:11])[0], draw.randint(1, 3)
            used.append((number, part, count))
            total += int(str(price[part])) * count
        if status == "F" and not warranty and ended:
            due = ended + timedelta(days=draw.randint(3, 60))
            invoices.append((number, ended.isoformat(), total,
                             due.isoformat() if draw.random() < 0.85 else None))  # fmt: skip
    _fill(con, "job", jobs)
    _fill(con, "labour", labour)
    _fill(con, "used_part", used)
    _fill(con, "invoice", [(9000 + n, *row) for n, row in enumerate(invoices)])


DATABASES: dict[str, tuple[str, Callable[[sqlite3.Connection, random.Random], None]]] = {
    "campsites": (CAMPSITES, _campsites),
    "workshop": (WORKSHOP, _workshop),
}


def build_typed(name: str, folder: Path) -> Path:
    """Write the database as `name`.sqlite, afresh."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.sqlite"
    path.unlink(missing_ok=True)
    script, fill = DATABASES[name]
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
        fill(connection, random.Random(f"typed/{name}"))
        connection.commit()
    return path
