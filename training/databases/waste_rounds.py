"""Warehouse of the waste service of Waimara, a district in New Zealand: rounds and their stops, vehicles, shifts, weighings at the
two transfer stations, sensors in bins, missed collections. July 2022 to June 2024 (the council's years begin in July).

Size: 12 tables, 99 columns, 5326 rows.

Messy on purpose:
- Tables are dim_ and fact_, of a warehouse that copies three older systems; stg_fuel_card is a raw import.
- Weights: fact_weighing.gross and tare are kg at the station KAU and t at the station RIV; wt_unit ('kg', 't', 'T') says which; net_kg is
  always kg, NULL where the tare was forgotten. dim_vehicle.payload_t is tonnes, fact_month.tonnes too, dim_bin.tare_g grams.
- Dates: shift_dt is a yyyymmdd integer, fact_month.mon a text like 'Mar-24', stg_fuel_card."Date" dd/mm/yyyy, sensor events Unix
  seconds (UTC), dim_* valid_from and valid_to ISO.
- Times: start_tm and end_tm are HH:MM (end after midnight is smaller than start); break_min minutes; engine_run is 'H:MM', idle_ms ms.
- dim_route is history: a route_cd has several rows (route_key) with valid_from, valid_to (NULL is the current one); facts point to
  route_key. area_cd is a hierarchy in dim_area (parent_area): ward, town, district.
- waste_cd: GEN general, REC recycling, ORG food and garden, GLS glass, HZD hazardous; dim_waste knows all but HZD, which some
  weighings have: those references hang in the air. fact_shift.status: 'DONE', 'Done', 'part', 'PART', 'CANC', 'cancelled'.
- Flags: dim_vehicle.electric 1/0, tail_lift 'Y'/'N', fact_missed.valid_claim 'T'/'F'/NULL. Contamination: fact_weighing.contam a share
  (0.07), fact_month.contam_pct of 100 (7.0).
- Money: gate_fee in cents, stg_fuel_card."Amount" a text like '$1,204.50', dim_waste.fee_t dollars per tonne.
- fact_sensor.ev: FILL (val is percent full), TEMP (val is °C), TILT (val is 1), BATT (val is volts), LOST (val NULL). -1 and 127 are errors.
- Two vehicles share a plate (it was moved to the new one); some bins never sent anything, a driver never drove; fuel cards name the plate
  with or without blanks and hyphens, and one that nobody knows.

Broken keys: fact_weighing (16).
"""

from __future__ import annotations

import random
from calendar import timegm
from datetime import date, datetime, timedelta

from training.script import insert

# fmt: off
TABLES = """
CREATE TABLE dim_area (area_cd TEXT PRIMARY KEY, area_nm TEXT, parent_area TEXT REFERENCES dim_area(area_cd), lvl INTEGER, households INTEGER, rural TEXT);
CREATE TABLE dim_waste (waste_cd TEXT PRIMARY KEY, descr TEXT, fee_t REAL, recyclable INTEGER);
CREATE TABLE dim_vehicle (veh_id INTEGER PRIMARY KEY, plate TEXT, make TEXT, kind TEXT, payload_t REAL, electric INTEGER, tail_lift TEXT, bought INTEGER, sold_dt TEXT, depot TEXT);
CREATE TABLE dim_driver (drv_id INTEGER PRIMARY KEY, nm TEXT, licence TEXT, hired TEXT, left_dt TEXT, agency TEXT);
CREATE TABLE dim_route (route_key INTEGER PRIMARY KEY, route_cd TEXT, name TEXT, area_cd TEXT REFERENCES dim_area(area_cd), waste_cd TEXT REFERENCES dim_waste(waste_cd), weekday INTEGER, every_wk INTEGER, stops INTEGER,
  dist_km REAL, valid_from TEXT, valid_to TEXT);
CREATE TABLE dim_bin (bin_id TEXT PRIMARY KEY, area_cd TEXT REFERENCES dim_area(area_cd), place TEXT, waste_cd TEXT REFERENCES dim_waste(waste_cd), litres INTEGER, tare_g INTEGER, sensor_no TEXT, placed TEXT, removed TEXT);
CREATE TABLE fact_shift (shift_id INTEGER PRIMARY KEY, shift_dt INTEGER, route_key INTEGER REFERENCES dim_route(route_key), veh_id INTEGER REFERENCES dim_vehicle(veh_id), drv_id INTEGER REFERENCES dim_driver(drv_id), runner_id INTEGER
  REFERENCES dim_driver(drv_id), start_tm TEXT, end_tm TEXT, break_min INTEGER, odo_start INTEGER, odo_end INTEGER, engine_run TEXT, idle_ms INTEGER, bins_done INTEGER, status TEXT);
CREATE TABLE fact_weighing (ticket TEXT PRIMARY KEY, shift_id INTEGER REFERENCES fact_shift(shift_id), station TEXT, waste_cd TEXT REFERENCES dim_waste(waste_cd), weigh_tm TEXT, gross REAL, tare REAL, wt_unit TEXT, net_kg REAL,
  contam REAL, gate_fee INTEGER);
CREATE TABLE fact_sensor (ev_id INTEGER PRIMARY KEY, bin_id TEXT REFERENCES dim_bin(bin_id), ts INTEGER, ev TEXT, val REAL, rssi INTEGER);
CREATE TABLE fact_missed (call_no INTEGER PRIMARY KEY, called_dt INTEGER, route_key INTEGER REFERENCES dim_route(route_key), street TEXT, house_no TEXT, channel TEXT, valid_claim TEXT, fixed_days INTEGER);
CREATE TABLE fact_month (mon TEXT, area_cd TEXT REFERENCES dim_area(area_cd), waste_cd TEXT REFERENCES dim_waste(waste_cd), tonnes REAL, contam_pct REAL, target_t REAL, shifts INTEGER, PRIMARY KEY (mon, area_cd, waste_cd));
CREATE TABLE stg_fuel_card ("Card No" TEXT, "Date" TEXT, "Plate" TEXT, "Litres / kWh" REAL, "Amount" TEXT, "Site" TEXT);
CREATE VIEW current_route AS SELECT route_key, route_cd, name, area_cd, waste_cd, weekday, stops, dist_km FROM dim_route WHERE valid_to IS NULL;
"""

