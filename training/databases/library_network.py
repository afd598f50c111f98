"""A city library network: a main library, seven branches and a book bus; titles and copies, where each copy stood when, members and
their fare groups over time, loans, reservations, fines, events. The extract was taken on 30 June 2024, loans begin in 2022.

Size: 14 tables, 91 columns, 4958 rows.

Messy on purpose:
- All days are integers yyyymmdd, 0 or NULL where there is none, 99991231 for "until further notice"; event times are HH:MM.
- History: copy_location and member_group_history have valid_from and valid_to (the last day it held); the row that holds now has
  99991231. copy.branch is where the copy belongs, copy_location where it stood, transfer how it went: they don't always agree.
- Fines are texts with a dollar sign: '$1.50', '$12.00', '1.50' without it from the old system, '$1,040.00' once. fine.paid is Y, N or W (waived).
- Tables are named in plural or singular as they came; "group" is a reserved word used as a name, and two tables have spaces.
- Codes without lookup: copy.state: AV available, LO on loan, LOST, DMG damaged, WD withdrawn, TR in transit (also 'av', 'Lost').
  title.kind: BK book, DV DVD, CD, AB audio book, BG board game, MG magazine. reservation.status: 1 waiting, 2 ready for
  pickup, 3 collected, 4 expired, 5 cancelled. title.lang has both 'en' and 'eng'.
- renewals counts how often a loan was prolonged; due_day is the last due day. A loan that is out has returned_day NULL.
- Keys are declared; fine.loan_id points at loans of the old system that aren't here, those references hang in the air.
- Two authors share a name, a title may have several authors or none, some titles have no copy, some members never borrowed.

Broken keys: fine (14).
"""

from __future__ import annotations

import random
from datetime import date, timedelta

from training.script import Value, insert

TABLES = """
CREATE TABLE branches (branch_code TEXT PRIMARY KEY, name TEXT, district TEXT, kind TEXT, opened INTEGER, closed INTEGER, shelf_m REAL, seats INTEGER);
CREATE TABLE "opening hours" (branch_code TEXT REFERENCES branches(branch_code), weekday INTEGER, opens TEXT, closes TEXT, PRIMARY KEY (branch_code, weekday));
CREATE TABLE author (author_id INTEGER PRIMARY KEY, family_name TEXT, given_name TEXT, born INTEGER, country TEXT);
CREATE TABLE title (title_id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT, lang TEXT, year INTEGER, pages INTEGER, minutes INTEGER, min_age INTEGER,
  class TEXT, series_of INTEGER REFERENCES title(title_id));
CREATE TABLE title_author (title_id INTEGER REFERENCES title(title_id), author_id INTEGER REFERENCES author(author_id), role TEXT, position INTEGER,
  PRIMARY KEY (title_id, author_id, role));
CREATE TABLE copy (copy_id INTEGER PRIMARY KEY, title_id INTEGER NOT NULL REFERENCES title(title_id), barcode TEXT, branch TEXT REFERENCES branches(branch_code),
  bought_day INTEGER, price REAL, state TEXT);
CREATE TABLE copy_location (copy_id INTEGER REFERENCES copy(copy_id), branch_code TEXT REFERENCES branches(branch_code), valid_from INTEGER, valid_to INTEGER,
  PRIMARY KEY (copy_id, valid_from));
CREATE TABLE transfer (transfer_id INTEGER PRIMARY KEY, copy_id INTEGER REFERENCES copy(copy_id), from_branch TEXT REFERENCES branches(branch_code),
  to_branch TEXT REFERENCES branches(branch_code), sent_day INTEGER, arrived_day INTEGER, reason TEXT);
CREATE TABLE "group" (code TEXT PRIMARY KEY, name TEXT, max_loans INTEGER, loan_days INTEGER, yearly_fee TEXT);
CREATE TABLE members (card_no TEXT PRIMARY KEY, full_name TEXT, birth_year INTEGER, postcode TEXT, joined_day INTEGER, home_branch TEXT REFERENCES branches(branch_code),
  email TEXT, blocked TEXT);
CREATE TABLE member_group_history (card_no TEXT REFERENCES members(card_no), "group" TEXT REFERENCES "group"(code), valid_from INTEGER, valid_to INTEGER,
  PRIMARY KEY (card_no, valid_from));
CREATE TABLE loans (loan_id INTEGER PRIMARY KEY, copy_id INTEGER REFERENCES copy(copy_id), card_no TEXT REFERENCES members(card_no), branch_code TEXT REFERENCES branches(branch_code),
  loan_day INTEGER, due_day INTEGER, returned_day INTEGER, returned_at TEXT REFERENCES branches(branch_code), renewals INTEGER, self_service INTEGER);
CREATE TABLE reservation (reservation_id INTEGER PRIMARY KEY, title_id INTEGER REFERENCES title(title_id), card_no TEXT REFERENCES members(card_no),
  pickup_branch TEXT REFERENCES branches(branch_code), made_day INTEGER, ready_day INTEGER, status INTEGER);
CREATE TABLE fine (fine_no INTEGER PRIMARY KEY, loan_id INTEGER REFERENCES loans(loan_id), card_no TEXT REFERENCES members(card_no), "reason for fine" TEXT, amount TEXT,
  set_day INTEGER, paid TEXT, paid_day INTEGER);
CREATE VIEW "where copies stand" AS SELECT c.copy_id, t.name AS title, l.branch_code, l.valid_from AS since FROM copy_location l
  JOIN copy c USING (copy_id) JOIN title t USING (title_id) WHERE l.valid_to = 99991231;
"""

