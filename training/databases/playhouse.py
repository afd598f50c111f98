"""Box office and company office of a small regional theatre company in the north of England: what was put on in four seasons
(2020/21 to 2023/24), who played in it, when it was given and who bought which seats at what price.

Size: 12 tables, 91 columns, 7611 rows.

Messy on purpose:
- Table names are singular, and two are reserved words: "order" (a purchase) and "cast" (who plays what, many to many, with history
  "from"/"to" where a part was taken over; "to" NULL: until the end). Reserved column names: "from", "to", "order", "row", "group",
  "check", "desc", "when", "references", "default". production."order" is its place in the season, performance."order" counts the
  performances of a production.
- Durations: production.run_time and performance.duration are 'H:MM' with the interval, production.interval_min and
  performance.late_min are minutes. performance.duration is known only where the stage manager wrote it down.
- performance.status is free text: 'played', 'Played', 'CANC', 'cancelled', 'sold out', 'planned'. performance.kind: E evening, M matinee, S school
  performance, P preview, R relaxed performance; no lookup table. performance.venue_id is NULL where it is the production's own venue.
- Money: ticket.unit_price is pounds after the discount, order.fee_p is pence, "cast".fee is text with a pound sign and commas,
  production.cost is in thousands of pounds, season.grant is pounds.
- Percentages: discount.percent is 15, production.royalty is 0.08 (of sales).
- Flags: patron.member 'Y'/'N'/'', person."union" 'T'/'F', ticket.returned 0/1, discount."default" 0/1.
- "order".channel: W web, T telephone, C counter, A agency; "order".status: 1 open, 2 paid, 3 refunded, 9 void.
- "order".patron_id is NULL where somebody paid cash. Some patrons never bought; some people were never cast; two persons and several
  patrons share a name; one play was put on twice. The season 2020/21 was short.
- ticket is a line of a purchase: quantity seats of a band for one performance, key (order_id, line). discount_code 'FRIEND' is in use,
  but was never entered in discount (no key is declared), and the rules in
  discount."when" weren't always kept. Performances of September 2024 are planned, nothing is sold. attendance counts people at the door, no-shows are missing.
"""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta

from training.script import Value, insert

TABLES = """
CREATE TABLE season (season_id INTEGER PRIMARY KEY, name TEXT, "from" TEXT, "to" TEXT, grant INTEGER, motto TEXT);
CREATE TABLE venue (venue_id INTEGER PRIMARY KEY, name TEXT, town TEXT, seats INTEGER, "group" TEXT, step_free TEXT);
CREATE TABLE person (person_id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, born INTEGER, job TEXT, "union" TEXT, agent TEXT, joined TEXT);
CREATE TABLE play (play_id INTEGER PRIMARY KEY, title TEXT, author TEXT, "year" INTEGER, genre TEXT, language TEXT, "references" INTEGER REFERENCES play(play_id));
CREATE TABLE production (production_id INTEGER PRIMARY KEY, season_id INTEGER NOT NULL REFERENCES season(season_id), "order" INTEGER,
  play_id INTEGER NOT NULL REFERENCES play(play_id), venue_id INTEGER REFERENCES venue(venue_id), director_id INTEGER REFERENCES person(person_id),
  opens TEXT, closes TEXT, run_time TEXT, interval_min INTEGER, cost REAL, royalty REAL, age_from INTEGER);
CREATE TABLE "cast" (production_id INTEGER REFERENCES production(production_id), person_id INTEGER REFERENCES person(person_id), role TEXT,
  "from" TEXT, "to" TEXT, understudy INTEGER, fee TEXT, PRIMARY KEY (production_id, person_id, role));
CREATE TABLE performance (performance_id INTEGER PRIMARY KEY, production_id INTEGER NOT NULL REFERENCES production(production_id), "order" INTEGER,
  "date" TEXT, "time" TEXT, kind TEXT, venue_id INTEGER REFERENCES venue(venue_id), status TEXT, late_min INTEGER, duration TEXT, attendance INTEGER, "check" TEXT);
CREATE TABLE price (production_id INTEGER REFERENCES production(production_id), band TEXT, "row" TEXT, amount REAL, PRIMARY KEY (production_id, band));
CREATE TABLE discount (code TEXT PRIMARY KEY, "desc" TEXT, percent INTEGER, "when" TEXT, "default" INTEGER);
CREATE TABLE patron (patron_id INTEGER PRIMARY KEY, name TEXT, email TEXT, town TEXT, postcode TEXT, member TEXT, joined TEXT, "group" TEXT);
CREATE TABLE "order" (order_id INTEGER PRIMARY KEY, patron_id INTEGER REFERENCES patron(patron_id), placed TEXT, channel TEXT, status INTEGER, fee_p INTEGER, note TEXT);
CREATE TABLE ticket (order_id INTEGER REFERENCES "order"(order_id), line INTEGER, performance_id INTEGER REFERENCES performance(performance_id), band TEXT,
  quantity INTEGER, discount_code TEXT, unit_price REAL, returned INTEGER, PRIMARY KEY (order_id, line));
CREATE VIEW sold AS SELECT t.performance_id, SUM(t.quantity) AS seats, ROUND(SUM(t.quantity * t.unit_price), 2) AS takings
  FROM ticket t JOIN "order" o USING (order_id) WHERE o.status = 2 AND t.returned = 0 GROUP BY t.performance_id;
"""

