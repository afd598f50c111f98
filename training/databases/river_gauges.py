"""Weather and river gauge network of a water board in the upper Aare and Inn valleys: stations, readings every hour of two wet weeks,
daily values of five stations, alarms, upkeep. January 2023 to June 2024.

Size: 11 tables, 92 columns, 7668 rows.

Messy on purpose:
- Missing readings are -999 (older loggers), NULL (newer ones) or no row at all; a stuck sensor repeats a value. daily has -999 and -99.9.
- Moments: reading.ts is Unix seconds (UTC, full hours), alarm.raised_ts and cleared_ts too (NULL: still on); daily.day is ISO,
  maintenance.valid_from and valid_to are ISO with HH:MM (valid_to NULL: still going on), sensor.installed is yyyymmdd, forecast.run 'YYYY-MM-DD HH'.
- Units are in names, but not everywhere: temp_c, rain_mm, wind_kmh, level_cm, flow_m3s; reading.press is hPa; reading.water_t is degrees Celsius;
  daily.wind_max is metres a second; daily.snow_in is inches (an American logger). station.elev_m is above the sea, threshold.value
  is in the unit that threshold.unit says (cm, m3s, mm, kmh); rating.h_cm to rating.q_m3s is the rating curve.
- station.kind without a lookup table: W weather, R river gauge, B both, S snow pillow. station.status: 'active', 'ACTIVE', 'closed', 'test'.
- Two alarms of SPO01 have no cleared_ts because nobody cleared them; the water fell long before.
- Alarm levels are 1 yellow, 2 orange, 3 red, 4 violet in threshold and alarm; forecast.level is text ('yellow'), with 'none'. alarm.ack
  is 'Y', 'N' or NULL. reading.q is a quality flag: 0 raw, 1 checked, 2 estimated, 9 bad; readings with q = 9 are not to be used.
- river is a tree (into_id: the river it flows into). station.replaces points at the station that stood there before.
- maintenance.kind: cal calibration, rep repair, cln cleaning, bat battery, vis visit; cost_chf is text with an apostrophe ("1'250.00").
- Flags: sensor.active 0/1, observer.paid T/F, station.telemetry 'yes'/'no'. humidity is in percent (84), daily.sun a fraction of the possible.
- daily has the key (stn, day) and stn is station.code, but no key is declared; reading.station_id and maintenance.station_id are declared.
- Two stations are called Brücke, two observers have the same name, one station has no sensor, three rivers no station; ties in rain are many.
"""

from __future__ import annotations

import math
import random
from calendar import timegm
from datetime import UTC, date, datetime, timedelta

from training.script import Value, insert