OPEN_END, LAST = 99991231, date(2024, 6, 30)
BRANCHES = [("MAIN", "Main Library", "Centre", "main", 19610304, 0, 8200.0, 420), ("EAST", "Eastgate", "Eastgate", "branch", 19780901, 0, 940.0, 48), ("HARB", "Old Cannery", "Quayside", "branch", 20150516, 0, 1210.0, 96),
            ("MILL", "Millbrook", "Millbrook", "branch", 19690412, 20230831, 510.0, 22), ("NORT", "Northfield", "Northfield", "branch", 19870105, 0, 760.0, 40), ("PARK", "Park Street", "Centre", "branch", 20020218, 0, 430.0, 18),
            ("UNIV", "Campus Point", "College Hill", "joint", 20101004, 0, 1500.0, 130), ("WEST", "Westway", "Westway", "branch", 20230911, 0, 880.0, 64), ("BUS", "Book bus", None, "mobile", 19940601, None, 95.0, 0)]  # fmt: skip
GROUPS = [
    ("A", "adult", 20, 28, "$18.00"),
    ("C", "child", 30, 28, "$0.00"),
    ("Y", "young adult (16-20)", 20, 28, "$6.00"),
    ("S", "senior", 20, 42, "$9.00"),
    ("I", "institution", 60, 84, "$0.00"),
    ("G", "guest", 3, 14, "$5"),
]
AUTHORS = """Harrow,Edith,1931,UK|Nakagawa,Ren,1968,JP|Osei,Abena,1975,GH|Fontaine,Luc,1949,FR|Lindgaard,Mette,1982,DK|Harrow,Tobias,1960,UK|Okonjo,Chidi,1990,NG|Vargas,Inés,1958,AR|Petrenko,Oksana,1979,UA|
Marsh,Delia,1988,US|Marsh,Delia,1941,AU|Kapoor,Vikram,1970,IN|Baptiste,Solange,1963,HT|Ruiz Calvo,Teo,1985,ES|Stein,Ruth,1925,DE|Eriksen,Pål,1972,NO|Whitlock,Sam,1994,US|Moreau,Anaïs,1991,CA|Li,Wen,1983,CN|
de Groot,Hans,1936,NL|Abbas,Leila,1977,LB|Tamm,Kristjan,1966,EE|O'Rourke,Fintan,1954,IE|Silvestri,Bruno,1944,IT|Hale,Winnie,1999,UK|Anon.,,,"""
FIRST = [
    "The",
    "The",
    "A",
    "Last",
    "Under the",
    "Notes on a",
    "My",
    "Beyond the",
    "Return to the",
    "Little",
    "Night of the",
    "How to Mend a",
    "Field Guide to the",
    "The Quiet",
]
SECOND = ["Saltmarsh", "Lantern", "Cartographer", "Winter Orchard", "Glass Ferry", "Beekeeper", "Bicycle", "Paper Moon", "Ninth Bridge", "Tin Whistle", "Heron", "Kitchen", "Comet", "Forgotten Alphabet", "Lighthouse",
          "Dragon's Aunt", "River", "Snow Line", "Mushroom", "Second Summer", "Map", "Clockwork Dog", "Tide Tables"]  # fmt: skip