AREAS = [("WMR", "Waimara District", None, 0, None, None), ("KAU", "Kauri Flat", "WMR", 1, 9400, "N"), ("RIV", "Riverton North", "WMR", 1, 6100, "N"), ("HIL", "Hill Country", "WMR", 1, 2300, "Y"), ("KAU-C", "Kauri Flat Central", "KAU", 2, 4100, "N"), ("KAU-E", "East Beach", "KAU", 2, 3200, "N"),
         ("KAU-S", "Te Puke Road", "KAU", 2, 2100, "N"), ("RIV-C", "Riverton Central", "RIV", 2, 3700, "N"), ("RIV-W", "West Bank", "RIV", 2, 2400, None), ("HIL-1", "Ōtawa Valley", "HIL", 2, 1300, "Y"), ("HIL-2", "Mangaroa", "HIL", 2, 1000, "Y")]
WASTES = [("GEN", "General waste", 214.5, 0), ("REC", "Mixed recycling", 96.0, 1), ("ORG", "Food and garden", 118.0, 1), ("GLS", "Glass", 42.5, 1), ("TEX", "Textiles", None, 1)]
VEHICLES = [(1, "KXR418", "Hinaro", "rear", 9.5, 0, "Y", 2013, "2023-08-31", "Kauri Flat"), (2, "LPN207", "Hinaro", "side", 10.0, 0, "N", 2017, None, "Kauri Flat"), (3, "LQD553", "Hinaro", "side", 10.0, 0, "N", 2017, None, "Kauri Flat"), (4, "MBT190", "Scandor", "side", 11.5, 0, "N", 2019, None, "Riverton"),
            (5, "MBT191", "Scandor", "side", 11.5, 0, "N", 2019, None, "Riverton"), (6, "NHC882", "Voltra", "side", 8.0, 1, "N", 2022, None, "Kauri Flat"), (7, "NXJ036", "Voltra", "side", 8.0, 1, "N", 2023, None, "Kauri Flat"), (8, "KXR418", "Voltra", "rear", 7.5, 1, "Y", 2023, None, "Kauri Flat"),
            (9, "JDF771", "Okano", "flatbed", 3.2, 0, "Y", 2009, None, ""), (10, "KAA904", "Scandor", "glass", 9.0, 0, "N", 2012, None, "riverton")]
DRIVERS = [(1, "Hemi Paki", "4", "2009-02-16", None, ""), (2, "Dave Thomson", "4", "2004-07-01", "2023-11-30", ""), (3, "Losa Faleolo", "4", "2018-05-07", None, None), (4, "Priya Nair", "2", "2021-01-11", None, None), (5, "Wiremu Tane", "4", "2015-09-21", None, ""), (6, "Kevin O'Brien", "4", "1999-03-08", None, ""),
           (7, "Arun Singh", "2", "2022-08-01", None, "LabourPlus"), (8, "Mele Tupou", "2", "2022-11-14", "2023-06-30", "LabourPlus"), (9, "Jo Whittaker", "4", "2020-02-03", None, None), (10, "Sione Tupou", "2", "2023-07-03", None, "Labour Plus"), (11, "Dave Thompson", "2", "2023-12-04", None, "LabourPlus"), (12, "Aroha King", "4", "2024-06-24", None, None)]
