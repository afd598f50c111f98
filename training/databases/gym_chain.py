"""Membership system of Kotva Fit, a chain of seven gyms in Czechia and Slovakia: members and their contracts, check-ins at the
turnstile, classes and who booked them, payments, snapshots per month. January 2022 to April 2024; payments from August 2023,
classes from September 2023, check-ins from January 2024.

Size: 13 tables, 89 columns, 6326 rows.

Messy on purpose:
- Tables are called tbl_something, but for monthly_snapshot and `group`, a reserved word (groups of class types: mind, strength, ...).
- Dates: birth_dt is dd.mm.yyyy text ('' or NULL where not given); joined, valid_from, valid_to and paid_on are ISO; tbl_class.starts
  is 'YYYY-MM-DD HH:MM'; check-ins are Unix seconds in UTC (in_ts, out_ts NULL where the turnstile missed it); a snapshot's mth is
  'Mar-24'.
- Flags are T/F: newsletter, student, cancelled, showed_up, showers; tbl_trainer.freelance is 'T', 'F' or ''.
- Amounts: prices of plans are in CZK as numbers; tbl_payment.amt is a text like '1,190 Kč' or '47.90 €' (Bratislava and Košice);
  refunds are negative.
- tbl_membership is history (valid_from, valid_to; NULL is running): a member may have had several plans; end_reason codes without a
  lookup table: CH changed plan, NP not paid, MV moved, OT other.
- tbl_booking joins members and classes; status: 'booked', 'Booked', 'waitlist', 'CANC', 'cancelled'; showed_up is NULL for those.
- monthly_snapshot.occupancy is a share of 1, churn_pct of 100; one month of Ostrava is missing, Prague Karlín's March 2023 stands
  twice (rev 1 and 2: the greater is right).
- tbl_member.club_id is the home club; check-ins are at any club. `level` is 1 to 3 in tbl_class_type and a text in tbl_trainer.
- Some members never came, some class types were never taught; two people have two numbers. duration is in minutes in tbl_class_type
  and closed_for 'H:MM' in tbl_checkin_daily_note. Keys of tbl_checkin are not declared; some numbers there belong to no member (day tickets: 0).
"""

from __future__ import annotations

import random
from calendar import timegm
from datetime import date, datetime, timedelta

from training.script import insert

# fmt: off
TABLES = """
CREATE TABLE tbl_club (club_id INTEGER PRIMARY KEY, club_nm TEXT, city TEXT, country TEXT, opened TEXT, sqm INTEGER, max_people INTEGER, showers TEXT, rent_month REAL);
CREATE TABLE "group" (group_cd TEXT PRIMARY KEY, name TEXT, parent_cd TEXT REFERENCES "group"(group_cd));
CREATE TABLE tbl_plan (plan_cd TEXT PRIMARY KEY, name TEXT, price_czk REAL, months INTEGER, all_clubs TEXT, classes_incl INTEGER, sold_until TEXT);
CREATE TABLE tbl_member (member_no INTEGER PRIMARY KEY, first_nm TEXT, last_nm TEXT, sex TEXT, birth_dt TEXT, club_id INTEGER REFERENCES tbl_club(club_id), joined TEXT, newsletter TEXT, student TEXT,
  referred_by INTEGER REFERENCES tbl_member(member_no), email TEXT);
CREATE TABLE tbl_membership (ms_id INTEGER PRIMARY KEY, member_no INTEGER NOT NULL REFERENCES tbl_member(member_no), plan_cd TEXT REFERENCES tbl_plan(plan_cd), valid_from TEXT, valid_to TEXT,
  discount INTEGER, end_reason TEXT);
CREATE TABLE tbl_payment (pay_id INTEGER PRIMARY KEY, ms_id INTEGER REFERENCES tbl_membership(ms_id), due_on TEXT, paid_on TEXT, amt TEXT, method TEXT, reminder INTEGER);
CREATE TABLE tbl_checkin (member_no INTEGER, club_id INTEGER, in_ts INTEGER, out_ts INTEGER, locker TEXT);
CREATE TABLE tbl_checkin_daily_note (club_id INTEGER REFERENCES tbl_club(club_id), day TEXT, note TEXT, closed_for TEXT, PRIMARY KEY (club_id, day));
CREATE TABLE tbl_trainer (trainer_id INTEGER PRIMARY KEY, name TEXT, club_id INTEGER REFERENCES tbl_club(club_id), freelance TEXT, level TEXT, rate_hr REAL, since TEXT);
CREATE TABLE tbl_class_type (type_id INTEGER PRIMARY KEY, name TEXT, group_cd TEXT REFERENCES "group"(group_cd), duration INTEGER, level INTEGER, kcal INTEGER);
CREATE TABLE tbl_class (class_id INTEGER PRIMARY KEY, type_id INTEGER REFERENCES tbl_class_type(type_id), club_id INTEGER REFERENCES tbl_club(club_id), trainer_id INTEGER REFERENCES tbl_trainer(trainer_id), starts TEXT,
  places INTEGER, cancelled TEXT);
CREATE TABLE tbl_booking (class_id INTEGER REFERENCES tbl_class(class_id), member_no INTEGER REFERENCES tbl_member(member_no), booked_at TEXT, status TEXT, showed_up TEXT, rating INTEGER, PRIMARY KEY (class_id, member_no));
CREATE TABLE monthly_snapshot (club_id INTEGER REFERENCES tbl_club(club_id), mth TEXT, rev INTEGER, members INTEGER, joined INTEGER, quit INTEGER, churn_pct REAL, visits INTEGER, occupancy REAL, revenue_k REAL,
  PRIMARY KEY (club_id, mth, rev));
CREATE VIEW active_members AS SELECT m.member_no, m.first_nm, m.last_nm, m.club_id, s.plan_cd FROM tbl_member m JOIN tbl_membership s USING (member_no) WHERE s.valid_to IS NULL;
"""

