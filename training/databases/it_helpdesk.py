"""Service desk and asset inventory of a university hospital's IT department: tickets and every change of their status, the agents
who worked on them, computers and other assets with the people who had them. September 2022 to August 2024.

Size: 14 tables, 102 columns, 7764 rows.

Messy on purpose:
- Table names have the prefix tbl_, and plural and singular are mixed. org units are a tree (tbl_org.parent_org, three levels).
- Codes without lookup tables. tbl_ticket.prio: 1 critical, 2 high, 3 normal, 4 low, 9 project. tbl_ticket.src: P phone, M mail, W web form,
  A alarm by monitoring, F on foot. tbl_ticket.type: INC incident, SRQ service request, CHG change, also written 'inc'. tbl_assets.cls: NB notebook,
  DT desktop, SRV server, PRN printer, MON monitor, TAB tablet, SW switch. tbl_assets.state: 'in use', 'In Use', 'stock', 'repair', 'scrapped', 'lost?'.
- tbl_status_log is the truth about status: one row a change, old_st and new_st (NEW, ASG assigned, WIP in progress, WAIT waits for the
  user, RES resolved, CLS closed, REO reopened, CANC). tbl_ticket.status repeats the last one, but 11 tickets were never synchronised.
- Times: tbl_ticket.opened and closed are ISO with minutes (local), tbl_status_log.ts is Unix seconds with the same local clock (as if UTC),
  tbl_assets.bought is dd.mm.yyyy, warranty_until yyyymm as a number, tbl_agent.shift_from 'HH:MM', tbl_worklog.spent 'H:MM'.
- SLA: tbl_sla has minutes for response and resolution by priority and type, target_pct is 95 or 99.5; tbl_ticket.sla_breach is 0/1/NULL (NULL: not
  assessed, open). tbl_kpi.within_sla and first_contact are fractions (0.87), tbl_kpi.csat is 1 to 5, monthly snapshots per team.
- Flags: tbl_users.vip 'Y' or NULL, tbl_agent.on_call 0/1, tbl_software.approved T/F, tbl_assets.encrypted 'yes'/'no'/'n/a'.
- Hostnames carry site and class (KL-NB-0143), the serial is unique where known (else NULL, '' or 'n/a'), two assets have the same hostname. ip is text.
- tbl_asset_history is who had what: valid_from, valid_to ('9999-12-31': still). tbl_assets.user_id repeats who has it now.
- Money: tbl_assets.price is euros, tbl_software.fee_month is text like '€4.20', tbl_worklog.rate is cents an hour.
- tbl_ticket.dup_of points at the ticket it repeats. tbl_worklog and tbl_status_log declare no keys; worklogs of 4 deleted tickets are
  left. Users without tickets and without assets, two agents who never worked, namesakes among users.
"""

from __future__ import annotations

import random
from calendar import timegm
from datetime import date, datetime, timedelta

from training.script import Value, insert