STREETS = ["Marine Parade", "Kōwhai St", "Station Rd", "Te Puke Rd", "High St", "High Street", "Rimu Cres", "Mangaroa Valley Rd", "Beach Rd", "Totara Ave", "Queen St"]
PLACES = ["beach car park", "library", "skate park", "bus station", "marina", "grocer", "rugby club", "playground", "campground", "visitor centre", "", "lookout"]
FIRST, LAST = date(2022, 7, 1), date(2024, 6, 30)


def number(day: date) -> int:
    """20240131 of a day."""
    return int(f"{day:%Y%m%d}")


def clock(minute: int) -> str:
    """HH:MM of minutes after midnight."""
    return f"{minute // 60 % 24:02d}:{minute % 60:02d}"


def routes(r: random.Random) -> list[tuple]:
    rows: list[tuple] = []
    base = {a[0]: a[4] for a in AREAS}
    for area in ("KAU-C", "KAU-E", "KAU-S", "RIV-C", "RIV-W", "HIL-1", "HIL-2"):
        for waste in ("GEN", "REC", "ORG", "GLS"):
            if (waste == "ORG" and area.startswith("HIL")) or (waste == "GLS" and area not in {"KAU-C", "RIV-C"}):
                continue
            code, day = f"{area[:3]}{'G R O L'.split()[['GEN', 'REC', 'ORG', 'GLS'].index(waste)]}{len({row[1] for row in rows}) + 1}", r.randint(1, 5)
            km = round(float(base[area] or 0) ** 0.5 * (2.6 if area.startswith("HIL") else 0.72) * r.uniform(0.9, 1.2), 1)
            stops, often = int(float(base[area] or 0) * r.uniform(0.2, 0.26)), 1 if waste in {"GEN", "ORG"} else 2 if waste == "REC" else 4
            begins = "2023-07-03" if waste == "ORG" else "2020-07-01"
            changed = r.random() < 0.45 and waste != "ORG"
            name = f"{next(a[1] for a in AREAS if a[0] == area)} {waste.title()}"
            rows.append((len(rows) + 1, code, name, area, waste, day, often, stops, km, begins, "2023-07-02" if changed else None))
            if changed:
                rows.append((len(rows) + 1, code, name if r.random() < 0.7 else name + " (new)", area, waste, day % 5 + 1, 2 if waste == "GEN" and r.random() < 0.4 else often, int(stops * 1.08), round(km * r.uniform(0.88, 1.05), 1), "2023-07-03", None))
    return rows