CLUBS = [(1, "Kotva Fit Karlín", "Praha", "CZ", "2014-09-01", 1850, 240, "T", 410000.0), (2, "Kotva Fit Smíchov", "Praha", "CZ", "2016-02-15", 1400, 180, "T", 335000.0), (3, "Kotva Fit Brno", "Brno", "CZ", "2017-10-02", 1600, 200, "T", 240000.0),
         (4, "Kotva Fit Ostrava", "Ostrava", "CZ", "2019-01-07", 1250, 150, "T", 128000.0), (5, "Kotva Fit Bratislava", "Bratislava", "SK", "2020-09-14", 1500, 190, "T", 9800.0), (6, "Kotva Fit Košice", "Košice", "SK", "2022-11-01", 900, 110, "T", 4300.0),
         (7, "Kotva Express", "Praha", "CZ", "2023-06-05", 320, 45, "F", 96000.0)]
GROUPS = [("ALL", "All classes", None), ("MIN", "Mind & body", "ALL"), ("STR", "Strength", "ALL"), ("CAR", "Cardio", "ALL"), ("AQU", "Water", "CAR"), ("DAN", "Dance", "CAR"), ("KID", "Children", "ALL")]
PLANS = [("BAS", "Basic", 690.0, 1, "F", 0, None), ("PLU", "Plus", 990.0, 1, "T", 4, None), ("PRE", "Premium", 1490.0, 1, "T", None, None), ("YEA", "Year", 8900.0, 12, "T", 8, None), ("STU", "Student", 520.0, 1, "F", 2, None),
         ("SEN", "Senior 60+", 450.0, 1, "F", 4, None), ("COV", "Welcome back", 590.0, 1, "T", 2, "2022-06-30"), ("COR", "Corporate", 840.0, 1, "T", 4, None), ("FAM", "Family", 1990.0, 1, "T", 8, "2021-12-31")]
TYPES = [(1, "Morning Yoga", "MIN", 60, 1, 180), (2, "Pilates", "MIN", 55, 2, 220), (3, "Power Yoga", "MIN", 75, 3, 340), (4, "BodyPump", "STR", 60, 2, 480), (5, "Kettlebell", "STR", 45, 2, 430), (6, "Spinning", "CAR", 50, 2, 560), (7, "HIIT 30", "CAR", 30, 3, 390),
         (8, "Zumba", "DAN", 60, 1, 410), (9, "Aqua aerobic", "AQU", 45, 1, 300), (10, "Zdravá záda", "MIN", 60, 1, 150), (11, "Spinning", "CAR", 90, 3, 900), (12, "Tanec pro děti", "KID", 45, 1, None), (13, "TRX", "STR", 45, 2, 400)]
