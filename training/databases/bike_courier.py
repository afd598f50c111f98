"""Dispatch data of a bicycle-courier company in a city on a river, 2022 to 2024: who ordered what, which rider carried it,
what the dispatchers logged, what shifts were ridden, what bikes cost. The company grew, most of all before Christmas.

Size: 10 tables, 81 columns, 7474 rows.

Messy on purpose:
- Names are short (cst_nm, disc_pct, st, ev); the zone tree is a table that points at itself (city, district, block);
  customers and jobs point at blocks, but riders at districts.
- Codes without lookup tables.
  job.st: 10 ordered, 20 assigned, 30 picked up, 40 delivered, 50 delivered but disputed, 90 cancelled, 91 failed (nobody in).
  job.svc: E express, S same day, O overnight, C cargo bike. rider.contract: F full time, P part time, X freelance.
  log.ev: 1 order received, 2 offered to rider, 3 declined, 4 accepted, 5 at pickup, 6 picked up, 7 at door, 8 handed over,
  9 nobody in, 10 cancelled, 11 note by dispatcher. bike.state: ok, shop, STOLEN, sold (nobody ever set it). cst.kind: B business, P private.
- Moments are Unix seconds (UTC) in job, log and invoice; shift and repair have ISO days, shift times HH:MM, and a shift may end
  after midnight; cst.since is a number yyyymmdd; invoice.month is YYYY-MM.
- Prices are cents (_ct), the discount is in percent (15), the night surcharge a fraction (0.25). dist_km is measured, empty for
  jobs that never left; weight_g is what the customer said, often 0.
- invoice.total_ct is the sum of the month's delivered jobs of a business after discount; a few are wrong, some were
  unpaid when these data were taken, on 31 January 2025.
- log.rid is 0, not NULL, where no rider is concerned. No key is declared in log and repair; jobs of 2022 have lost their log.
- Two riders and several customers share a name; two riders never rode, some customers never ordered.
"""

from __future__ import annotations

import random
from calendar import timegm
from collections import defaultdict
from datetime import date, timedelta

from training.script import insert

TABLES = """
CREATE TABLE zone (zone_id INTEGER PRIMARY KEY, parent_id INTEGER REFERENCES zone(zone_id), code TEXT, title TEXT,
  lvl INTEGER, surch_ct INTEGER);
CREATE TABLE rider (rid INTEGER PRIMARY KEY, nm TEXT, phone TEXT, started TEXT, ended TEXT, contract TEXT,
  home_zone INTEGER REFERENCES zone(zone_id), active INTEGER, hourly_ct INTEGER);
CREATE TABLE cst (cst_id INTEGER PRIMARY KEY, cst_nm TEXT NOT NULL, kind TEXT, vat_no TEXT, zone_id INTEGER REFERENCES zone(zone_id),
  disc_pct INTEGER, since INTEGER, note TEXT);
CREATE TABLE price_rule (svc TEXT, from_km INTEGER, base_ct INTEGER, per_km_ct INTEGER, night_pct REAL, PRIMARY KEY (svc, from_km));
CREATE TABLE bike (bike_id INTEGER PRIMARY KEY, label TEXT, kind TEXT, bought TEXT, price_ct INTEGER, odo_km INTEGER, state TEXT,
  rid INTEGER REFERENCES rider(rid));
CREATE TABLE job (job_id INTEGER PRIMARY KEY, cst_id INTEGER NOT NULL REFERENCES cst(cst_id), rid INTEGER REFERENCES rider(rid),
  pu_zone INTEGER REFERENCES zone(zone_id), dr_zone INTEGER REFERENCES zone(zone_id), svc TEXT, ord_ts INTEGER, due_ts INTEGER,
  done_ts INTEGER, parcels INTEGER, weight_g INTEGER, dist_km REAL, price_ct INTEGER, tip_ct INTEGER, st INTEGER, ref TEXT);
CREATE TABLE log (id INTEGER PRIMARY KEY, job_id INTEGER, rid INTEGER, ts INTEGER, ev INTEGER, txt TEXT);
CREATE TABLE shift (rid INTEGER REFERENCES rider(rid), day TEXT, start_hm TEXT, end_hm TEXT, break_min INTEGER,
  bike_id INTEGER REFERENCES bike(bike_id), km REAL, weather TEXT, PRIMARY KEY (rid, day));
CREATE TABLE repair (repair_id INTEGER, bike_id INTEGER, day TEXT, what TEXT, cost_ct INTEGER, minutes INTEGER, by_whom TEXT);
CREATE TABLE invoice (inv_no TEXT PRIMARY KEY, cst_id INTEGER REFERENCES cst(cst_id), month TEXT, jobs INTEGER, total_ct INTEGER,
  sent_ts INTEGER, paid_ts INTEGER, reminders INTEGER);
CREATE VIEW v_late AS SELECT job_id, cst_id, rid, (done_ts - due_ts) / 60 AS late_min FROM job
  WHERE st IN (40, 50) AND done_ts > due_ts;
"""