# fmt: off
TABLES = """
CREATE TABLE tbl_org (org_id INTEGER PRIMARY KEY, parent_org INTEGER REFERENCES tbl_org(org_id), name TEXT, cost_center TEXT, lvl INTEGER);
CREATE TABLE tbl_site (site_code TEXT PRIMARY KEY, name TEXT, street TEXT, beds INTEGER);
CREATE TABLE tbl_users (user_id INTEGER PRIMARY KEY, login TEXT UNIQUE, name TEXT, org_id INTEGER REFERENCES tbl_org(org_id), site_code TEXT REFERENCES tbl_site(site_code),
  phone TEXT, vip TEXT, left_on TEXT);
CREATE TABLE tbl_team (team_id INTEGER PRIMARY KEY, name TEXT, tier INTEGER, lead_id INTEGER);
CREATE TABLE tbl_agent (agent_id INTEGER PRIMARY KEY, name TEXT, team_id INTEGER REFERENCES tbl_team(team_id), shift_from TEXT, shift_to TEXT, on_call INTEGER, fte REAL, since TEXT);
CREATE TABLE tbl_assets (asset_no TEXT PRIMARY KEY, cls TEXT, hostname TEXT, serial TEXT, maker TEXT, model TEXT, bought TEXT, price REAL, warranty_until INTEGER, site_code TEXT REFERENCES tbl_site(site_code),
  room TEXT, user_id INTEGER REFERENCES tbl_users(user_id), state TEXT, os TEXT, ram_gb INTEGER, disk_free_pct INTEGER, ip TEXT, encrypted TEXT);
CREATE TABLE tbl_asset_history (asset_no TEXT REFERENCES tbl_assets(asset_no), user_id INTEGER REFERENCES tbl_users(user_id), valid_from TEXT, valid_to TEXT, reason TEXT, PRIMARY KEY (asset_no, valid_from));
CREATE TABLE tbl_software (sw_id INTEGER PRIMARY KEY, name TEXT, version TEXT, vendor TEXT, fee_month TEXT, seats INTEGER, approved TEXT);
CREATE TABLE tbl_install (asset_no TEXT REFERENCES tbl_assets(asset_no), sw_id INTEGER REFERENCES tbl_software(sw_id), installed TEXT, PRIMARY KEY (asset_no, sw_id));
CREATE TABLE tbl_sla (prio INTEGER, type TEXT, response_min INTEGER, resolve_min INTEGER, target_pct REAL, PRIMARY KEY (prio, type));
CREATE TABLE tbl_ticket (ticket_no INTEGER PRIMARY KEY, type TEXT, prio INTEGER, src TEXT, user_id INTEGER REFERENCES tbl_users(user_id), asset_no TEXT REFERENCES tbl_assets(asset_no), team_id INTEGER REFERENCES tbl_team(team_id),
  agent_id INTEGER REFERENCES tbl_agent(agent_id), category TEXT, subject TEXT, opened TEXT, closed TEXT, status TEXT, sla_breach INTEGER, rating INTEGER, dup_of INTEGER REFERENCES tbl_ticket(ticket_no));
CREATE TABLE tbl_status_log (log_id INTEGER PRIMARY KEY, ticket INTEGER, old_st TEXT, new_st TEXT, ts INTEGER, by_agent INTEGER);
CREATE TABLE tbl_worklog (ticket_no INTEGER, agent_id INTEGER, day TEXT, spent TEXT, rate INTEGER, text TEXT);
CREATE TABLE tbl_kpi (month TEXT, team_id INTEGER REFERENCES tbl_team(team_id), tickets INTEGER, within_sla REAL, first_contact REAL, csat REAL, backlog INTEGER, PRIMARY KEY (month, team_id));
CREATE VIEW v_open AS SELECT ticket_no, prio, subject, opened, agent_id FROM tbl_ticket WHERE closed IS NULL;
CREATE VIEW v_waiting AS SELECT ticket, COUNT(*) AS times FROM tbl_status_log WHERE new_st = 'WAIT' GROUP BY ticket;
"""

SITES = [("KL", "Kliniken Lindenpark", "Lindenallee 1", 812), ("SM", "St. Martha", "Marthastr. 40", 240), ("FZ", "Forschungszentrum", "Am Kanal 9", 0), ("VW", "Verwaltung", "Domplatz 3", None), ("RZ", "Rechenzentrum", "", 0)]
ORGS = [(None, "Hospital", 1), (1, "Medicine", 2), (1, "Nursing", 2), (1, "Administration", 2), (1, "Research", 2), (2, "Cardiology", 3), (2, "Radiology", 3), (2, "Surgery", 3), (2, "Emergency", 3), (3, "Ward 3A", 3), (3, "Ward 7", 3),
        (4, "Finance", 3), (4, "Human resources", 3), (4, "Purchasing", 3), (5, "Genomics", 3), (5, "Biobank", 3), (4, "Chaplaincy", 3)]
TEAMS = [(1, "Service Desk", 1, 1), (2, "Workplace", 2, 6), (3, "Network", 2, 10), (4, "Clinical Applications", 3, 13), (5, "Servers", 3, 17)]
AGENTS = "Birgit Kranz|Emre Aksoy|Tobias Lenz|Aylin Şahin|Jo Peeters|Marek Dvořák|Stefanie Wolf|Nuno Faria|Hannes Petri|Olga Sokolova|Raj Menon|Dieter Uhl|Leila Farahani|Kai Brandt|Ines Caro|Pavlos Nikas|Ute Hagen|Chen Wei|Trainee 1|Andreas Wolf".split("|")
FIRST = "Anna|Lukas|Fatma|Jürgen|Sofía|Mehmet|Katrin|Paul|Yuki|Claudia|Ahmed|Sabine|Igor|Lea|Thomas|Nadia|François|Eva|Björn|Mia|Omar|Petra".split("|")
LAST = "Müller|Schneider|Yılmaz|Weber|Kowalczyk|García|Becker|Hoffmann|Nguyen|Schäfer|Krüger|Ivanova|Lang|Özdemir|Richter|Klein|Braun|Tanaka|Haas|El Amrani|Müller|Vogt".split("|")
MODELS = {"NB": [("Lenova", "T-Book 14", 1180), ("Lenova", "T-Book 14 G2", 1290), ("Dall", "Lati 5430", 1090), ("Appel", "Air 13", 1420)], "DT": [("Dall", "Opti 70", 640), ("dall", "Opti 70", 650), ("Fujitec", "Esp 5", 590)], "SRV": [("Dall", "Edge R7", 8900), ("Hewlitt", "Pro 380", 11400)],
          "PRN": [("Brathor", "HL-52", 310), ("Kyo", "M3", 880)], "MON": [("Dall", "P24", 189), ("Eizu", "RX560", 3900)], "TAB": [("Appel", "Pad 10", 480)], "SW": [("Cisko", "C92", 3150)]}