# fmt: off
SEASONS = [(1, "2020/21", date(2021, 5, 20), date(2021, 7, 31), 310000, "Back, quietly"), (2, "2021/22", date(2021, 9, 10), date(2022, 6, 30), 245000, "Borders"),
           (3, "2022/23", date(2022, 9, 9), date(2023, 7, 1), 228000, None), (4, "2023/24", date(2023, 9, 8), date(2024, 6, 29), 228000, "Salt and Coal")]
VENUES = [(1, "The Weighhouse", "Skelderby", 132, "own", "Y"), (2, "Weighhouse Studio", "Skelderby", 54, "own", "N"), (3, "Miners' Institute", "Harrowfell", 110, "hired", "Y"),
          (4, "St Oswin's Hall", "Brackmoor", 80, "hired", None), (5, "Castle Yard", "Skelderby", 160, "open air", "Y")]
PLAYS = [("The Ferryman's Ledger", "Agnes Tully", 1934, "drama"), ("Nine Wet Sundays", "Roy Attersby", 1968, "comedy"), ("Macbeth", "William Shakespeare", 1606, "tragedy"), ("A Doll's House", "Henrik Ibsen", 1879, "drama"),
         ("The Cherry Orchard", "Anton Chekhov", 1904, "comedy"), ("Kohle", "Margit Sander", 1999, "drama"), ("The Goose Who Wouldn't", "Company", 2021, "family"), ("Snow at Harrowfell", "Tariq Osei", 2019, "drama"),
         ("Twelfth Night", "William Shakespeare", 1601, "comedy"), ("The Last Signalman", "Bryony Clegg", 2012, "Comedy"), ("Antigone", "Sophocles", -441, "tragedy"), ("Tartuffe", "Molière", 1664, "comedy"),
         ("Blood Wedding", "Federico García Lorca", 1932, "tragedy"), ("Jack and the Giant Turnip", "Company", 2021, "family"), ("Mam's Lodger", "Roy Attersby", 1971, "comedy"), ("Lighthouse Songs", "Ewa Malik / Joe Dunn", 2023, "musical"),
         ("Puss in Wellingtons", "Company", 2022, "family"), ("The Inspector of Drains", "Bryony Clegg", 2018, "comedy"), ("Woyzeck", "Georg Büchner", 1837, "drama"), ("Kitchen Parliament", "Agnes Tully", 1947, "drama"),
         ("Cinderella Goes to Sheffield", "Company", 2023, "family"), ("Two Brothers, One Van", "Tariq Osei", 2022, "comedy"), ("Sea Interlude", None, 1958, "monologue"), ("Macbeth in the Canteen", "Bryony Clegg", 2024, "comedy"), ("The Unplayed", "Agnes Tully", 1951, None)]