# fmt: off
TABLES = """
CREATE TABLE river (river_id INTEGER PRIMARY KEY, name TEXT, into_id INTEGER REFERENCES river(river_id), length_km REAL, basin_km2 REAL);
CREATE TABLE observer (observer_id INTEGER PRIMARY KEY, name TEXT, phone TEXT, language TEXT, paid TEXT, since INTEGER);
CREATE TABLE station (station_id INTEGER PRIMARY KEY, code TEXT UNIQUE, name TEXT, kind TEXT, river_id INTEGER REFERENCES river(river_id), river_km REAL, canton TEXT, lat REAL, lon REAL, elev_m INTEGER,
  opened TEXT, closed TEXT, status TEXT, telemetry TEXT, observer_id INTEGER REFERENCES observer(observer_id), replaces INTEGER REFERENCES station(station_id));
CREATE TABLE sensor (sensor_id INTEGER PRIMARY KEY, station_id INTEGER REFERENCES station(station_id), measures TEXT, maker TEXT, serial TEXT, installed INTEGER, removed INTEGER, every_min INTEGER, active INTEGER);
CREATE TABLE reading (station_id INTEGER REFERENCES station(station_id), ts INTEGER, temp_c REAL, humidity INTEGER, press REAL, wind_kmh REAL, rain_mm REAL, level_cm INTEGER, flow_m3s REAL, water_t REAL, batt_v REAL, q INTEGER,
  PRIMARY KEY (station_id, ts));
CREATE TABLE daily (stn TEXT, day TEXT, t_min REAL, t_max REAL, rain REAL, snow_in REAL, wind_max REAL, sun REAL, level_max INTEGER, n INTEGER, PRIMARY KEY (stn, day));
CREATE TABLE threshold (station_id INTEGER REFERENCES station(station_id), quantity TEXT, level INTEGER, value REAL, unit TEXT, valid_from TEXT, valid_to TEXT, PRIMARY KEY (station_id, quantity, level, valid_from));
CREATE TABLE alarm (alarm_id INTEGER PRIMARY KEY, station_id INTEGER REFERENCES station(station_id), quantity TEXT, level INTEGER, raised_ts INTEGER, cleared_ts INTEGER, peak REAL, ack TEXT, observer_id INTEGER REFERENCES observer(observer_id), note TEXT);
CREATE TABLE maintenance (job_no TEXT PRIMARY KEY, station_id INTEGER REFERENCES station(station_id), kind TEXT, valid_from TEXT, valid_to TEXT, by_whom TEXT, cost_chf TEXT, text TEXT);
CREATE TABLE rating (station_id INTEGER REFERENCES station(station_id), h_cm INTEGER, q_m3s REAL, version INTEGER, PRIMARY KEY (station_id, version, h_cm));
CREATE TABLE forecast (run TEXT, river_id INTEGER REFERENCES river(river_id), ahead_h INTEGER, level TEXT, p REAL, PRIMARY KEY (run, river_id, ahead_h));
CREATE VIEW good_reading AS SELECT station_id, datetime(ts, 'unixepoch') AS at, NULLIF(temp_c, -999) AS temp_c, NULLIF(rain_mm, -999) AS rain_mm, NULLIF(level_cm, -999) AS level_cm, NULLIF(flow_m3s, -999) AS flow_m3s
  FROM reading WHERE q <> 9;
CREATE VIEW open_alarm AS SELECT a.alarm_id, s.code, s.name, a.quantity, a.level, datetime(a.raised_ts, 'unixepoch') AS raised FROM alarm a JOIN station s USING (station_id) WHERE a.cleared_ts IS NULL;
CREATE VIEW month_rain AS SELECT stn, substr(day, 1, 7) AS month, ROUND(SUM(rain), 1) AS rain_mm, COUNT(*) AS days FROM daily WHERE rain > -99 GROUP BY stn, month;
"""

RIVERS = [(1, "Rhein", None, 1233.0, 185000.0), (2, "Aare", 1, 288.2, 17709.0), (3, "Kander", 2, 46.2, 1126.0), (4, "Simme", 3, 55.5, 594.0), (5, "Lütschine", 2, 20.0, 379.0), (6, "Donau", None, 2850.0, 801000.0),
          (7, "Inn / En", 6, 517.0, 26130.0), (8, "Flaz", 7, 6.5, 332.0), (9, "Spöl", 7, 28.0, 295.0), (10, "Engstlige", 3, 24.0, 145.0)]
OBSERVERS = [(1, "Ursina Caduff", "+41 81 555 01 10", "rm", "T", 2008), (2, "Beat Zurbrügg", "+41 33 555 02 20", "de", "T", 1997), (3, "Hans Müller", None, "de", "F", 2015), (4, "Hans Müller", "+41 33 555 07 71", "de", "T", 2019), (5, "Gian-Andri Bezzola", "", "rm", "T", 2011),
             (6, "Chiara Rossi", "+41 91 555 08 00", "it", "F", 2021), (7, "Amélie Jaquet", "+41 26 555 04 40", "fr", "F", 2022), (8, "Priya Nair", None, "en", "F", 2024)]