DISTRICTS = {
    "Altmarkt": ["Kornplatz", "Fischertor", "Domhof", "Lindengasse"], "Hafen Ost": ["Kai 7", "Silos", "Werftstraße"],
    "Nordstadt": ["Gaswerk", "Bahnhof Nord", "Schillerpark"], "Universität": ["Campus", "Klinikum", "Sternwarte"],
    "Rechtes Ufer": ["Mühlinsel", "Villenhang"], "Südhang": ["Weinberg"],
}  # fmt: skip
RIDERS = """Ana Kovačević|Jonas Brandt|Mei-Ling Chou|Tariq Haddad|Lucía Ferrer|Jonas Brandt|Piotr Zieliński|Nia Okafor|Sven Aalto|
Camille Roux|Deniz Yıldız|Ivo Horvat|Grace Mwangi|Leon Fuchs|Marta Nowak|Yusuf Demir|Bea Lindqvist|Rafael Couto|Hanna Vogel|Tom O'Dowd|
Ilse Maas|Kenji Mori|Paula Stein|Emre Kaya|Sofie Dahl|Noor van Dijk"""
BUSINESSES = """Blumen Wiegand|Praxis Dr. Sauer|Dental-Labor Krone|Kanzlei Thal & Brück|Druckerei Falz|Architekten Nord|Café Ottilie|
Apotheke am Dom|Optik Linse|Notariat Hellwig|Buchladen Seitenweise|Studio Kaktus|Labor Medica Ost|Feinkost Ricci|Fahrschule Tempo|
Verlag Quitte|Schneiderei Öztürk|Weinhaus Reb|Galerie Nullpunkt|Institut für Limnologie|Bäckerei Kruse|Bäckerei Kruse|Museum der Stadt|
Radiosender 98,2|Steuerbüro Emmerich|Tonstudio Echo|Klinikum Apotheke|Repro Schnell|Modehaus Adler|IT-Haus Byte"""
PRIVATE = """A. Winter|Familie Schäfer|Petra Klose|M. Haddad|Georg Anders|Julia Rossi|Petra Klose|K. Nguyen|Ole Petersen|Frau Dr. Lang|
Simon Abel|Eva Horn|T. Brückner|Irina Sokolova|Max Mustermann|H. Engel|Laura Peeters|Ben Fox"""
NOTES = [
    "",
    "",
    "",
    None,
    None,
    "ring twice",
    "goods entrance in the yard",
    "pays late",
    "no cargo bikes, narrow stairs",
    "key account",
]
WORK = {"flat tyre": (900, 15), "brake pads": (1450, 25), "chain": (2890, 30), "wheel trued": (1800, 40), "battery replaced": (43900, 20),
        "inspection": (4900, 60), "bottom bracket": (5650, 75), "lights": (1250, 10), "cargo box hinge": (7400, 55)}  # fmt: skip