LANGUAGE = {"Kohle": "German", "Woyzeck": "German", "Blood Wedding": "Spanish", "Tartuffe": "French", "A Doll's House": "Norwegian", "The Cherry Orchard": "Russian", "Antigone": "Greek"}
PARTS = {"Macbeth": ["Macbeth", "Lady Macbeth", "Banquo", "First Witch", "Second Witch", "Porter", "Duncan"], "Twelfth Night": ["Viola", "Orsino", "Olivia", "Malvolio", "Feste", "Sir Toby"], "Antigone": ["Antigone", "Creon", "Ismene", "Haemon", "Chorus"],
         "Tartuffe": ["Tartuffe", "Orgon", "Elmire", "Dorine", "Mariane"], "A Doll's House": ["Nora", "Torvald", "Dr Rank", "Kristine"], "The Cherry Orchard": ["Ranevskaya", "Lopakhin", "Gaev", "Anya", "Firs", "Varya"], "Sea Interlude": ["The Woman"]}
OTHERS = ["Mother", "Father", "Dame", "The Stranger", "Constable", "Young Tom", "Neighbour", "Old Peg", "Narrator", "Goose", "The Boss", "Singer"]
FIRST = "Maud|Idris|Saoirse|Callum|Priyanka|Edwin|Noor|Beatrix|Joe|Ewa|Kwame|Harriet|Lars|Tamsin|Ruth|Gil|Mina|Arthur|Delphine|Oskar|Yetunde|Sam|Fergus|Lin|Rosa|Nathaniel".split("|")
LAST = "Thwaite|Okoro|Brannigan|Sowerby|Iyer|Clegg|Rahman|Hartley|Dunn|Malik|Boateng|Metcalfe|Nyström|Pickles|Adeyemi|Fell|Zhang|Ramsden|Moreau|O'Hara|Ackroyd|Smith|Bairstow|van Dijk|Kaminski|Lister|Smith|Ali".split("|")
TOWNS = [("Skelderby", "SK4"), ("Harrowfell", "HF1"), ("Brackmoor", "BR7"), ("Leeds", "LS6"), ("Upper Tarn", "HF9"), ("York", "YO1"), ("skelderby", "SK2")]
DISCOUNTS = [("NONE", "full price", 0, None, 1), ("CHILD", "under 16", 50, "always", 0), ("SEN", "over 65", 15, "not Saturdays", 0), ("STU", "students and under 26", 30, "always", 0), ("MEM", "members", 20, "always", 0),
             ("GRP10", "groups of 10 or more", 25, "always", 0), ("SCHL", "school parties", 60, "school performances", 0), ("EARLY", "till six weeks before", 10, "till 2023", 0), ("STAFF", "staff and family", 100, "unsold seats", 0), ("WED", "wet Wednesday", 20, "Wednesdays", 0)]
PERCENT = {code: percent for code, _, percent, _, _ in DISCOUNTS} | {"FRIEND": 20}


def hm(minutes: int) -> str:
    """Minutes as H:MM."""
    return f"{minutes // 60}:{minutes % 60:02d}"