LAST = [("Novák", "Nováková"), ("Svoboda", "Svobodová"), ("Dvořák", "Dvořáková"), ("Horváth", "Horváthová"), ("Kováč", "Kováčová"), ("Procházka", "Procházková"), ("Kučera", "Kučerová"), ("Marek", "Marková"), ("Nguyen", "Nguyen"), ("Tran", "Tran"), ("Beneš", "Benešová"),
        ("Fiala", "Fialová"), ("Shevchenko", "Shevchenko"), ("Balog", "Balogová"), ("Urban", "Urbanová"), ("Rossi", "Rossi"), ("Kolář", "Kolářová")]
FIRST = {"M": "Jan Petr Tomáš Lukáš Martin Jakub Marek Ondřej Minh Oleh Matej Šimon Luca David".split(), "F": "Jana Petra Tereza Lucie Martina Eliška Zuzana Katarína Linh Olena Veronika Adéla Chiara Barbora".split()}
TRAINERS = [(1, "Radka Malá", 1, "F", "senior", 420.0, "2014-09-01"), (2, "Filip Černý", 1, "T", "master", 650.0, "2018-03-12"), (3, "Ivana Hrubá", 2, "F", "junior", 290.0, "2021-08-01"), (4, "Dmytro Bondar", 2, "T", "senior", 480.0, "2022-04-19"),
            (5, "Alena Veselá", 3, "F", "senior", 390.0, "2017-10-02"), (6, "Jan Novák", 3, "T", "Senior", 450.0, "2019-05-06"), (7, "Sabina Kaliská", 4, "F", "junior", 260.0, "2022-01-10"), (8, "Peter Gajdoš", 5, "F", "senior", 17.5, "2020-09-14"),
            (9, "Nina Oravcová", 5, "T", "junior", 14.0, "2023-01-09"), (10, "Miro Baláž", 6, "", None, 13.0, "2022-11-01"), (11, "Hana Šimková", None, "T", "master", 700.0, "2020-01-01")]
END = date(2024, 4, 30)