STATIONS = [("AAR01", "Brienzwiler", "B", 2, 262.0, "BE", 46.748, 8.091, 570), ("AAR02", "Thun Schadau", "R", 2, 212.4, "BE", 46.744, 7.638, 558), ("AAR03", "Brücke", "R", 2, 180.1, "BE", 46.951, 7.451, 502), ("KAN01", "Hondrich", "R", 3, 8.3, "BE", 46.671, 7.69, 650), ("KAN02", "Kandersteg", "B", 3, 36.5, "BE", 46.495, 7.674, 1176),
            ("SIM01", "Latterbach", "R", 4, 5.2, "BE", 46.665, 7.573, 680), ("SIM02", "Lenk", "W", 4, None, "BE", 46.458, 7.445, 1068), ("LUE01", "Gsteig", "R", 5, 3.1, "BE", 46.663, 7.871, 585), ("LUE02", "Kleine Scheidegg", "S", None, None, "BE", 46.585, 7.961, 2061), ("INN01", "S-chanf", "B", 7, 440.0, "GR", 46.621, 9.99, 1645),
            ("INN02", "Martina", "R", 7, 391.2, "GR", 46.885, 10.465, 1035), ("INN03", "Brücke", "R", 7, 455.8, "GR", 46.534, 9.879, 1706), ("FLA01", "Pontresina", "B", 8, 4.4, "GR", 46.495, 9.901, 1774), ("SPO01", "Punt dal Gall", "R", 9, 14.0, "GR", 46.63, 10.19, 1680), ("COR01", "Corvatsch", "S", None, None, "GR", 46.418, 9.821, 3302),
            ("KAN00", "Kandersteg alt", "W", 3, 36.4, "BE", 46.496, 7.675, 1181), ("TST99", "Test Hof", "W", None, None, None, None, None, None)]
COLOURS = ["none", "yellow", "orange", "red", "violet"]
WEEKS = [(date(2023, 11, 11), 5), (date(2024, 5, 30), 9)]