SOFTWARE = [("MediChart", "8.2", "Cura AG", "€38.00", 400, "T"), ("RadView", "5.1", "Lumen", "€112.50", 60, "T"), ("Office Suite", "2021", "Macrosoft", "€11.70", 900, "T"), ("StatLab", "17", "StatLab Inc.", "€54.00", 25, "T"), ("ZipFree", "3", None, "€0.00", None, "F"), ("VPN Client", "4.9", "Cisko", "€2.10", 600, "T"),
            ("GeneBrowser", "0.9", "open source", None, None, "T"), ("PayRoll", "12", "Lohn & Co", "€1,250.00", 8, "T"), ("ChatNow", "2.2", "ChatNow", "€0.00", None, "F"), ("MediChart", "7.9", "Cura AG", "€31.00", 150, "F")]
SLA = {1: (15, 240), 2: (60, 480), 3: (240, 2880), 4: (480, 7200), 9: (1440, 43200)}
TOPICS = {"password": (["Password expired", "locked out", "Cannot log in", "password reset"], 1, 45), "printer": (["Printer jams", "prints blank pages", "Toner empty", "printer offline"], 2, 300), "hardware": (["Screen stays black", "battery swollen", "keyboard broken", "dock not detected"], 2, 1500),
          "network": (["No wifi on ward", "VPN drops", "slow network", "port dead"], 3, 700), "application": (["MediChart hangs", "RadView: no images", "error 0x80 in PayRoll", "labels print twice"], 4, 1100), "server": (["disk full", "backup failed", "certificate expires"], 5, 600),
          "access": (["New starter", "folder access", "leaver: close account"], 1, 900), "order": (["new notebook", "second monitor", "tablet for ward round"], 2, 9000)}