SEASON = {
    1: 0.8,
    2: 0.9,
    3: 1.0,
    4: 1.0,
    5: 1.1,
    6: 0.95,
    7: 0.7,
    8: 0.6,
    9: 1.0,
    10: 1.15,
    11: 1.4,
    12: 2.1,
}
RATES = {"E": (790, 160), "S": (490, 110), "O": (350, 80), "C": (1490, 240)}


def people(text: str) -> list[str]:
    return [name.strip() for name in text.split("|")]


def seconds(day: date, minute: int, second: int = 0) -> int:
    """A moment as Unix seconds, from a day and its minute."""
    return timegm(day.timetuple()) + 60 * minute + second


def zones() -> list[tuple[int, int | None, str, str, int, int]]:
    rows: list[tuple[int, int | None, str, str, int, int]] = [(1, None, "C", "Stadtgebiet", 1, 0)]
    for number, (district, blocks) in enumerate(DISTRICTS.items(), start=1):
        parent = number * 10
        rows.append((parent, 1, f"C{number}", district, 2, 150 if number > 4 else 0))
        rows += [
            (parent + i, parent, f"C{number}-{i}", b, 3, 80 if b == "Villenhang" else 0)
            for i, b in enumerate(blocks, start=1)
        ]
    return rows


def riders(r: random.Random) -> list[list[str | int | None]]:
    rows: list[list[str | int | None]] = []
    for rid, name in enumerate(people(RIDERS), start=101):
        start = date(2021, 6, 1) + timedelta(days=int((rid - 101) * 44 + r.randint(0, 40)))
        left = r.random() < 0.3 and rid < 120
        end = start + timedelta(days=r.randint(90, 600)) if left else None
        phone = r.choice(
            [
                None,
                "",
                f"0151 {r.randint(1000000, 9999999)}",
                f"+49 176 {r.randint(1000000, 9999999)}",
            ]
        )
        contract = r.choices("FPX", [3, 5, 4])[0]
        rows.append([rid, name, phone, str(start), str(end) if end else None, contract, r.choice([10, 10, 20, 30, 40, 50, None]),
                     int(end is None), {"F": 1480, "P": 1420, "X": 1750}[contract] + r.choice([0, 0, 50, 100])])  # fmt: skip
    return rows


def customers(r: random.Random, blocks: list[int]) -> list[list[str | int | None]]:
    rows: list[list[str | int | None]] = []
    for i, name in enumerate(people(BUSINESSES) + people(PRIVATE), start=1):
        business = i <= 30
        since = (
            20211101
            if i < 9
            else int(
                f"{r.choice([2022, 2022, 2023, 2024])}{r.randint(1, 12):02d}{r.randint(1, 28):02d}"
            )
        )
        rows.append([1000 + i, name, "B" if business else "P", f"DE{r.randint(10**8, 10**9 - 1)}" if business and r.random() < 0.9 else None,
                     r.choice(blocks), r.choice([0, 0, 5, 10, 15]) if business else 0, since, r.choice(NOTES)])  # fmt: skip
    return rows


def events(
    r: random.Random, job: list[int], on_duty: list[int]
) -> list[tuple[int, int, int, int, str | None]]:
    """What the log holds of a job: (job, rider, moment, event, text)."""
    number, rid, at, done, state = job[0], job[2] or 0, job[6], job[8], job[14]
    rows: list[tuple[int, int, int, int, str | None]] = [(number, 0, at, 1, None)]
    at += r.randint(20, 400)
    if state != 10 and r.random() < 0.18:
        other = r.choice(on_duty)
        rows += [
            (number, other, at, 2, None),
            (number, other, at + r.randint(5, 90), 3, r.choice([None, "too far", "bag full", ""])),
        ]
        at += r.randint(100, 300)
    if rid:
        rows += [(number, rid, at, 2, None), (number, rid, at + r.randint(4, 60), 4, None)]
    if state >= 30 and state != 90:
        end = done or at + 2400
        pickup = at + (end - at) // 3
        rows += [
            (number, rid, pickup - r.randint(30, 240), 5, None),
            (number, rid, pickup, 6, None),
        ]
        if state != 30:
            rows += [(number, rid, end - r.randint(20, 200), 7, None)]
            rows += [
                (
                    number,
                    rid,
                    end,
                    9 if state == 91 else 8,
                    "left at neighbour's" if state == 40 and r.random() < 0.08 else None,
                )
            ]
    if state == 90:
        rows.append(
            (
                number,
                0,
                at + r.randint(60, 1500),
                10,
                r.choice(["customer", "Customer", "no rider", "duplicate", None]),
            )
        )
    if state == 50 or r.random() < 0.05:
        rows.append(
            (
                number,
                0,
                at + 5400,
                11,
                r.choice(
                    ["customer called", "parcel wet", "wrong house number", "asks for invoice"]
                ),
            )
        )
    return rows