def build(r: random.Random) -> str:
    stations: list[tuple[Value, ...]] = []
    for i, row in enumerate(STATIONS, 1):
        old = row[0] == "KAN00"
        stations.append((i, *row, f"{1922 + i * 6 if not old else 1951}-{i % 12 + 1:02d}-01", "2023-08-31" if old else None, "closed" if old else "test" if i == 17 else r.choice(["active", "active", "ACTIVE"]), "no" if old or i == 9 else "yes", r.choice([1, 5, 6]) if row[5] == "GR" else r.choice([2, 3, 4, 7, None]) if i < 17 else None, 16 if row[0] == "KAN02" else None))
    sensors: list[tuple[Value, ...]] = []
    for i, (_, _, kind, *_rest) in enumerate(STATIONS[:16], 1):
        for what in {"W": ["air", "rain", "wind"], "R": ["level", "water"], "B": ["air", "rain", "wind", "level", "water"], "S": ["air", "snow"]}[kind]:
            for turn in range(2 if r.random() < 0.25 else 1):
                start = r.randint(2009, 2021) * 10000 + r.randint(1, 12) * 100 + 1
                gone = 20230831 if i == 16 else None
                replaced = turn == 0 and sensors and sensors[-1][1] == i and sensors[-1][2] == what
                sensors.append((len(sensors) + 1, i, what, r.choice(["Vaisola", "OTTO Hydro", "Sutra", "otto hydro", None]), f"{r.choice('VSK')}{r.randint(10000, 99999)}" if r.random() < 0.9 else None, start if turn == 0 or replaced else 20230401 + turn * 300, gone, r.choice([10, 10, 60]), 0 if gone else 1))
                if turn == 1:
                    first = sensors[-2]
                    sensors[-2] = (*first[:6], 20230630, first[7], 0)
    limits: list[tuple[Value, ...]] = []
    base: dict[int, int] = {}
    flood: dict[int, list[int]] = {}
    curves: list[tuple[Value, ...]] = []
    for i, row in enumerate(STATIONS[:15], 1):
        if row[2] in "RB":
            base[i] = r.randint(60, 190)
            flood[i] = [base[i] + step for step in (70, 110, 150, 200)]
            for level, value in enumerate(flood[i], 1):
                if i % 4 == 0:
                    limits.append((i, "level", level, float(value - 15), "cm", "2015-01-01", "2023-12-31"))
                limits.append((i, "level", level, float(value), "cm", "2024-01-01" if i % 4 == 0 else "2015-01-01", None))
            for h in range(40, 440, 40):
                curves += [(i, h, round(0.004 * h**1.7 * (0.8 + i / 10), 2), 1)] + ([(i, h, round(0.0044 * h**1.7 * (0.8 + i / 10), 2), 2)] if i % 5 == 0 else [])
        if row[2] in "WB":
            limits += [(i, "rain", level, value, "mm", "2015-01-01", None) for level, value in ((1, 8.0), (2, 14.0), (3, 22.0))]
            limits += [(i, "wind", level, value, "kmh", "2019-06-01", None) for level, value in ((1, 70.0), (2, 100.0))]
    readings: list[tuple[Value, ...]] = []
    alarms: list[list[Value]] = []
    for first, warm in WEEKS:
        start = timegm(first.timetuple())
        storm = [r.randint(50, 70), r.randint(110, 125)]
        for i in sorted({*base, 7, 16, 17}):
            if (i == 16 and first.year == 2024) or (i == 16 and first > date(2023, 8, 31)) or (i == 17 and first.year == 2023):
                continue
            kind, height = STATIONS[i - 1][2], STATIONS[i - 1][8] or 560
            water, now = 0.0, None
            for hour in range(168):
                ts = start + hour * 3600
                near = sum(math.exp(-((hour - s) / 7) ** 2) for s in storm)
                rain = round(max(0.0, r.gauss(near * 6, 2 + near * 2) - 1.5), 1) if near > 0.05 or r.random() < 0.05 else 0.0
                water = water * 0.94 + (rain if near > 0.02 else 0) * 2.2
                dry = kind == "R"
                level = base.get(i, 0) + round(water * (0.7 + i % 4 * 0.28)) + r.randint(-2, 2) if i in base else None
                temp = round(warm + 9 - height / 160 + 4 * math.sin((hour % 24 - 9) / 24 * 2 * math.pi) + r.gauss(0, 0.7), 1)
                wind = round(abs(r.gauss(11 + near * 28, 8 + near * 9)), 1)
                chance = r.random()
                if chance < 0.01 or (i == 6 and 90 <= hour < 101):
                    continue  # the logger was silent
                if i == 4 and first.year == 2024 and 60 <= hour < 75 and level is not None:
                    level = base[i] + 77  # stuck
                gap = -999 if i % 2 else None
                q = 9 if chance > 0.99 else r.choices([0, 1, 2], [30, 65, 5])[0]
                shown = gap if chance < 0.02 else level
                flow = None if level is None else round(0.004 * level**1.7 * (0.8 + i / 10), 2) if shown == level else gap
                readings.append((i, ts, None if dry else gap if 0.02 < chance < 0.03 else temp, None if dry else min(100, int(62 + near * 35 + r.randint(-9, 9))), None if dry or height > 1700 else round(1013 - near * 14 + r.gauss(0, 1), 1), None if dry else wind,
                                 None if dry else gap if 0.03 < chance < 0.04 else rain, shown, flow, round(warm / 2 + 3 + r.gauss(0, 0.3), 1) if level is not None else None, round(12.6 - hour / 900 + r.gauss(0, 0.05), 2), q))
                for what, value in (("level", level), ("rain", None if dry else rain), ("wind", None if dry else wind)):
                    if value is None:
                        continue
                    valid = [t for t in limits if t[0] == i and t[1] == what and str(t[5]) <= str(first) and (t[6] is None or str(t[6]) >= str(first))]
                    reached = max((int(str(t[2])) for t in valid if value >= float(str(t[3]))), default=0)
                    now = next((a for a in reversed(alarms) if a[1] == i and a[2] == what and a[5] is None), None)
                    if now and reached != now[3]:
                        now[5] = ts
                        now = None
                    if now:
                        now[6] = max(float(str(now[6])), value)
                    elif reached:
                        alarms.append([0, i, what, reached, ts, None, value, r.choices(["Y", "N", None], [70, 18, 12])[0], stations[i - 1][14] if r.random() < 0.8 else None, r.choice([None, None, None, "", "wood at the bridge", "fire brigade informed", "false?"])])
            for alarm in alarms:
                if alarm[1] == i and alarm[5] is None and not (first.year == 2024 and i in {2, 5}):
                    alarm[5] = start + 168 * 3600 + 1800
    for alarm in alarms[-2:]:
        alarm[5] = None
    alarms.sort(key=lambda a: (a[4], a[1]))
    for n, alarm in enumerate(alarms, 1):
        alarm[0] = n
    days: list[tuple[Value, ...]] = []
    for i in (1, 5, 7, 15, 16):
        height = int(STATIONS[i - 1][8] or 0)
        for offset in range(547):
            day = date(2023, 1, 1) + timedelta(days=offset)
            if (i == 16 and day > date(2023, 8, 31)) or r.random() < 0.02:
                continue
            mean = 9.5 - height / 190 + 9 - 10 * math.cos((day.timetuple().tm_yday - 20) / 365 * 2 * math.pi) + r.gauss(0, 3) - 7
            rain = round(r.expovariate(1 / 7), 1) if r.random() < 0.42 else 0.0
            snow = round(rain * 0.4, 1) if mean < 1 else 0.0
            lost = r.random()
            days.append((STATIONS[i - 1][0], str(day), -99.9 if lost < 0.008 else round(mean - r.uniform(2, 7), 1), -99.9 if lost < 0.008 else round(mean + r.uniform(2, 8), 1), -999.0 if 0.01 < lost < 0.02 else rain, snow if i in {5, 10, 13, 15} else None, round(r.weibullvariate(9, 1.9), 1),
                         round(r.random() * (0.4 if rain else 1), 2) if lost < 0.95 else None, base[i] + int(rain * 3) + r.randint(-15, 20) if i in base else None, 24 if lost < 0.9 else r.randint(9, 23)))
    jobs: list[tuple[Value, ...]] = []
    for n in range(1, 151):
        kind = r.choices(["cal", "rep", "cln", "bat", "vis", "CAL"], [20, 14, 26, 12, 28, 2])[0]
        at = datetime(2023, 1, 9, 8, tzinfo=UTC) + timedelta(days=int(534 * n / 150), minutes=r.choice([0, 15, 30, 90, 200, 330]))
        end = at + timedelta(minutes=r.choice([20, 45, 60, 90, 180])) if kind != "rep" else at + timedelta(days=r.randint(0, 16), hours=3)
        cost = {"cal": 420, "CAL": 420, "rep": 1350, "cln": 140, "bat": 95, "vis": 60}[kind] * r.uniform(0.7, 1.6)
        jobs.append((f"M{at:%y}-{n:03d}", r.choice([1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 11, 12, 13, 13, 14, 15]), kind, f"{at:%Y-%m-%d %H:%M}", None if n in {146, 149} else f"{end:%Y-%m-%d %H:%M}", r.choice(["board", "board", "Hydrotec AG", "hydrotec", "observer"]),
                     f"{cost:,.2f}".replace(",", "'") if r.random() < 0.92 else r.choice(["", None]), r.choice([None, "", "gravel at the sensor", "spider in the rain gauge", "solar panel cleaned", "vandalism", "new firmware 3.1", "as planned"])))
    runs: list[tuple[Value, ...]] = []
    for first, _ in WEEKS:
        for step in range(7):
            for river in (2, 3, 4, 5, 7, 8):
                for ahead in (12, 24, 48):
                    wet = 1.8 if step in {1, 2, 4} else 0.6
                    worst = min(4, max(0, round(r.gauss(wet, 0.8))))
                    runs.append((f"{first + timedelta(days=step)} 06", river, ahead, COLOURS[worst], round(r.uniform(0.35, 0.95) - ahead / 200, 2)))
    return TABLES + "".join([
        insert("river", RIVERS), insert("observer", OBSERVERS), insert("station", stations), insert("sensor", sensors), insert("reading", readings), insert("daily", days), insert("threshold", limits), insert("alarm", alarms), insert("maintenance", jobs), insert("rating", curves), insert("forecast", runs),
    ])