BRANCH_CODES = [row[0] for row in BRANCHES]
LOAN_DAYS = {row[0]: row[3] for row in GROUPS}
Place = tuple[int, str, int, int]
Move = tuple[int, str, str, date, date | None, str | None]
CLASSES = [
    "FIC",
    "FIC",
    "FIC",
    "CRI",
    "SFF",
    "JUV",
    "JUV",
    "PIC",
    "590",
    "641.5",
    "910",
    "940",
    "004",
    "BIO",
    None,
]
GIVEN = "Aaliyah Ben Chloe Daniel Elena Farid Grace Hiro Isabel Jack Kofi Linh Maria Noah Olga Pablo Quinn Rosa Sanna Tyrone Uma Victor Wanda Yara Zoltán Émile Søren".split()
FAMILY = "Adams Brown Castillo Dubois Edwards Fischer Garcia Hussain Ito Johnson Kim Lopez Miller Nguyen O'Connor Patel Quispe Robinson Smith Smith Tran Underwood Vasquez Walker Xu Young Zimmermann".split()


def number(day: date) -> int:
    """A day as yyyymmdd."""
    return day.year * 10000 + day.month * 100 + day.day


def titles(r: random.Random) -> list[tuple[Value, ...]]:
    rows: list[tuple[Value, ...]] = []
    names = sorted({f"{a} {b}" for a in FIRST for b in SECOND})
    r.shuffle(names)
    for i in range(1, 241):
        kind = r.choices(["BK", "DV", "CD", "AB", "BG", "MG"], [70, 10, 5, 7, 5, 3])[0]
        name = names[i - 1] if i % 60 else names[i - 2]  # a few titles appear twice
        lang = (
            r.choices(["en", "eng", "es", "zh", "fr", "ar", None], [60, 12, 12, 5, 4, 3, 3])[0]
            if kind != "BG"
            else None
        )
        year = r.choices(range(1958, 2025), [1 + n // 6 for n in range(67)])[0]
        first = r.randint(1, max(i - 1, 1))
        series = first if i > 40 and r.random() < 0.08 and not rows[first - 1][9] else None
        rows.append((i, name if not series else f"{rows[series - 1][1]}, vol. 2", kind, lang, year if r.random() < 0.97 else None, r.choice([32, 48, r.randint(90, 720)]) if kind in {"BK", "MG"} else None,
                     r.randint(45, 190) if kind in {"DV", "CD"} else r.randint(180, 1400) if kind == "AB" else None, r.choice([None, None, 0, 6, 12, 16]) if kind in {"DV", "BG"} else None,
                     r.choice(CLASSES) if kind not in {"BG", "MG"} else None, series))  # fmt: skip
    return rows


def group_at(birth_year: int | None, year: int) -> str:
    """The fare group of a person in a year."""
    age = year - (birth_year or 1980)
    return "C" if age < 16 else "Y" if age <= 20 else "S" if age >= 67 else "A"


def members(r: random.Random) -> tuple[list[tuple[Value, ...]], list[tuple[Value, ...]]]:
    rows: list[tuple[Value, ...]] = []
    history: list[tuple[Value, ...]] = []
    for i in range(1, 301):
        card, joined = (
            f"L{100000 + i * 37}",
            date(2014, 1, 7) + timedelta(days=int(3800 * r.random() ** 0.8)),
        )
        school = r.random() < 0.03
        born = (
            None
            if school or r.random() < 0.02
            else min(
                r.choices(
                    [r.randint(1932, 1957), r.randint(1958, 2003), r.randint(2004, 2017)], [3, 8, 5]
                )[0],
                joined.year - 4,
            )
        )
        name = (
            f"{r.choice(['Millbrook', 'Eastgate', 'St. Anne', 'Quayside', 'Hillcrest'])} {r.choice(['Primary School', 'Nursery', 'Care Home'])}"
            if school
            else f"{r.choice(GIVEN)} {r.choice(FAMILY)}"
        )
        branch = r.choices([row[0] for row in BRANCHES], [30, 12, 15, 6, 9, 5, 12, 7, 3])[0]
        rows.append((card, name, born, f"{r.choice(['NE', 'NW', 'SE', 'C'])}{r.randint(1, 9)}" if r.random() < 0.95 else "", number(joined), branch,
                     None if r.random() < 0.3 else f"{name.split(maxsplit=1)[0].lower()}{i}@example.net", r.choices(["N", "Y", None], [40, 2, 3])[0]))  # fmt: skip
        start, fare = (
            joined,
            "I" if school else "G" if r.random() < 0.03 else group_at(born, joined.year),
        )
        for year in range(joined.year + 1, 2025):
            now = fare if fare in {"I", "G"} else group_at(born, year)
            if now != fare:
                history.append((card, fare, number(start), number(date(year - 1, 12, 31))))
                start, fare = date(year, 1, 1), now
        history.append(
            (
                card,
                fare,
                number(start),
                OPEN_END if r.random() < 0.93 else number(max(start, date(2023, 12, 31))),
            )
        )
    return rows, history


def authorship(
    r: random.Random, works: list[tuple[Value, ...]], people: list[tuple[Value, ...]]
) -> list[tuple[Value, ...]]:
    """Who wrote, drew or translated what: (title, author, role, position)."""
    rows: list[tuple[Value, ...]] = []
    for work in works:
        if r.random() < (0.97 if work[2] in {"BK", "AB"} else 0.2):
            chosen = r.choices(people, [1 / i for i in range(1, len(people) + 1)], k=r.choices([1, 2, 3], [20, 3, 1])[0])  # fmt: skip
            for n, person in enumerate(dict.fromkeys(chosen), start=1):
                role = (
                    "author"
                    if n == 1 or r.random() < 0.5
                    else r.choice(["illustrator", "translator"])
                )
                rows.append((work[0], person[0], role, n))
    return rows


def copies(
    r: random.Random, works: list[tuple[Value, ...]]
) -> tuple[list[list[Value]], list[Place], list[Move]]:
    """The copies of titles, where each stood from when to when, and how it went from place to place."""
    stock: list[list[Value]] = []
    places: list[Place] = []
    moves: list[Move] = []
    for work in works[:228]:  # the last ones have no copy
        for _ in range(r.choices([1, 2, 3, 6], [45, 35, 15, 4])[0]):
            key, home = len(stock) + 1, r.choices(BRANCH_CODES, [34, 11, 14, 6, 9, 5, 12, 5, 4])[0]
            bought = max(date(int(work[4] or 2000), 3, 1), date(2012, 1, 1)) + timedelta(days=r.randint(0, 700))  # fmt: skip
            bought = max(min(bought, date(2024, 5, 28)), date(2023, 9, 11) if home == "WEST" else date(2012, 1, 1))  # fmt: skip
            state = r.choices(
                ["AV", "av", "LOST", "Lost", "DMG", "WD", "TR"], [80, 6, 3, 1, 2, 4, 1]
            )[0]
            barcode = f"3{900000 + key * 113}" if r.random() < 0.99 else None
            price = round({"BK": 19.0, "DV": 14.0, "BG": 34.0, "MG": 6.5}.get(str(work[2]), 16.0) * r.lognormvariate(0, 0.3), 2)  # fmt: skip
            stock.append([key, work[0], barcode, home, number(bought), price if r.random() < 0.9 else None, state])  # fmt: skip
            place, since = home, bought
            while r.random() < 0.22 or (place == "MILL" and since < date(2023, 8, 31)):
                target = r.choice([b for b in BRANCH_CODES if b not in {place, "MILL"}])
                closing = place == "MILL"
                day = date(2023, 8, 31) - timedelta(days=r.randint(0, 12)) if closing else since + timedelta(days=r.randint(30, 900))  # fmt: skip
                if day <= since or day > LAST or (target == "WEST" and day < date(2023, 9, 1)):
                    break
                places.append((key, place, number(since), number(day)))
                arrived = (
                    None
                    if r.random() < 0.02
                    else day + timedelta(days=r.choice([1, 1, 2, 2, 3, 5, 16]))
                )
                why = "branch closed" if closing else r.choice(["reservation", "reservation", "rebalance", "", None])  # fmt: skip
                moves.append((key, place, target, day, arrived, why))
                place, since = target, day + timedelta(days=1)
            until = OPEN_END if state != "WD" else number(max(since, date(2023, 6, 30)))
            places.append((key, place, number(since), until))
    return stock, places, sorted(moves, key=lambda move: (move[3], move[0]))


class Desk:
    """The lending desk: what it lends, to whom, and what it fines them. Changes the state of copies that are out."""

    def __init__(
        self,
        r: random.Random,
        stock: list[list[Value]],
        places: list[Place],
        fares: list[tuple[Value, ...]],
    ) -> None:
        self.r, self.stock, self.places = r, stock, places
        self.fare = {row[0]: str(row[1]) for row in fares}
        self.liked = [r.paretovariate(2.0) if row[6] not in {"WD", "DMG"} else 0.1 for row in stock]
        self.back: dict[Value, date] = {}
        self.loans: list[tuple[Value, ...]] = []
        self.fines: list[tuple[Value, ...]] = []

    def fine(
        self,
        loan: int,
        card: Value,
        reason: str,
        amount: str,
        day: date,
        paid: str = "N",
        paid_day: date | None = None,
    ) -> None:
        self.fines.append((len(self.fines) + 1, loan, card, reason, amount, number(day), paid, number(min(paid_day, LAST)) if paid_day else None))  # fmt: skip

    def item(self, day: date) -> list[Value] | None:
        """A copy that is in on a day: who finds one out tries four more."""
        for _ in range(5):
            chosen = self.r.choices(self.stock, self.liked)[0]
            if self.back.get(chosen[0], date(2000, 1, 1)) < day and int(chosen[4] or 0) <= number(
                day
            ):
                return chosen
        return None

    def lend(self, card: Value, day: date) -> None:
        r, item = self.r, self.item(day)
        at = next((p[1] for p in self.places if item and p[0] == item[0] and p[2] <= number(day) <= p[3]), None)  # fmt: skip
        if item is None or at is None:  # all out, or withdrawn by then
            return
        again = r.choices([0, 1, 2, 3], [70, 18, 8, 4])[0]
        due = day + timedelta(days=LOAN_DAYS[self.fare[card]] * (1 + again))
        back = day + timedelta(days=max(1, int((due - day).days * min(r.lognormvariate(-0.45, 0.55), 4))))  # fmt: skip
        lost = str(item[6]).upper() == "LOST" and r.random() < 0.3 and day > date(2023, 6, 1)
        out = back > LAST or lost
        self.back[item[0]] = date(2099, 1, 1) if out else back
        if out and not lost:
            item[6] = "LO"
        key = len(self.loans) + 700001
        where = None if out else at if r.random() < 0.86 else r.choice(BRANCH_CODES[:3])
        self_service = int(r.random() < 0.35 + 0.2 * (day.year - 2022))
        self.loans.append((key, item[0], card, at, number(day), number(due), None if out else number(back), where, again, self_service))  # fmt: skip
        late = ((LAST if out else back) - due).days
        if late > 0 and self.fare[card] not in {"C", "I"}:
            amount = f"{min(25 * late, 1500) / 100:.2f}"
            amount = amount if day.year == 2022 and r.random() < 0.4 else f"${amount}"
            paid = r.choices(["Y", "N", "W"], [60, 28, 8])[0] if not out else "N"
            self.fine(key, card, "overdue", amount, LAST if out else back, paid, back + timedelta(days=r.choice([0, 0, 0, 9, 40])) if paid == "Y" else None)  # fmt: skip
        if lost:
            self.fine(key, card, r.choice(["lost item", "Lost"]), f"${item[5] or 25.0:.2f}", LAST)


def reservations(
    r: random.Random, works: list[tuple[Value, ...]], readers: list[tuple[Value, ...]]
) -> list[tuple[Value, ...]]:
    rows: list[tuple[Value, ...]] = []
    for i in range(1, 391):
        made = date(2022, 1, 10) + timedelta(days=int(900 * r.random() ** 0.75))
        status = r.choices([1, 2, 3, 4, 5], [50, 20, 20, 3, 7] if made > date(2024, 5, 10) else [2, 0, 74, 12, 12])[0]  # fmt: skip
        ready = min(made + timedelta(days=r.choice([1, 2, 3, 5, 14, 31])), LAST)
        work = r.choices(works, [1 / (n % 57 + 1) for n in range(len(works))])[0]
        rows.append((i, work[0], r.choice(readers)[0], r.choice(BRANCH_CODES[:3] + BRANCH_CODES[4:]), number(made), number(ready) if status in {2, 3, 4} else 0, status))  # fmt: skip
    return rows


def build(r: random.Random) -> str:
    works = titles(r)
    parts = (line.strip().split(",") for line in AUTHORS.split("|"))
    people: list[tuple[Value, ...]] = [(i, family, given or None, int(born) if born else None, country or None) for i, (family, given, born, country) in enumerate(parts, start=1)]  # fmt: skip
    wrote = authorship(r, works, people)
    hours = []
    for code in BRANCH_CODES:
        for day in (
            range(1, 7)
            if code == "MAIN"
            else (1, 2, 4, 5, 6)
            if code not in {"MILL", "BUS"}
            else ()
        ):
            closes = (
                "20:00" if code == "MAIN" and day < 6 else r.choice(["17:00", "18:00", "13:30"])
            )
            hours.append((code, day, "09:00" if code == "MAIN" else "10:00", closes))
    readers, fares = members(r)
    stock, places, moves = copies(r, works)
    transfers = [(i, k, a, b, number(s), number(d) if d else 0, why) for i, (k, a, b, s, d, why) in enumerate(moves, start=1)]  # fmt: skip
    desk = Desk(r, stock, places, fares)
    keen = [min(r.paretovariate(1.4), 30) for _ in readers[:270]]  # the last ones never borrowed
    for when in sorted(
        date(2022, 1, 3) + timedelta(days=int(909 * r.random() ** 0.9)) for _ in range(2900)
    ):
        reader = r.choices(readers[:270], keen)[0]
        if int(reader[4] or 0) <= number(when) and when.weekday() != 6:
            desk.lend(reader[0], when)
    for i in range(14):
        amount = r.choice(["1.50", "3.00", "$4.00", "0.75", ""]) if i else "$1,040.00"
        day_set, paid = (
            date(2021, 1, 5) + timedelta(days=r.randint(0, 350)),
            r.choice(["Y", "N", "W"]),
        )
        desk.fine(600000 + r.randint(1, 9999), r.choice(readers)[0], r.choice(["overdue", "card replaced", "damaged"]), amount, day_set, paid)  # fmt: skip
    return TABLES + "".join([
        insert("branches", BRANCHES), insert("opening hours", hours), insert("author", people), insert("title", works), insert("title_author", wrote), insert("copy", stock), insert("copy_location", places),
        insert("transfer", transfers), insert("group", GROUPS), insert("members", readers), insert("member_group_history", fares), insert("loans", desk.loans),
        insert("reservation", reservations(r, works, readers)), insert("fine", desk.fines),
    ])  # fmt: skip