def build(r: random.Random) -> str:
    rounds, odo = routes(r), {v[0]: r.randint(9000, 30000) + (2022 - min(v[7], 2022)) * 21000 for v in VEHICLES}
    shifts, tickets, sums, worked = [], [], {}, {}
    day = FIRST
    while day <= LAST:
        for route in rounds:
            turn = (day - date(2020, 7, 6)).days // 7
            live = route[9] <= str(day) <= (route[10] or "9999")
            if not live or day.isoweekday() != route[5] or (turn + route[0]) % route[6]:
                continue
            key = len(shifts) + 1
            fleet = [v for v in VEHICLES if v[0] not in {9, 10} and v[7] <= day.year - (v[7] == 2023 and day.month < 8) and (v[8] is None or str(day) <= v[8])]
            if route[4] == "GLS":
                fleet = [VEHICLES[9]]
            near = [v for v in fleet if (v[9] == "Riverton") == (route[3][:3] == "RIV")] or fleet
            veh = r.choice(near if r.random() < 0.85 else fleet)
            crew = [d for d in DRIVERS[:11] if d[3] <= str(day) <= (d[4] or "9999")]
            drv = r.choice([d for d in crew if d[2] == "4"])
            second = r.choice([d for d in crew if d[0] != drv[0]]) if veh[3] == "rear" or r.random() < 0.2 else None
            storm = day in {date(2023, 2, 14), date(2023, 2, 15), date(2023, 1, 27)}
            holiday = (day.month, day.day) in {(12, 25), (1, 1), (2, 6), (4, 25)}
            status = r.choice(["CANC", "cancelled"]) if storm or (holiday and r.random() < 0.7) or r.random() < 0.008 else r.choices(["DONE", "Done", "part", "PART"], [30, 6, 1, 1])[0]
            if status in {"CANC", "cancelled"}:
                shifts.append((key, number(day), route[0], veh[0], None, None, None, None, None, None, None, None, None, 0, status))
                continue
            begin, share = r.choice([330, 345, 360, 360, 390, 1080 if route[4] == "GLS" else 375]), 1.0 if status.lower() == "done" else r.uniform(0.3, 0.8)
            lasts = int((200 + route[8] * 1.4 + route[7] * 0.16) * share * r.uniform(0.9, 1.2))
            drove = int(route[8] * 1.3 * share + r.randint(12, 40))
            before = odo[veh[0]]
            odo[veh[0]] += drove + r.choice([0, 0, 0, 3, 15])
            done = int(route[7] * share * min(1.0, r.gauss(0.82, 0.07)))
            run = int(lasts * r.uniform(0.8, 0.97))
            shifts.append((key, number(day), route[0], veh[0], drv[0], second[0] if second else None, clock(begin), clock(begin + lasts) if r.random() < 0.97 else None, r.choice([0, 30, 30, 30, 45, None]), before, before + drove if r.random() < 0.98 else before + drove * 10,
                           f"{run // 60}:{run % 60:02d}" if not veh[5] else None, int(run * 60000 * r.uniform(0.05, 0.3)) + r.randint(0, 999), done, status))
            season = {12: 1.2, 1: 1.25, 2: 1.1, 7: 0.92}.get(day.month, 1.0) * (1.35 if route[3] == "KAU-E" and day.month in {12, 1} else 1) if route[4] != "ORG" else {9: 1.2, 10: 1.4, 11: 1.35, 6: 0.7, 7: 0.65}.get(day.month, 1.0)
            kilos = done * {"GEN": 9.6 if day < date(2023, 7, 3) else 7.4, "REC": 5.1, "ORG": 6.3, "GLS": 6.0}[route[4]] * season * r.uniform(0.88, 1.12)
            loads = max(1, int(kilos / (veh[4] * 950)) + 1)
            for n in range(loads):
                station = ("RIV" if route[3].startswith("RIV") else "KAU") if r.random() < 0.93 else r.choice(["RIV", "KAU"])
                tare, net = veh[4] * 1000 * 1.15 + r.randint(-60, 90), kilos / loads
                tare, net = round(tare, -1), round(net, -1)
                unit, scale = ("kg", 1) if station == "KAU" else (r.choice(["t", "t", "t", "T"]), 1000)
                forgot = r.random() < 0.02
                dirty = round(min(0.6, r.betavariate(2, 24 if route[4] != "REC" else 14)), 3) if route[4] in {"REC", "ORG"} and r.random() < 0.8 else None
                fee = next(w[2] for w in WASTES if w[0] == route[4])
                odd = r.random() < 0.008
                tickets.append((f"{station}{day:%y}{len(tickets) + 1:05d}", key if r.random() < 0.985 else None, station, "HZD" if odd else route[4], clock(begin + int(lasts * (n + 1) / loads) - r.randint(5, 30)), (tare + net) / scale, None if forgot else tare / scale, unit, None if forgot else net,
                                dirty, round(net / 1000 * float(fee or 0) * 100)))
                cell = sums.setdefault((day.year, day.month, route[3], route[4]), [0.0, 0.0, 0.0])
                cell[0] += net / 1000
                if dirty is not None:
                    cell[1], cell[2] = cell[1] + dirty * net, cell[2] + net
            cell = worked.setdefault((day.year, day.month, route[3], route[4]), [0])
            cell[0] += 1
        day += timedelta(days=1)
    months = []
    for at, (tonnes, bad, weighed) in sorted(sums.items()):
        if at[:3] == (2023, 4, "HIL-2"):
            continue
        months.append((f"{date(at[0], at[1], 1):%b-%y}", at[2], at[3], round(tonnes, 2), round(100 * bad / weighed, 1) if weighed else None, float(round(tonnes * r.uniform(0.85, 1.15))) if r.random() < 0.9 else None, worked[at][0]))
    bins = [(f"B{i:03d}", r.choices([a[0] for a in AREAS[4:]], [9, 8, 3, 7, 3, 1, 1])[0], r.choice(PLACES), r.choices(["GEN", "REC", "GLS", "TEX"], [8, 4, 2, 1])[0], r.choice([120, 240, 240, 660, 1100]), r.choice([9400, 14200, 14250, 41000, None]), f"S-{r.randint(10000, 99999)}" if i % 6 else None,
             str(date(2021, 1, 1) + timedelta(days=r.randint(0, 800))), "2024-02-29" if i in {7, 23} else None) for i in range(1, 49)]
    events = []
    for b in bins:
        if b[6] is None:
            continue
        fill, rate = r.uniform(0, 60), r.uniform(3, 24)
        at = datetime(2024, 3, 25, r.randint(0, 5), r.randint(0, 59))
        while at < datetime(2024, 5, 6) and (b[8] is None or str(at.date()) < b[8]):
            fill += rate * (1.7 if at.weekday() >= 5 and "beach" in b[2] else 1) * r.uniform(0.4, 1.6)
            if fill > r.uniform(60, 115):
                fill = r.uniform(0, 6)
            stamp, signal = timegm(at.timetuple()) + r.randint(0, 59), r.randint(-118, -71)
            events.append((b[0], stamp, "FILL", r.choice([-1.0, 127.0]) if r.random() < 0.008 else float(int(min(fill, 100))), signal))
            if r.random() < 0.16:
                events.append((b[0], stamp + 2, *r.choices([("TEMP", round(r.gauss(16, 5), 1)), ("TILT", 1.0), ("BATT", round(r.uniform(3.1, 3.7), 2)), ("LOST", None)], [8, 1, 5, 1])[0], signal))
            if b[0] == "B017" and fill > 50 and r.random() < 0.1:
                events.append((b[0], stamp + 3, "TEMP", 71.5, signal))
            at += timedelta(hours=r.choice([24, 24, 24, 25, 48]))
    events.sort(key=lambda e: (e[1], e[0]))
    missed = []
    for _ in range(340):
        s = r.choice(shifts)
        if s[14] in {"DONE", "Done"} and r.random() < 0.35:
            continue
        when = datetime.strptime(str(s[1]), "%Y%m%d").date() + timedelta(days=r.choice([0, 1, 1, 2, 4]))
        valid = r.choices(["T", "F", None], [6, 4, 2])[0]
        missed.append((number(when), s[2], r.choices(STREETS, [9, 5, 6, 3, 6, 3, 4, 3, 5, 4, 6])[0], f"{r.randint(1, 180)}{r.choice(['', '', '', 'A', 'b'])}", r.choices(["phone", "app", "Phone", "email", None], [8, 7, 1, 3, 1])[0], valid, r.choices([0, 1, 2, 3, 7, None], [2, 6, 5, 3, 1, 1])[0] if valid == "T" else None))
    missed.sort(key=lambda m: (m[0], m[1], m[2]))
    fuel = []
    for _ in range(420):
        veh = r.choice([v for v in VEHICLES if v[0] != 9])
        when = FIRST + timedelta(days=r.randint(0, 729))
        if (veh[8] and str(when) > veh[8]) or when < date(veh[7], 8, 1):
            continue
        much = round(r.uniform(90, 210) if veh[5] else r.uniform(70, 320), 1)
        cost = much * (0.31 if veh[5] else {2022: 2.55, 2023: 2.2, 2024: 2.1}[when.year] * r.uniform(0.95, 1.06))
        if r.random() < 0.02:
            cost, much = cost * 10, much * 10
        plate = r.choice([veh[1], veh[1], veh[1], veh[1][:3] + " " + veh[1][3:], veh[1][:3] + "-" + veh[1][3:], veh[1].lower()]) if r.random() < 0.99 else "PZZ001"
        fuel.append((when, f"7001{veh[0]:02d}{r.randint(1, 2)}", plate, much, f"${cost:,.2f}", r.choice(["Depot", "Depot", "Kauri Fuel", "Riverton Fuel", "depot", None]) if not veh[5] else "Depot charger"))
    fuel = [(f[1], f"{f[0]:%d/%m/%Y}", *f[2:]) for f in sorted(fuel, key=lambda f: (f[0], f[1]))]
    return TABLES + "".join([
        insert("dim_area", AREAS), insert("dim_waste", WASTES), insert("dim_vehicle", VEHICLES), insert("dim_driver", DRIVERS), insert("dim_route", rounds), insert("dim_bin", bins), insert("fact_shift", shifts), insert("fact_weighing", tickets),
        insert("fact_sensor", [(i, *e) for i, e in enumerate(events, start=1)]), insert("fact_missed", [(4000 + i, *m) for i, m in enumerate(missed, start=1)]), insert("fact_month", months), insert("stg_fuel_card", fuel),
    ])
