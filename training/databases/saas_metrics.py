"""The reporting warehouse of a small firm that sells rota-planning software by subscription: accounts, their users and plans, monthly
snapshots of recurring revenue, product events, plan changes, churn, invoices, tickets. July 2022 to June 2024, 24 month ends,
taken on 12 July 2024.

Size: 12 tables, 95 columns, 5298 rows.

Messy on purpose:
- Tables are prefixed, dim_ and fact_; no key is declared. account_key is the warehouse's number, account_id the product's text
  ('acc_0042'); fact_event and fact_ticket know account_id only. A few tickets name accounts that were deleted.
- dim_account is history: an account that changed its country or segment has several rows (account_key differs, account_id
  doesn't) with valid_from, valid_to (NULL now) and is_current 1/0. Facts point at the row that held at the time.
- Months are texts: 'Mar-24' in fact_subscription_snapshot, '2024-03' in fact_churn; dim_month has both, and the first day.
  Events are Unix milliseconds, plan changes ISO with T and Z, tickets 'dd/mm/yyyy HH:MM', invoices yyyymmdd integers.
- Money: mrr_cents in snapshots, dim_plan.list_price in euros a seat and month, fact_invoice.amount a text with a thousands comma
  ('1,284.00'), fact_plan_change.mrr_delta in euros. Discounts: discount 0.15 in snapshots, discount_pct 15 in invoices. dim_country.vat_rate
  is a percentage, but a fraction for Germany and France.
- Flags: is_test 'T'/'F' (test accounts have revenue, too), is_current 1/0, dim_user.admin Y/N, fact_ticket.escalated 'true'/''.
- Codes without lookup: snapshot.status: trial, active, past_due, paused, churned (in the month it left, with 0 revenue; also 'Active').
  plan_change.type: UP, DN (to a higher or lower price a seat), SEAT+, SEAT-, NEW, REACT. churn.reason_cd: 1 price, 2 missing feature, 3 closed business, 4 went
  to a competitor, 5 never used, 9 unknown. churn.vol: V voluntary, I involuntary (card failed).
- Durations: fact_event.dur_ms in milliseconds, fact_ticket.first_reply_min in minutes, resolved_in as 'H:MM' (hours may pass 24).
- `name`, `status` and `type` mean something else in each table. nps is -1 where nobody answered.
- Plans 'Starter' exists twice (old price, retired). Nobody has the Free pilot; who is in Luxembourg
  moved there. Some accounts have no user, some users have no event, some events are older than their user's row.
"""

from __future__ import annotations

import random
from calendar import timegm
from collections import Counter
from datetime import date, datetime, timedelta

from training.script import Value, insert