def month_of(day: date, n: int = 0) -> date:
    """The first of the month n months later."""
    m = day.year * 12 + day.month - 1 + n
    return date(m // 12, m % 12 + 1, 1)


def money(czk: float, country: str) -> str:
    """1190 as '1,190 Kč' or '47.60 €'."""
    return f"{czk:,.0f} Kč" if country == "CZ" else f"{czk / 25:.2f} €"


def build(r: random.Random) -> str:
    members, ships, eager = [], [], {}
    for i in range(430):
        sex, club = r.choice("MF"), r.choices(CLUBS, [26, 18, 20, 11, 14, 8, 5])[0]
        first = max(date.fromisoformat(club[4]), date(2019, 1, 1))
        joined = first + timedelta(days=int((END - first).days * r.random() ** 0.7))
        if joined.month in {6, 7, 8} and r.random() < 0.5:
            joined = date(joined.year, r.choice([1, 9]), r.randint(2, 28))
        joined = min(max(joined, first), END)
        age = int(min(78, max(16, r.gauss(34, 12))))
        born = date(joined.year - age, r.randint(1, 12), r.randint(1, 28))
        no = 10000 + i * 3
        names = r.choice(LAST)
        shown = f"{born:%d.%m.%Y}" if r.random() < 0.94 else r.choice(["", None])
        members.append((no, r.choice(FIRST[sex]), names[0 if sex == "M" else 1], sex if r.random() < 0.97 else None, shown, club[0], str(joined), r.choice("TTF"), "T" if age < 26 and r.random() < 0.7 else "F",
                        r.choice(members)[0] if members and r.random() < 0.14 else None, f"m{no}@posta.example" if r.random() < 0.9 else ""))
        eager[no] = r.random() ** 2.6
        start, plan = joined, "STU" if members[-1][8] == "T" else "SEN" if age >= 60 else r.choices(["BAS", "PLU", "PRE", "YEA", "COR", "COV"], [9, 8, 4, 4, 3, 3 if joined < date(2022, 6, 30) else 0])[0]
        while start <= END:
            stays = max(1, int(r.expovariate(1 / (9 + 26 * eager[no])))) if plan != "YEA" else r.choice([12, 12, 24])
            end = start + timedelta(days=int(stays * 30.4))
            if plan == "COV":
                end = min(end, date(2022, 12, 31))
            why = r.choices(["CH", "NP", "MV", "OT", None], [4, 2, 2, 3, 1])[0]
            over = end <= END
            ships.append((len(ships) + 1, no, plan, str(start), str(end) if over else None, r.choices([0, 10, 20, 50], [14, 3, 2, 1])[0], why if over else None))
            if not over or (why != "CH" and r.random() < 0.85):
                break
            start = end + timedelta(days=1 if why == "CH" else r.randint(40, 300))
            plan = r.choice(["BAS", "PLU", "PLU", "PRE", "YEA"])
    for old in (40, 222):
        members.append((10000 + len(members) * 3, *members[old][1:5], 7 if old == 40 else 1, "2023-11-13", "F", members[old][8], None, None))
    prices, countries = {p[0]: (p[2], p[3]) for p in PLANS}, {c[0]: c[3] for c in CLUBS}
    home = {m[0]: m[5] for m in members}
    payments = []
    for s in ships:
        price, months = prices[s[2]]
        due, end = date.fromisoformat(s[3]), date.fromisoformat(s[4]) if s[4] else END
        while due <= end:
            if due >= date(2023, 8, 1):
                paid = due + timedelta(days=int(r.expovariate(1 / 3)))
                never = r.random() < (0.4 if s[6] == "NP" and (end - due).days < 70 else 0.012)
                cost = price * (1 - s[5] / 100) * (1.06 if due >= date(2024, 1, 1) else 1)
                payments.append((s[0], str(due), None if never or paid > END else str(paid), money(cost, countries[home[s[1]]]), r.choices(["card", "debit", "cash", "Card", "transfer"], [9, 7, 1, 2, 2])[0], r.choice([1, 2, 3]) if never else 0 if (paid - due).days < 8 else 1))
                if r.random() < 0.006 and not never:
                    payments.append((s[0], str(due), str(min(paid + timedelta(days=9), END)), money(-cost, countries[home[s[1]]]), "transfer", 0))
            due = due + timedelta(days=30) if months == 1 else date(due.year + 1, due.month, min(due.day, 28))
    payments = [(i, *p) for i, p in enumerate(sorted(payments, key=lambda p: (p[1], p[0])), start=50001)]
    running = [(s[1], date.fromisoformat(s[3]), date.fromisoformat(s[4]) if s[4] else END) for s in ships]
    checkins = []
    day = date(2024, 1, 1)
    while day <= END:
        season = {1: 1.35, 2: 1.15, 3: 1.0, 4: 0.85}[day.month] * [1.2, 1.1, 1.15, 0.95, 0.7, 0.6, 0.75][day.weekday()]
        for no, start, end in running:
            if not start <= day <= end or r.random() > (0.005 + 0.26 * eager[no]) * season * 0.62:
                continue
            club = home[no] if r.random() < 0.92 else r.choice(CLUBS)[0]
            hour = r.choices(range(6, 22), [7, 8, 5, 3, 3, 3, 4, 3, 3, 5, 9, 14, 15, 11, 6, 2])[0]
            start_ts = timegm(datetime(day.year, day.month, day.day, hour, r.randint(0, 59), r.randint(0, 59)).timetuple())
            checkins.append((no, club, start_ts, start_ts + int(max(600, r.gauss(4300, 1500))) if r.random() < 0.93 else None, f"{'D' if r.random() < 0.5 else 'P'}{r.randint(1, 140)}" if r.random() < 0.8 else None))
        if r.random() < 0.7:
            ts = timegm(datetime(day.year, day.month, day.day, r.randint(8, 19), r.randint(0, 59)).timetuple())
            checkins.append((0, r.choices([1, 2, 3, 5], [5, 2, 2, 1])[0], ts, ts + r.randint(2400, 7000), ""))
        day += timedelta(days=1)
    checkins.sort(key=lambda c: (c[2], c[0]))
    classes, bookings = [], []
    for week in range(35):
        monday = date(2023, 8, 28) + timedelta(days=7 * week)
        for slot in range(9):
            kind, trainer = r.choices(TYPES[:11], [6, 5, 2, 7, 3, 7, 5, 6, 2, 2, 1])[0], r.choice(TRAINERS[:10])
            when = monday + timedelta(days=r.choice([0, 1, 1, 2, 3, 3, 5]))
            if (when.month == 12 and when.day > 23) or (slot == 8 and trainer[0] > 5):
                continue
            hour = 7 if kind[0] == 1 else r.choice([16, 17, 18, 18, 19])
            starts = datetime(when.year, when.month, when.day, hour, r.choice([0, 0, 15, 30]))
            off, key = r.random() < 0.05, len(classes) + 1
            places = r.choice([12, 16, 20, 24]) if kind[2] != "MIN" else r.choice([10, 12, 15])
            classes.append((key, kind[0], trainer[2], trainer[0] if r.random() < 0.97 else 11, f"{starts:%Y-%m-%d %H:%M}", places, "T" if off else "F"))
            here = [no for no, start, end in running if start <= when <= end and home[no] == trainer[2]]
            want = min(len(here), int(max(1, r.gauss(6.0 + 2.5 * (kind[0] in {4, 6, 8}), 2.5))), places + 3)
            picked = sorted(dict.fromkeys(r.choices(here, [0.05 + eager[n] for n in here], k=want))) if here else []
            r.shuffle(picked)
            for n, no in enumerate(picked):
                status = "CANC" if off else "waitlist" if n >= min(places, 9) else r.choices(["booked", "Booked", "cancelled", "CANC"], [14, 3, 2, 1])[0]
                came = None if status.lower() != "booked" else "T" if r.random() < 0.86 else "F"
                booked = starts - timedelta(minutes=int(r.expovariate(1 / 2600)) + 20)
                bookings.append((key, no, f"{booked:%Y-%m-%d %H:%M}", status, came, r.choices([5, 4, 3, 2, 1], [9, 7, 3, 1, 1])[0] if came == "T" and r.random() < 0.4 else None))
    snaps = []
    for club in CLUBS:
        here = [x for x in running if home[x[0]] == club[0]]
        month = max(date(2022, 1, 1), month_of(date.fromisoformat(club[4])))
        while month <= END:
            after = month_of(month, 1)
            count = sum(start < after and end >= month for _, start, end in here)
            new, gone = sum(month <= start < after for _, start, _ in here), sum(month <= end < after and end != END for _, _, end in here)
            visits = int(count * 7.4 * {1: 1.3, 2: 1.15, 7: 0.7, 8: 0.65, 12: 0.8}.get(month.month, 1.0) * r.uniform(0.92, 1.08))
            if (club[0], month) != (4, date(2022, 8, 1)):
                row = (count, new, gone, round(100 * gone / count, 1) if count else None, visits, round(min(1.0, visits / club[6] / 3.1), 3), round(count * r.uniform(0.8, 0.95), 1))
                if (club[0], month) == (1, date(2023, 3, 1)):
                    snaps.append((club[0], f"{month:%b-%y}", 1, row[0] - 12, row[1], 0, 0.0, *row[4:]))
                    snaps.append((club[0], f"{month:%b-%y}", 2, *row))
                else:
                    snaps.append((club[0], f"{month:%b-%y}", 1, *row))
            month = after
    notes = [(c, str(date(2024, 1, 1) + timedelta(days=d)), n, h) for c, d, n, h in [(1, 0, "New Year, closed", "24:00"), (3, 0, "zavřeno", "24:00"), (4, 17, "no hot water", None), (2, 30, "turnstile down", "1:20"), (5, 44, "sauna closed", ""), (6, 52, "power cut", "3:45"),
                                                                            (1, 61, "competition", None), (4, 75, "turnstile down", "0:50"), (3, 90, "Easter", "24:00"), (7, 95, "", "2:10"), (2, 110, "fire drill", "0:30")]]
    return TABLES + "".join([
        insert("tbl_club", CLUBS), insert("group", GROUPS), insert("tbl_plan", PLANS), insert("tbl_member", members), insert("tbl_membership", ships), insert("tbl_payment", payments), insert("tbl_checkin", checkins), insert("tbl_checkin_daily_note", notes),
        insert("tbl_trainer", TRAINERS), insert("tbl_class_type", TYPES), insert("tbl_class", classes), insert("tbl_booking", bookings), insert("monthly_snapshot", snaps),
    ])