def build(r: random.Random) -> str:
    tree = zones()
    blocks = [row[0] for row in tree if row[4] == 3]
    crew, clients = riders(r), customers(r, blocks)
    idle = {101 + 17, 101 + 25}
    bikes = []
    for i in range(1, 25):
        kind = r.choices(["city", "cargo", "e-cargo"], [6, 2, 2])[0]
        price = {"city": 89900, "cargo": 319000, "e-cargo": 549900}[kind] + r.choice(
            [0, 0, 5000, 12050]
        )
        bikes.append([i, f"{kind[0].upper()}{i:02d}", kind, str(date(2020, 3, 1) + timedelta(days=r.randint(0, 1500))), price,
                      r.randint(300, 21000), r.choices(["ok", "shop", "STOLEN", "sold"], [16, 3, 2, 2])[0],
                      r.choice([None, None, r.choice(crew)[0]])])  # fmt: skip
    shifts, on_duty = [], defaultdict(list)
    for rid, _, _, start, end, contract, *_ in crew:
        day = max(date.fromisoformat(str(start)), date(2022, 1, 1))
        while (
            rid not in idle and day <= date(2024, 12, 31) and (end is None or str(day) <= str(end))
        ):
            on_duty[day].append(int(rid))
            if (
                day.year == 2024
                and day.weekday() < 6
                and r.random() < {"F": 0.3, "P": 0.16, "X": 0.1}[str(contract)]
            ):
                begin = r.choice([420, 450, 480, 600, 840, 1080, 1140])
                length = r.choice([240, 300, 360, 480])
                stop = (begin + length) % 1440
                shifts.append((rid, str(day), f"{begin // 60:02d}:{begin % 60:02d}", f"{stop // 60:02d}:{stop % 60:02d}",
                               30 if length > 360 else r.choice([0, 15]), r.choice(bikes)[0] if r.random() < 0.9 else None,
                               round(r.gauss(length / 9, 8), 1) if r.random() < 0.93 else None,
                               r.choice(["sun", "sun", "rain", "cloudy", "Rain", "snow" if day.month in {1, 2, 12} else "wind", ""])))  # fmt: skip
            day += timedelta(days=1)
    appeal = [(i + 1) ** -0.7 for i in range(30)]
    r.shuffle(appeal)
    appeal += [0.035] * (len(clients) - 30)
    never = {1020, 1033, 1041, 1046}
    jobs, logged, due = [], [], defaultdict(list)
    number = 50000
    for months in range(36):
        year, month = 2022 + months // 12, months % 12 + 1
        for _ in range(round(17 * (1 + 0.45 * (year - 2022)) * SEASON[month])):
            number += r.choice([1, 1, 1, 2, 3])
            day = date(year, month, 1) + timedelta(days=r.randint(0, 27))
            client = r.choices(clients, appeal)[0]
            while client[0] in never or int(client[6]) > int(day.strftime("%Y%m%d")):
                client = r.choices(clients, appeal)[0]
            service = r.choices("ESOC", [4, 9, 2, 2])[0]
            at = seconds(
                day,
                r.choices(range(7 * 60, 21 * 60), [3] * 300 + [5] * 240 + [1] * 300)[0],
                r.randint(0, 59),
            )
            limit = {"E": 3600, "S": 5 * 3600, "O": 16 * 3600, "C": 4 * 3600}[service]
            last = (year, month) == (2024, 12) and day.day > 23
            state = r.choices(
                [40, 50, 90, 91, 10, 20, 30],
                [86, 1.5, 6, 4, 0, 0, 0] if not last else [50, 0, 4, 2, 8, 8, 6],
            )[0]
            rode = state not in {10, 90} or (state == 90 and r.random() < 0.3)
            rider = r.choice(on_duty[day]) if rode else None
            length = (
                round(min(r.lognormvariate(1.1, 0.55), 24.0), 1)
                if state not in {10, 20, 90}
                else None
            )
            done = (
                at + int(limit * min(r.lognormvariate(-0.75, 0.5), 3))
                if state in {40, 50}
                else None
            )
            base, per_km = RATES[service]
            price = base + round(per_km * (length or r.choice([2, 3, 4])))
            jobs.append([number, client[0], rider, client[4] if r.random() < 0.7 else r.choice(blocks), r.choice(blocks), service, at,
                         at + limit, done, r.choices([1, 2, 3, 12], [70, 18, 8, 1])[0],
                         r.choice([0, 0, 250, 500, 500, 1200, 2000, r.randint(80, 9000)]) * (6 if service == "C" else 1),
                         length, price, r.choice([100, 200, 200, 500]) if done and r.random() < 0.12 else 0, state,
                         f"PO-{r.randint(100, 999)}" if r.random() < 0.2 else r.choice([None, ""])])  # fmt: skip
            if year > 2022:
                logged += events(r, jobs[-1], on_duty[day])
            if client[2] == "B" and done:
                due[client[0], year, month].append((price, client[5]))
    bills = []
    for (client_id, year, month), prices in sorted(
        due.items(), key=lambda item: (item[0][1], item[0][2], item[0][0])
    ):
        total = sum(price * (100 - percent) // 100 for price, percent in prices)
        sent = seconds(date(year + month // 12, month % 12 + 1, 3), 9 * 60 + len(bills) % 50)
        paid = (
            None
            if r.random() < (0.3 if (year, month) >= (2024, 11) else 0.03)
            else sent + int(86400 * r.lognormvariate(2.5, 0.6))
        )
        paid = paid if paid and paid < seconds(date(2025, 2, 1), 0) else None
        bills.append((f"{year}-{len(bills) + 1:04d}", client_id, f"{year}-{month:02d}", len(prices), total if r.random() > 0.02 else total + 1000,
                      sent, paid, 0 if paid and paid < sent + 21 * 86400 else r.choice([1, 1, 2, 3])))  # fmt: skip
    repairs = []
    for i in range(1, 141):
        what, (cost, minutes) = r.choices(list(WORK.items()), [9, 6, 5, 4, 1, 6, 1, 3, 1])[0]
        bike = r.choices(bikes, [row[5] for row in bikes])[0]
        repairs.append((i, bike[0] if i != 77 else 99, str(date(2023, 1, 2) + timedelta(days=r.randint(0, 720))), what,
                        None if r.random() < 0.06 else cost + r.choice([0, 0, 0, 250, -100]), minutes + r.randint(-5, 20),
                        r.choice(["own", "own", "Rad & Tat", "Velo Pit", "velo pit"])))  # fmt: skip
    logged.sort(key=lambda row: row[2])
    rules = [
        (s, km, b + 400 * (km // 5), k - (20 if km else 0), 0.25 if s in "EC" else 0.0)
        for s, (b, k) in RATES.items()
        for km in (0, 5, 12)
    ]
    return TABLES + "".join([
        insert("zone", tree), insert("rider", crew), insert("cst", clients), insert("price_rule", rules), insert("bike", bikes),
        insert("job", jobs), insert("log", [(i, *row) for i, row in enumerate(logged, start=1)]), insert("shift", shifts),
        insert("repair", repairs), insert("invoice", bills),
    ])  # fmt: skip