TABLES = """
CREATE TABLE dim_month (month_key INTEGER, label TEXT, iso TEXT, first_day TEXT, last_day TEXT, fiscal_q TEXT);
CREATE TABLE dim_plan (plan_key INTEGER, name TEXT, tier INTEGER, list_price REAL, max_seats INTEGER, billing TEXT, retired TEXT);
CREATE TABLE dim_country (iso2 TEXT, name TEXT, region TEXT, vat_rate REAL);
CREATE TABLE dim_channel (channel_id INTEGER, name TEXT, parent_channel_id INTEGER, paid TEXT);
CREATE TABLE dim_account (account_key INTEGER, account_id TEXT, name TEXT, segment TEXT, country TEXT, industry TEXT, channel_id INTEGER, csm TEXT,
  signup_date TEXT, is_test TEXT, valid_from TEXT, valid_to TEXT, is_current INTEGER);
CREATE TABLE dim_user (user_key INTEGER, account_id TEXT, name TEXT, email TEXT, admin TEXT, locale TEXT, created TEXT, last_seen TEXT);
CREATE TABLE fact_subscription_snapshot (month TEXT, account_key INTEGER, plan_key INTEGER, seats INTEGER, mrr_cents INTEGER, discount REAL, status TEXT,
  active_users INTEGER, nps INTEGER);
CREATE TABLE fact_plan_change (change_id INTEGER, account_key INTEGER, changed_at TEXT, type TEXT, from_plan INTEGER, to_plan INTEGER, from_seats INTEGER, to_seats INTEGER, mrr_delta REAL);
CREATE TABLE fact_churn (account_key INTEGER, month TEXT, reason_cd INTEGER, vol TEXT, lost_mrr REAL, months_alive INTEGER, won_back_month TEXT, comment TEXT);
CREATE TABLE fact_event (event_id TEXT, account_id TEXT, user_key INTEGER, type TEXT, ts INTEGER, dur_ms INTEGER, platform TEXT, "value" REAL);
CREATE TABLE fact_invoice (invoice_no TEXT, account_key INTEGER, issued INTEGER, due INTEGER, paid INTEGER, amount TEXT, currency TEXT, discount_pct INTEGER, status TEXT);
CREATE TABLE fact_ticket (ticket_no INTEGER, account_id TEXT, opened TEXT, status TEXT, type TEXT, priority TEXT, first_reply_min INTEGER, resolved_in TEXT, escalated TEXT, rating INTEGER);
CREATE VIEW rpt_mrr AS SELECT s.month, COUNT(*) AS accounts, SUM(s.mrr_cents) / 100.0 AS mrr FROM fact_subscription_snapshot s
  JOIN dim_account a ON a.account_key = s.account_key WHERE a.is_test = 'F' AND LOWER(s.status) <> 'churned' GROUP BY s.month;
"""