def build(r: random.Random) -> str:
    begin, last = datetime(2022, 9, 1), datetime(2024, 8, 31, 18)
    users: list[tuple[Value, ...]] = []
    logins: dict[str, int] = {}
    for i in range(1, 301):
        first, name = r.choice(FIRST), r.choice(LAST)
        base = (name[:5] + first[0]).lower().replace(" ", "")
        logins[base] = logins.get(base, 0) + 1
        users.append((i, base + (str(logins[base]) if logins[base] > 1 else ""), f"{name}, {first}", r.choices(range(2, 18), [1, 1, 1, 1, 6, 5, 8, 9, 8, 7, 3, 3, 3, 4, 2, 0])[0], r.choices(["KL", "SM", "FZ", "VW"], [55, 20, 12, 13])[0], f"-{r.randint(1000, 9999)}" if r.random() < 0.85 else None,
                      "Y" if r.random() < 0.05 else None, str(date(2023, 1, 31) + timedelta(days=r.randint(0, 560))) if r.random() < 0.08 else None))
    agents = [(i, name, [1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 4, 4, 5, 5, 1, 2][i - 1], r.choice(["06:00", "08:00", "08:00", "14:00"]), r.choice(["14:30", "16:30", "17:00", "22:00"]), 1 if i in {10, 13, 17, 18} else 0, r.choice([1.0, 1.0, 0.8, 0.5]), f"{r.randint(2006, 2023)}-{r.randint(1, 12):02d}-01") for i, name in enumerate(AGENTS, 1)]
    assets: list[list[Value]] = []
    history: list[tuple[Value, ...]] = []
    installs: list[tuple[Value, ...]] = []
    bought_of: dict[str, date] = {}
    counts: dict[str, int] = {}
    for i in range(1, 381):
        cls = r.choices(list(MODELS), [40, 24, 4, 9, 15, 5, 3])[0]
        maker, model, price = r.choice(MODELS[cls])
        day = date(2017, 3, 1) + timedelta(days=int(2700 * r.random() ** 0.7))
        site = "RZ" if cls == "SRV" else r.choices(["KL", "SM", "FZ", "VW"], [55, 20, 12, 13])[0]
        counts[cls] = counts.get(cls, 0) + 1
        number = f"A{20000 + i * 7}"
        bought_of[number] = day
        hostname = None if cls == "MON" else f"{site}-{cls}-{counts[cls]:04d}"
        state = r.choices(["in use", "In Use", "stock", "repair", "scrapped", "lost?"], [70, 6, 8, 4, 10, 2])[0]
        holder: int | None = None
        if cls in {"NB", "DT", "TAB", "MON"} and r.random() < 0.9:
            start = day + timedelta(days=r.randint(3, 60))
            for turn in range(r.choices([1, 2, 3], [60, 30, 10])[0]):
                holder = r.randint(1, 280)
                end = start + timedelta(days=r.randint(150, 900))
                ends = end > date(2024, 7, 1)
                history.append((number, holder, str(start), "9999-12-31" if ends and state != "scrapped" else str(min(end, date(2024, 7, 1))), r.choice(["new", "leaver", "swap", "", None]) if turn else "new"))
                if ends:
                    break
                holder = None
                start = end + timedelta(days=r.randint(1, 30))
            holder = holder if state not in {"scrapped", "stock"} else None
        until = day + timedelta(days=365 * r.choice([2, 3, 3, 5]))
        computer = cls in {"NB", "DT", "SRV"}
        assets.append([number, cls, hostname, f"{r.choice('CPMX')}{r.randint(10**7, 10**8 - 1)}" if r.random() < 0.95 else r.choice([None, "", "n/a"]), maker, model, f"{day:%d.%m.%Y}", round(price * r.uniform(0.9, 1.1), 2) if r.random() < 0.96 else None, until.year * 100 + until.month,
                       site, f"{r.choice('ABCU')}{r.randint(0, 4)}.{r.randint(1, 40):02d}" if r.random() < 0.85 else None, holder, state, r.choice(["Windows 10", "Windows 11", "win10", "Windows 11"]) if cls in {"NB", "DT"} else "Linux" if cls == "SRV" else None,
                       r.choice([8, 16, 16, 32]) * (8 if cls == "SRV" else 1) if computer else None, r.randint(1, 88) if computer and r.random() < 0.9 else None, f"10.{len(site) + i % 4}.{i % 30}.{r.randint(2, 250)}" if hostname and r.random() < 0.9 else None, "n/a" if not computer else r.choice(["yes", "yes", "no"])])
        if cls in {"NB", "DT"}:
            for sw in sorted(r.sample(range(1, 11), r.choice([1, 2, 3, 3]))):
                installs.append((number, sw, str(day + timedelta(days=r.randint(5, 400))) if r.random() < 0.9 else None))
    notebooks = [a for a in assets if a[1] == "NB"]
    notebooks[60][2] = notebooks[17][2]
    tickets: list[list[Value]] = []
    log: list[tuple[Value, ...]] = []
    work: list[tuple[Value, ...]] = []
    busy = [1 / (1 + i % 90) ** 0.7 if i % 6 else 0 for i in range(300)]
    moments = sorted(begin + (last - begin) * r.random() ** 0.85 for _ in range(830))
    by_user: dict[int, list[str]] = {}
    for asset in assets:
        if isinstance(asset[11], int):
            by_user.setdefault(asset[11], []).append(str(asset[0]))
    servers = [str(a[0]) for a in assets if a[1] in {"SRV", "SW"}]
    for i, drawn in enumerate(moments):
        number = 48000 + i + (i // 300) * 5
        moment = drawn.replace(hour=r.choices(range(24), [1, 1, 1, 1, 1, 2, 6, 14, 20, 18, 16, 13, 9, 12, 12, 10, 8, 6, 4, 3, 2, 2, 1, 1])[0], minute=r.randint(0, 59), second=0)
        topic = r.choices(list(TOPICS), [20, 12, 14, 11, 18, 6, 12, 7])[0]
        subjects, team, typical = TOPICS[topic]
        kind = "SRQ" if topic in {"access", "order"} else "CHG" if r.random() < 0.04 else r.choice(["INC"] * 30 + ["inc"])
        prio = r.choices([1, 2, 3, 4, 9], [14, 30, 45, 8, 3] if topic in {"server", "network"} else [2, 14, 62, 19, 3])[0]
        alarm = topic == "server"
        user = None if alarm else r.choices(range(1, 301), busy)[0]
        own = by_user.get(user or 0, [])
        fit = [n for n in (servers if alarm else own) if str(bought_of[n]) < str(moment)]
        asset_no = r.choice(fit) if fit and topic in {"hardware", "server", "application", "network"} and r.random() < 0.75 else None
        agent = r.choice([a[0] for a in agents if a[2] == team and a[0] not in {19, 20}])
        minutes = max(4, int(typical * r.lognormvariate(-0.1, 0.8) * {1: 0.25, 2: 0.55, 9: 4}.get(prio, 1) * (9 if i > 790 else 1)))
        at, state = moment, "NEW"
        log.append((number, None, "NEW", at, r.choice([1, 2, 3, 4, 5]) if not alarm else None))
        path = ["ASG", "WIP", *(["WAIT", "WIP"] if r.random() < 0.18 else []), "RES", *(["REO", "WIP", "RES"] if r.random() < 0.05 else []), "CLS"]
        dup = r.choice(tickets[-8:])[0] if tickets and r.random() < 0.025 else None
        path = ["CANC"] if dup or r.random() < 0.03 else path if team != 1 or r.random() < 0.3 else ["WIP", "RES", "CLS"]
        resolved: datetime | None = None
        for step in path:
            at += timedelta(minutes=1 + int(minutes * r.random() * 1.2 / max(len(path) - 2, 1)) if step != "CLS" else r.choice([5, 60, 2880, 4320]))
            if at > last:
                break
            log.append((number, state, step, at, agent))
            resolved = at if step == "RES" else resolved
            state = step
            if step in {"WIP", "RES"} and r.random() < 0.6:
                spent = r.choice([5, 10, 10, 15, 20, 30, 45, 60, 90, 150])
                work.append((number, agent, str(at)[:10], f"{spent // 60}:{spent % 60:02d}", 6400 if team < 3 else 8800, r.choice([None, "", "remote session", "on site", "called vendor", "walked user through it"])))
        done = state in {"CLS", "CANC"}
        breach = None if resolved is None else int((resolved - moment).total_seconds() / 60 > SLA[prio][1])
        shown = {"CANC": r.choice(["CANC", "cancelled"])}.get(state, state)
        tickets.append([number, kind, prio, "A" if alarm else r.choices("PMWF", [40, 22, 34, 4])[0], user, asset_no, team, agent if state != "NEW" else None, topic, r.choice(subjects), str(moment)[:16], str(at)[:16] if done else None,
                        "WIP" if done and i % 75 == 5 else shown, breach, r.choices([5, 4, 3, 2, 1], [46, 26, 12, 7, 9])[0] if state == "CLS" and r.random() < 0.3 else None, dup])
    work += [(47001 + i, 2, "2022-09-02", "0:20", 6400, "migrated") for i in range(4)]
    kpis: list[tuple[Value, ...]] = []
    for m in range(24):
        month = f"{2022 + (8 + m) // 12}-{(8 + m) % 12 + 1:02d}"
        for team in range(1, 6):
            mine = [t for t in tickets if str(t[10]).startswith(month) and t[6] == team]
            rated = [t[13] for t in mine if t[13] is not None]
            stars = [int(str(t[14])) for t in mine if t[14] is not None]
            kpis.append((month, team, len(mine), round(rated.count(0) / len(rated), 3) if rated else None, round(r.uniform(0.4, 0.8) if team == 1 else r.uniform(0.02, 0.2), 2), round(sum(stars) / len(stars), 2) if stars else None,
                         sum(1 for t in tickets if t[6] == team and str(t[10])[:7] <= month and (t[11] is None or str(t[11])[:7] > month))))
    log.sort(key=lambda row: (row[3], row[0]))
    rows = [(i, n, old, new, timegm(at.timetuple()), by) for i, (n, old, new, at, by) in enumerate(log, 1)]
    slas = [(p, t, a * (2 if t == "CHG" else 1), b * (3 if t == "CHG" else 1), 99.5 if p == 1 else 95.0) for p, (a, b) in SLA.items() for t in ("INC", "SRQ", "CHG") if (p, t) != (9, "INC")]
    return TABLES + "".join([
        insert("tbl_org", [(i, parent, name, f"{4000 + i * 10}" if i > 5 else None, lvl) for i, (parent, name, lvl) in enumerate(ORGS, 1)]), insert("tbl_site", SITES), insert("tbl_users", users), insert("tbl_team", TEAMS), insert("tbl_agent", agents), insert("tbl_assets", assets),
        insert("tbl_asset_history", history), insert("tbl_software", [(i, *row) for i, row in enumerate(SOFTWARE, 1)]), insert("tbl_install", installs), insert("tbl_sla", slas), insert("tbl_ticket", tickets), insert("tbl_status_log", rows), insert("tbl_worklog", work), insert("tbl_kpi", kpis),
    ])