def build(r: random.Random) -> str:
    people: list[tuple[Value, ...]] = []
    for i in range(1, 71):
        job = "actor" if i <= 48 else r.choice(["director", "designer", "stage manager", "musician", "Actor", "lighting"])
        first, last = ("Sam", "Smith") if i in {9, 31} else (r.choice(FIRST), r.choice(LAST))
        people.append((i, first, last, r.randint(1946, 2002) if r.random() < 0.8 else None, "director" if 49 <= i <= 54 else job, r.choice("TTTF"),
                       r.choice([None, None, "", "Hollins & Hay", "Northern Faces", "hollins & hay"]), f"{r.randint(1998, 2023)}-{r.randint(1, 12):02d}-01"))
    plays = [(i, *row, LANGUAGE.get(row[0], "English"), 3 if row[0] == "Macbeth in the Canteen" else None) for i, row in enumerate(PLAYS, 1)]
    patrons: list[tuple[Value, ...]] = []
    for i in range(1, 641):
        first, last = r.choice(FIRST), r.choice(LAST)
        town, post = r.choices(TOWNS, [40, 18, 12, 6, 7, 4, 5])[0]
        school = i % 40 == 0
        name = f"{r.choice(['Harrowfell', 'St Oswin', 'Beck Lane', 'Tarn', 'Skelder'])} {r.choice(['Primary School', 'High School', 'Academy'])}" if school else f"{first} {last}"
        patrons.append((i, name, None if r.random() < 0.2 else f"{first}.{last}{i}@example.org".lower().replace("'", "").replace(" ", ""), town, f"{post} {r.randint(1, 9)}{r.choice('ABDEFG')}{r.choice('HJLN')}" if r.random() < 0.9 else "",
                        "N" if school else r.choices(["Y", "N", ""], [22, 70, 8])[0], str(date(2012, 1, 1) + timedelta(days=int(4400 * r.random() ** 0.6))), "school" if school else r.choice([None, None, None, "friends of the Weighhouse", "press"])))
    keen = [1 / (1 + i % 160) ** 0.6 if i % 9 else 0.0 for i in range(640)]
    schools = [i for i in range(1, 641) if i % 40 == 0]
    productions, casts, performances, prices, purchases, tickets = [], [], [], [], [], []
    titles = [[1, 23, 7], [3, 6, 14, 2, 10, 4], [9, 18, 17, 8, 12, 5, 11], [13, 15, 21, 20, 22, 16, 3]]
    for (season_id, _, start, end, _, _), chosen in zip(SEASONS, titles, strict=True):
        for place, play_id in enumerate(chosen, 1):
            title, _, _, genre = PLAYS[play_id - 1]
            family = genre == "family"
            number = len(productions) + 1
            opens = date(start.year, 12, 3) if family and season_id > 1 else start + (end - start) * (place - 1) // len(chosen)
            venue = 5 if opens.month in {6, 7} and season_id != 4 else r.choice([1, 1, 1, 2, 2, 3])
            run, break_min = r.randint(70, 175), r.choice([15, 20, 20])
            break_min = 0 if run < 95 else break_min
            top = r.choice([14, 16, 18, 19.5, 21]) + season_id * 0.5
            days = sorted(r.sample([d for d in range(24) if d != 22], r.randint(6, 10)))
            closes = opens + timedelta(days=days[-1])
            director = 9 if number == 12 else r.randint(49, 54)
            productions.append((number, season_id, place, play_id, venue, director if number != 8 else None, str(opens), str(closes), hm(run), break_min,
                                round(r.uniform(9, 34) * (1.6 if family or title == "Lighthouse Songs" else 1), 1), 0.0 if title in PARTS else r.choice([0.06, 0.08, 0.1]), r.choice([None, 5 if family else 12, 14])))
            prices += [(number, "A", "A-F", top), (number, "B", "G-M", top - 4), (number, "C", "N-R", top - 8)][: 2 if venue == 2 else 3]
            parts = PARTS.get(title) or r.sample(OTHERS, r.randint(4, 8))
            players = r.choices(range(1, 43), [3 if i < 12 else 1 for i in range(42)], k=len(parts))
            for part, player in zip(parts, players, strict=True):
                fee = r.choice([850, 975, 1200, 1450, 2100]) + 25 * season_id
                handed = r.random() < 0.06
                until = str(opens + timedelta(days=days[len(days) // 2])) if handed else None
                casts.append((number, player, part, str(opens), until, 0, f"£{fee:,.2f}"))
                if handed or r.random() < 0.13:
                    casts.append((number, player % 42 + 1, part, until or str(opens), None, 0 if handed else 1, f"£{fee // 2:,.2f}"))
            love = r.uniform(0.4, 0.75) + (0.2 if family else 0) + (0.1 if "Macbeth" in title else 0) - (0.25 if genre == "monologue" else 0)
            for count, offset in enumerate(days, 1):
                day = opens + timedelta(days=offset)
                kind = "P" if count == 1 and number % 3 == 0 else r.choices("EMSR", [70, 16, 14 if day.weekday() < 5 else 0, 4])[0]
                away = r.choice([3, 4]) if r.random() < 0.1 and venue not in {3, 5} else None
                fate = "CANC" if r.random() < 0.03 else "cancelled" if r.random() < 0.03 else "played"
                performance_id = len(performances) + 1
                seats = VENUES[(away or venue) - 1][3]
                demand = seats * love * {4: 1.1, 5: 1.25, 1: 0.75, 0: 0.7}.get(day.weekday(), 0.9) * r.uniform(0.75, 1.2) * (0.55 if season_id == 1 else 1)
                goal, taken, here = min(int(demand), seats), 0, 0
                while taken < goal:
                    party = kind == "S" and r.random() < 0.4
                    who = r.choice(schools) if party else r.choices(range(1, 641), keen)[0]
                    buyer = None if not party and r.random() < 0.07 else who
                    order_id = len(purchases) + 1
                    ahead = min(int(r.expovariate(1 / 16)), 100)
                    placed = datetime(day.year, day.month, day.day, r.randint(9, 18), r.randint(0, 59)) - timedelta(days=ahead)
                    channel = "T" if party else "C" if buyer is None or ahead == 0 else r.choices("WTCA", [60, 20, 14, 6])[0]
                    status = 3 if fate != "played" else r.choices([2, 1, 3, 9], [95, 1, 2, 2])[0]
                    purchases.append((order_id, buyer, str(placed)[:16], channel, status, {"W": 150, "T": 200, "A": 275}.get(channel, 0), r.choice([None] * 14 + ["", "wheelchair", "aisle please", "will call"])))
                    for line in range(1, 3 if r.random() < (0.5 if family else 0.17) else 2):
                        band = r.choices("ABC", [40, 35, 25])[0] if venue != 2 else r.choice("AB")
                        quantity = r.randint(14, 38) if party else r.choices([1, 2, 3, 4, 5, 12], [16, 50, 9, 15, 4, 3])[0]
                        quantity = min(quantity, max(goal - taken, 1))
                        code = "SCHL" if party else "GRP10" if quantity >= 10 else "CHILD" if line == 2 and family else r.choices([None, "NONE", "SEN", "STU", "MEM", "EARLY", "FRIEND", "WED" if day.weekday() == 2 else "STAFF"], [38, 14, 16, 9, 14, 4, 1, 2])[0]
                        percent = PERCENT[code or "NONE"]
                        back = 1 if r.random() < 0.02 else 0
                        amount = {"A": top, "B": top - 4, "C": top - 8}[band]
                        tickets.append((order_id, line, performance_id, band, quantity, code, round(amount * (100 - percent) / 100, 2), back))
                        taken += quantity
                        here += quantity if status == 2 and not back else 0
                played = fate == "played"
                status_text = fate if not played else "sold out" if taken >= seats else r.choice(["played", "played", "played", "Played"])
                performances.append((performance_id, number, count, str(day), {"E": "19:30", "M": "14:30", "S": "10:30", "P": "19:00", "R": "14:00"}[kind], kind, away, status_text,
                                     r.choices([0, 3, 5, 8, 20, None], [40, 20, 18, 8, 2, 12])[0] if played else None, hm(run + r.randint(-3, 9)) if played and r.random() < 0.7 else None,
                                     here - sum(r.random() < 0.04 for _ in range(here)) if played and r.random() < 0.94 else None, r.choice(["ok", "ok", "OK", None, "fire exit blocked", ""])))
    for extra, day_no in enumerate((5, 12, 26), 1):  # announced, nothing is sold yet
        performances.append((len(performances) + 1, len(productions), len(days) + extra, f"2024-09-{day_no:02d}", "19:30", "E", None, "planned", None, None, None, None))
    return TABLES + "".join([
        insert("season", [(i, name, str(a), str(b), grant, motto) for i, name, a, b, grant, motto in SEASONS]), insert("venue", VENUES), insert("person", people), insert("play", plays), insert("production", productions),
        insert("cast", {row[:3]: row for row in casts}.values()), insert("performance", performances), insert("price", prices), insert("discount", DISCOUNTS), insert("patron", patrons), insert("order", purchases), insert("ticket", tickets),
    ])