MONTHS = [date(2022 + (6 + i) // 12, (6 + i) % 12 + 1, 1) for i in range(24)]
PLANS: list[tuple[Value, ...]] = [(1, "Starter", 1, 3.0, 15, "monthly", "2023-03-31"), (2, "Starter", 1, 3.5, 15, "monthly", None), (3, "Team", 2, 5.9, 80, "monthly", None), (4, "Team annual", 2, 4.9, 80, "yearly", None),
                                  (5, "Business", 3, 8.5, 500, "monthly", None), (6, "Enterprise", 4, 11.0, None, "yearly", ""), (7, "Free pilot", 0, 0.0, 5, "none", None)]  # fmt: skip
PRICES = {int(p[0] or 0): float(p[3] or 0) for p in PLANS}
COUNTRIES = [("NL", "Netherlands", "Benelux", 21), ("BE", "Belgium", "Benelux", 21), ("DE", "Germany", "DACH", 0.19), ("AT", "Austria", "DACH", 20), ("FR", "France", "South", 0.2), ("ES", "Spain", "South", 21), ("GB", "United Kingdom", "UK&I", 20),
             ("IE", "Ireland", "UK&I", 23), ("SE", "Sweden", "Nordics", 25), ("PL", "Poland", None, 23), ("LU", "Luxembourg", "Benelux", 17)]  # fmt: skip
CHANNELS = [
    (1, "organic", None, "N"),
    (2, "search", 1, "N"),
    (3, "blog", 1, "N"),
    (4, "ads", None, "Y"),
    (5, "search ads", 4, "Y"),
    (6, "social ads", 4, "Y"),
    (7, "partner", None, "N"),
    (8, "trade fair", None, "Y"),
    (9, "podcast", 4, "Y"),
]
FIRMS = """Bakkerij Vermeulen|Hotel Bellevue|Cafés Lumière|Praxis am Park|Physio Kern|Fitness Nord|Kita Regenbogen|Zorggroep Linde|Garage Delmas|Supermercado Sol|Casa Mateo|Murphy's Bars|Thistle Care Homes|Pizza Presto|
Skansen Café|Kino Orzeł|Logistik Brandl|Fahrrad Wolke|Museumshop Delft|Boulangerie Petit|Clinique Saint-Roch|Restaurant De Kas|Camping La Mer|Tandartsen Centrum|Klettern 21|Hostel Amigo|Blume & Blatt|Sushi Go|Sushi Go|Escape Rooms Gent|
Blue Door Nursery|Shoreline Spa|Autohaus Reiter|Call Center Plus|Öko-Markt Grün|Schwimmbad Süd|Teatro Norte|Wasserij Snel|Harbour Tours|Vet Clinic Clontarf|Bowling Palace|Apotheken-Verbund|Copenhagen Coffee|Gärtnerei Huber|Les Trois Sœurs|
Sneeuwhal|Tanzschule Takt|Pflegedienst Herz|Mercado 22|Security Falcon|Cleaners Ltd|Kebab König|Jumpland|Biobistro|Airport Lounge|Golfclub Eem|Call Centre Cork|Studio Yoga|Kantine 9|Druk & Co""".replace("\n", "").split("|")  # fmt: skip
INDUSTRY = [
    "hospitality",
    "hospitality",
    "Hospitality",
    "health",
    "retail",
    "leisure",
    "logistics",
    None,
    "care",
    "",
]
COMMENTS = [None, None, "", "too expensive", "will be back in season", "moved to Excel", "bankrupt"]
TAKEN = date(2024, 7, 12)
Alive = dict[str, list[tuple[date, int]]]
Bill = tuple[date, int, date | None, int, str, int, str]
PEOPLE = "Anke|Bram|Chloé|David|Elif|Fergus|Giulia|Henk|Inés|Jakub|Katja|Liam|Maja|Nils|Oona|Pieter|Rania|Sven|Tess|Ugo|Vera|Wout|Xenia|Youssef|Zofia"
NAMES = PEOPLE.split("|")
LAST = [
    "Visser",
    "Schmid",
    "Dupont",
    "García",
    "Kelly",
    "Nowak",
    "Berg",
    "Peeters",
    "Aydın",
    "Wagner",
    "Smith",
    "Jansen",
    "Jansen",
    "Rossi",
    "Lund",
]
EVENTS = {
    "login": 30,
    "shift_published": 16,
    "shift_swapped": 12,
    "report_opened": 7,
    "export": 4,
    "invite_sent": 4,
    "api_call": 6,
    "error": 3,
    "integration_connected": 1,
    "Login": 2,
}


def label(month: date) -> str:
    return month.strftime("%Y-%m")


def short(month: date) -> str:
    """A month as the warehouse's snapshots name it: Mar-24."""
    return (
        ("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()[month.month - 1])
        + f"-{month.year % 100:02d}"
    )


def month_end(month: date) -> date:
    return date(month.year + month.month // 12, month.month % 12 + 1, 1) - timedelta(days=1)


def day_number(day: date) -> int:
    return day.year * 10000 + day.month * 100 + day.day


def worth(seats: int, plan: int, cut: float) -> float:
    """Euros a month, after discount."""
    return round(seats * PRICES[plan] * (1 - cut), 2)


def grown(r: random.Random, plan: int, seats: int, month: date) -> tuple[int, int]:
    """The plan and seats of an account a month later: mostly the same."""
    chance = r.random()
    if chance < 0.07:
        seats = max(2, round(seats * r.choice([1.1, 1.2, 1.5])) + 1)
    elif chance < 0.1:
        seats = max(2, seats - r.randint(1, max(2, seats // 5)))
    elif chance < 0.118 and plan in {1, 2, 3}:
        plan = {1: 3, 2: 3, 3: r.choice([4, 5])}[plan]
    elif chance < 0.125 and plan in {3, 5}:
        plan = {3: 2, 5: 3}[plan]
    elif plan == 1 and month == date(2023, 4, 1):
        plan = 2
    return plan, seats


def used_by(
    r: random.Random, alive: Alive, users: list[tuple[Value, ...]]
) -> list[tuple[Value, ...]]:
    """What users did in the product: more where an account has more active users."""
    crew: dict[str, list[int]] = {}
    for user in users:
        crew.setdefault(str(user[1]), []).append(int(user[0] or 0))
    spots = [(ident, month) for ident, live in alive.items() if ident in crew for month, used in live for _ in range(min(5, used // 6))]  # fmt: skip
    rows: list[tuple[int, tuple[Value, ...], int | None, float | None]] = []
    for ident, month in r.sample(spots, min(2100, len(spots))):
        kind = r.choices(list(EVENTS), list(EVENTS.values()))[0]
        second = (
            timegm(month.timetuple()) + r.randint(0, 27) * 86400 + r.randint(6 * 3600, 22 * 3600)
        )
        api = kind == "api_call"
        what = (ident, None if api else r.choice(crew[ident]), kind)
        lasted = None if kind in {"error", "invite_sent"} else int(r.lognormvariate(7, 1.2))
        value = float(r.randint(1, 60)) if kind in {"export", "shift_published"} else None
        rows.append((1000 * second + r.randint(0, 999), (*what, "api" if api else r.choice(["web", "web", "ios", "android", "Web"])), lasted, value))  # fmt: skip
    rows.sort(key=lambda row: row[:1])
    return [(f"ev{n:06x}", *what[:3], at, lasted, what[3], value) for n, (at, what, lasted, value) in enumerate(rows, start=4096)]  # fmt: skip


def asked(r: random.Random, alive: Alive) -> list[tuple[Value, ...]]:
    """Tickets, of accounts that had a subscription at the time; large ones ask more."""
    rows: list[tuple[Value, ...]] = []
    opened_on = sorted(datetime(2022, 7, 1, 8) + timedelta(minutes=int(729 * 1440 * r.random() ** 0.8)) for _ in range(420))  # fmt: skip
    for number, opened in enumerate(opened_on, start=8800):
        then = {ident: used for ident, live in alive.items() for month, used in live if (month.year, month.month) == (opened.year, opened.month)}  # fmt: skip
        ident = r.choices(list(then), [used + 3 for used in then.values()])[0]
        priority = r.choices(["low", "normal", "high", "urgent", "Normal"], [10, 40, 14, 4, 3])[0]
        minutes = int(r.lognormvariate({"urgent": 5.2, "high": 6.0}.get(priority, 7.1), 0.9))
        chances = [88, 5, 0, 0] if opened < datetime(2024, 6, 15) else [30, 0, 40, 30]
        status = r.choices(["solved", "Solved", "open", "pending"], chances)[0]
        done = status.lower() == "solved"
        rows.append((number, ident if r.random() > 0.02 else f"acc_{r.randint(900, 999):04d}", opened.strftime("%d/%m/%Y %H:%M"), status,
                     r.choice(["how-to", "bug", "bug", "billing", "Billing", "feature", ""]), priority, min(minutes // 4, 2880) if done or r.random() < 0.6 else None, f"{minutes // 60}:{minutes % 60:02d}" if done else None,
                     "true" if r.random() < 0.07 else "", r.choices([None, 1, 2, 3, 4, 5], [60, 4, 3, 5, 13, 15])[0] if done else None))  # fmt: skip
    return rows


def billed(bills: list[Bill]) -> list[tuple[Value, ...]]:
    """Invoices, numbered by year as they were issued."""
    count: Counter[int] = Counter()
    rows: list[tuple[Value, ...]] = []
    for issued, key, paid, cents, currency, percent, status in sorted(
        bills, key=lambda bill: bill[:2]
    ):
        count[issued.year] += 1
        due = issued + timedelta(days=14)
        rows.append((f"INV-{issued.year}-{count[issued.year]:05d}", key, day_number(issued), day_number(due), day_number(paid) if paid else None, f"{cents / 100:,.2f}", currency, percent, status))  # fmt: skip
    return rows


def build(r: random.Random) -> str:
    accounts: list[list[Value]] = []
    snapshots: list[tuple[Value, ...]] = []
    changes: list[tuple[Value, ...]] = []
    users: list[tuple[Value, ...]] = []
    churned: list[list[Value]] = []
    bills: list[Bill] = []
    alive: Alive = {}
    months = [
        (
            i,
            short(m),
            label(m),
            str(m),
            str(month_end(m)),
            f"FY{(m.year + (m.month > 6)) % 100}Q{(m.month - 7) % 12 // 3 + 1}",
        )
        for i, m in enumerate(MONTHS, start=1)
    ]
    for number, firm in enumerate((FIRMS * 2)[:104], start=1):
        first = 0 if number <= 14 else min(int(24 * r.random() ** 0.75), 23)
        signup = (
            MONTHS[first] - timedelta(days=r.randint(20, 700))
            if first == 0
            else MONTHS[first] + timedelta(days=r.randint(0, 26))
        )
        size = r.choices(["S", "M", "L"], [60, 30, 10])[0]
        name = (
            firm
            if number <= len(FIRMS)
            else f"{firm} {r.choice(['II', 'Group', 'BV', 'GmbH', 'Sud'])}"
        )
        test = number in {33, 58, 90}
        ident, key = f"acc_{number * 3 + 4:04d}", len(accounts) + 501
        country = r.choices([c[0] for c in COUNTRIES], [30, 12, 20, 6, 10, 7, 9, 5, 4, 3, 0])[0]
        accounts.append([key, ident, "Test QA" if test else name, {"S": "SMB", "M": "Mid", "L": "Enterprise"}[size], country, r.choice(INDUSTRY), r.choices([1, 2, 3, 4, 5, 6, 7, 8, None], [4, 14, 8, 2, 12, 7, 8, 3, 2])[0],
                         r.choice(["Tess", "Wout", "tess", None]), str(signup), "T" if test else "F", str(signup), None, 1])  # fmt: skip
        plan = (
            r.choice([1, 1, 2, 3])
            if size == "S" and first < 9
            else {"S": r.choice([2, 2, 3]), "M": r.choice([3, 4, 5]), "L": r.choice([5, 6])}[size]
        )
        seats = {"S": r.randint(3, 15), "M": r.randint(14, 75), "L": r.randint(90, 420)}[size]
        cut = r.choices([0.0, 0.1, 0.15, 0.2], [70, 12, 10, 6])[0] if size != "S" else 0.0
        state, mrr = "trial" if first and r.random() < 0.8 else "active", 0
        moment = f"{signup}T{r.randint(8, 18):02d}:{r.randint(0, 59):02d}:00Z"
        changes.append((key, moment, "NEW", None, plan, None, seats, worth(seats, plan, cut)))
        gone = 0
        for i in range(first, 24):
            month = MONTHS[i]
            moment = f"{month + timedelta(days=r.randint(0, 27))}T{r.randint(7, 19):02d}:{r.randint(0, 59):02d}:{r.randint(0, 59):02d}Z"
            if gone:
                if r.random() > 0.04 or test:
                    continue
                gone, state = 0, "active"
                changes.append(
                    (key, moment, "REACT", plan, plan, 0, seats, worth(seats, plan, cut))
                )
                for line in churned:
                    if line[0] == key and line[6] is None:
                        line[6] = label(month)
            elif i > first:
                was, seats_was = plan, seats
                plan, seats = grown(r, plan, seats, month)
                if (plan, seats) != (was, seats_was):
                    kind = ("UP" if PRICES[plan] > PRICES[was] else "DN") if plan != was else "SEAT+" if seats > seats_was else "SEAT-"  # fmt: skip
                    changes.append((key, moment, kind, was, plan, seats_was, seats, round(worth(seats, plan, cut) - worth(seats_was, was, cut), 2)))  # fmt: skip
                risk = (
                    {"S": 0.035, "M": 0.014, "L": 0.006}[size]
                    * (2.2 if state == "trial" else 1)
                    * (1.8 if month.month == 1 else 1)
                )
                if r.random() < risk and not test:
                    reason, why = (
                        r.choices([1, 2, 3, 4, 5, 9], [8, 5, 4, 5, 6, 4])[0],
                        r.choice(COMMENTS),
                    )
                    churned.append(
                        [
                            key,
                            label(month),
                            reason,
                            r.choices("VI", [8, 2])[0],
                            mrr / 100,
                            i - first,
                            None,
                            why,
                        ]
                    )
                    snapshots.append((short(month), key, plan, 0, 0, cut, "churned", 0, -1))
                    gone = 1
                    continue
                state = r.choices(["active", "past_due", "paused", "Active"], [93, 4, 2, 2])[0]
            if r.random() < 0.006 and accounts[-1][0] == key and i > first + 2:
                accounts[-1][11], accounts[-1][12] = str(month - timedelta(days=1)), 0
                key = len(accounts) + 501
                accounts.append(
                    [
                        key,
                        *accounts[-1][1:3],
                        r.choice(["SMB", "Mid", "Enterprise"]),
                        r.choice([country, "LU"]),
                        *accounts[-1][5:10],
                        str(month),
                        None,
                        1,
                    ]
                )
            mrr = (
                0 if state in {"trial", "paused"} else round(100 * seats * PRICES[plan] * (1 - cut))
            )
            used = 0 if state == "paused" else max(0, round(seats * min(1, r.gauss(0.7, 0.2))))
            nps = r.choices([-1, r.randint(0, 6), r.randint(7, 10)], [85, 4, 11])[0]
            snapshots.append((short(month), key, plan, seats, mrr, cut, state, used, nps))
            alive.setdefault(ident, []).append((month, used))
            if mrr and (plan not in {4, 6} or (i - first) % 12 == 1):
                total = mrr * (12 if plan in {4, 6} else 1)
                issued = month_end(month) + timedelta(days=1)
                paid = (
                    None
                    if state == "past_due" or r.random() < (0.3 if i == 23 else 0.01)
                    else min(issued + timedelta(days=max(0, int(r.gauss(11, 8)))), TAKEN)
                )
                status = "void" if r.random() < 0.01 else "paid" if paid else "open"
                bills.append((issued, key, paid, total, "GBP" if country == "GB" else "EUR", round(cut * 100), status))  # fmt: skip
        if number % 29:
            for _ in range(min(8, 1 + seats // 12)):
                person, family = r.choice(NAMES), r.choice(LAST)
                joined = max(signup, MONTHS[0] - timedelta(days=400)) + timedelta(
                    days=r.randint(0, 120)
                )
                seen = min(joined + timedelta(days=r.randint(0, 600)), date(2024, 6, 30))
                users.append((len(users) + 1, ident, f"{person} {family}", f"{person}.{family}@{ident}.example".lower() if r.random() < 0.95 else None, "Y" if r.random() < 0.3 else "N",
                              r.choice(["nl", "de", "fr", "en-GB", "es", "NL", None]), str(joined), str(seen) if r.random() < 0.8 else None))  # fmt: skip
    changes.sort(key=lambda change: (change[1], change[0]))
    return TABLES + "".join([
        insert("dim_month", months), insert("dim_plan", PLANS), insert("dim_country", COUNTRIES), insert("dim_channel", CHANNELS), insert("dim_account", accounts), insert("dim_user", users),
        insert("fact_subscription_snapshot", snapshots), insert("fact_plan_change", [(i, *c) for i, c in enumerate(changes, start=1)]), insert("fact_churn", churned),
        insert("fact_event", used_by(r, alive, users)), insert("fact_invoice", billed(bills)), insert("fact_ticket", asked(r, alive)),
    ])  # fmt: skip
