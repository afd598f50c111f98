"""Information system of the central laboratory of a Scottish hospital with two sites: orders of the wards and of GPs, samples,
results and their corrections, reference ranges, controls, telephoned criticals. January 2022 to June 2024.

Size: 14 tables, 101 columns, 7499 rows.

Messy on purpose:
- Units: glucose, cholesterol, creatinine, urea, calcium and bilirubin come in mg/dL from the old analyser (OLY, until 2023-03-31) and in
  mmol/L or umol/L from the new ones; result.unit says which, unit_conv holds the factors. ref_range has a row for each unit.
- result.val_txt is what was printed: '5.4', '<3', 'haem.' (no result: haemolysed), ''; val_num is NULL where it is no number.
- Corrections: a wrong result stays, with status 'X' and is_cur 0; the corrected one has status 'C', is_cur 1 and its supersedes is
  the res_id of the wrong one (now and then twice in a row). Other status: P preliminary, F final.
- result.flag: H, L, HH, LL (critical), '' within range, NULL where there's no range.
- Times: "order".ord_dt is ISO and ord_tm HH:MM; sample.coll_tm is HH:MM of the day coll_dt; recv_ms, valid_ms and run_ms are Unix
  milliseconds (UTC); pat.dob is a yyyymmdd integer, 0 where unknown. crit_call.took is in minutes, panel.tat in minutes.
- Codes without a lookup table: prio R routine, U urgent, S stat; pat.sex M, F, U; sample.tube EDT, SST, FLU, CIT, URI; sample.haem_ix 0
  to 3; "order".stat: 'DONE', 'done', 'OPEN', 'CANC', 'cancelled'. rej is Y/N, qc_run.ok 1/0, crit_call.read_back 'yes', 'no' or ''.
- Prices: panel.price_p in pence. Wards have a parent (a directorate). The same person may be in pat twice (two numbers).
- Some wards, requesters and analytes have no orders; ref_range has history (valid_from, valid_to).
"""

from __future__ import annotations

import random
from calendar import timegm
from datetime import date, datetime, timedelta

from training.script import insert

# fmt: off
TABLES = """
CREATE TABLE ward (ward_cd TEXT PRIMARY KEY, ward_nm TEXT, site TEXT, parent_cd TEXT REFERENCES ward(ward_cd), beds INTEGER, pneu_tube TEXT);
CREATE TABLE requester (req_id INTEGER PRIMARY KEY, nm TEXT, role TEXT, ward_cd TEXT REFERENCES ward(ward_cd), bleep TEXT);
CREATE TABLE pat (pat_no INTEGER PRIMARY KEY, fam_nm TEXT, giv_nm TEXT, dob INTEGER, sex TEXT, postcd TEXT, died_dt TEXT, merged_to INTEGER REFERENCES pat(pat_no));
CREATE TABLE panel (panel_cd TEXT PRIMARY KEY, name TEXT, tube TEXT, price_p INTEGER, tat INTEGER);
CREATE TABLE analyte (an_cd TEXT PRIMARY KEY, name TEXT, panel_cd TEXT REFERENCES panel(panel_cd), si_unit TEXT, decimals INTEGER, active INTEGER);
CREATE TABLE unit_conv (an_cd TEXT REFERENCES analyte(an_cd), from_unit TEXT, to_unit TEXT, factor REAL, PRIMARY KEY (an_cd, from_unit, to_unit));
CREATE TABLE ref_range (rr_id INTEGER PRIMARY KEY, an_cd TEXT REFERENCES analyte(an_cd), sex TEXT, unit TEXT, low REAL, high REAL, crit_low REAL,
  crit_high REAL, valid_from TEXT, valid_to TEXT);
CREATE TABLE analyser (anl_id TEXT PRIMARY KEY, name TEXT, maker TEXT, site TEXT, in_use_from TEXT, in_use_to TEXT, per_hour INTEGER);
CREATE TABLE "order" (ord_no INTEGER PRIMARY KEY, pat_no INTEGER NOT NULL REFERENCES pat(pat_no), req_id INTEGER REFERENCES requester(req_id),
  ward_cd TEXT REFERENCES ward(ward_cd), prio TEXT, ord_dt TEXT, ord_tm TEXT, clin_info TEXT, stat TEXT);
CREATE TABLE order_panel (ord_no INTEGER REFERENCES "order"(ord_no), panel_cd TEXT REFERENCES panel(panel_cd), added_on INTEGER, PRIMARY KEY (ord_no, panel_cd));
CREATE TABLE sample (smp_no TEXT PRIMARY KEY, ord_no INTEGER REFERENCES "order"(ord_no), tube TEXT, coll_dt TEXT, coll_tm TEXT, recv_ms INTEGER,
  vol_ml REAL, haem_ix INTEGER, rej TEXT, rej_why TEXT);
CREATE TABLE result (res_id INTEGER PRIMARY KEY, smp_no TEXT NOT NULL REFERENCES sample(smp_no), an_cd TEXT REFERENCES analyte(an_cd), val_txt TEXT, val_num REAL,
  unit TEXT, flag TEXT, anl_id TEXT REFERENCES analyser(anl_id), status TEXT, is_cur INTEGER, supersedes INTEGER REFERENCES result(res_id), valid_ms INTEGER,
  valid_by TEXT);
CREATE TABLE qc_run (anl_id TEXT REFERENCES analyser(anl_id), an_cd TEXT REFERENCES analyte(an_cd), lvl INTEGER, run_ms INTEGER, val REAL, target REAL, sd REAL, ok INTEGER,
  PRIMARY KEY (anl_id, an_cd, lvl, run_ms));
CREATE TABLE crit_call (call_id INTEGER PRIMARY KEY, res_id INTEGER REFERENCES result(res_id), call_dt TEXT, call_tm TEXT, took INTEGER, told TEXT, read_back TEXT);
CREATE VIEW current_result AS SELECT r.res_id, s.ord_no, r.an_cd, r.val_num, r.unit, r.flag FROM result r JOIN sample s USING (smp_no) WHERE r.is_cur = 1;
"""

WARDS = [("MED", "Directorate of Medicine", "Main", None, None, None), ("SUR", "Directorate of Surgery", "Main", None, None, None), ("WCH", "Women and Children", "North", None, None, None),
         ("AE", "Accident & Emergency", "Main", "MED", 24, "Y"), ("ICU", "Intensive Care", "Main", "MED", 14, "Y"), ("CAR", "Cardiology", "Main", "MED", 28, "Y"),
         ("REN", "Renal Unit", "Main", "MED", 18, "N"), ("GER", "Care of the Elderly", "North", "MED", 40, "N"), ("GSU", "General Surgery", "Main", "SUR", 32, "Y"),
         ("ORT", "Orthopaedics", "Main", "SUR", 30, "N"), ("MAT", "Maternity", "North", "WCH", 26, "N"), ("PAE", "Children's Ward", "North", "WCH", 20, "Y"),
         ("NEO", "Neonatal Unit", "North", "WCH", 10, None), ("GPX", "General practices", "", None, 0, None), ("DAY", "Day Hospital", "North", "MED", 12, "N")]
PANELS = [("UE", "Urea & electrolytes", "SST", 420, 60), ("LFT", "Liver function", "SST", 510, 60), ("FBC", "Full blood count", "EDT", 380, 45), ("LIP", "Lipids", "SST", 640, 240),
          ("GLU", "Glucose", "FLU", 210, 60), ("A1C", "Haemoglobin A1c", "EDT", 890, 1440), ("COA", "Coagulation", "CIT", 730, 60), ("CRP", "C-reactive protein", "SST", 350, 60),
          ("TRO", "Troponin", "SST", 1250, 60), ("TSH", "Thyroid", "SST", 980, 1440), ("URI", "Urine microscopy", "URI", 300, None), ("CAL", "Bone profile", "SST", 460, 240)]
# code, name, panel, SI unit, decimals, mean, spread, low, high, critical low, critical high, old unit, factor from old to SI
ANALYTES = [("NA", "Sodium", "UE", "mmol/L", 0, 139, 3.6, 133, 146, 120, 160, None, None), ("K", "Potassium", "UE", "mmol/L", 1, 4.4, 0.6, 3.5, 5.3, 2.5, 6.5, None, None),
            ("URE", "Urea", "UE", "mmol/L", 1, 6.6, 3.2, 2.5, 7.8, None, 30, "mg/dL", 0.1665), ("CREA", "Creatinine", "UE", "umol/L", 0, 92, 38, 59, 104, None, 354, "mg/dL", 88.4),
            ("BIL", "Bilirubin", "LFT", "umol/L", 0, 13, 9, 0, 21, None, 250, "mg/dL", 17.1), ("ALT", "Alanine transaminase", "LFT", "U/L", 0, 31, 24, 0, 41, None, 500, None, None),
            ("ALB", "Albumin", "LFT", "g/L", 0, 39, 5.5, 35, 50, None, None, None, None), ("HB", "Haemoglobin", "FBC", "g/L", 0, 129, 19, 120, 165, 70, None, None, None),
            ("WBC", "White cells", "FBC", "10*9/L", 1, 8.4, 3.4, 4.0, 11.0, 1.0, 30, None, None), ("PLT", "Platelets", "FBC", "10*9/L", 0, 255, 82, 150, 400, 30, 1000, None, None),
            ("CHOL", "Cholesterol", "LIP", "mmol/L", 1, 5.0, 1.1, 0, 5.0, None, None, "mg/dL", 0.02586), ("HDL", "HDL cholesterol", "LIP", "mmol/L", 1, 1.4, 0.35, 1.0, 2.2, None, None, "mg/dL", 0.02586),
            ("GLU", "Glucose", "GLU", "mmol/L", 1, 6.6, 2.7, 3.9, 7.8, 2.5, 25, "mg/dL", 0.0555), ("A1C", "Haemoglobin A1c", "A1C", "mmol/mol", 0, 47, 14, 20, 41, None, None, None, None),
            ("INR", "INR", "COA", "", 1, 1.3, 0.7, 0.8, 1.2, None, 5, None, None), ("CRP", "C-reactive protein", "CRP", "mg/L", 0, 28, 48, 0, 5, None, 300, None, None),
            ("TROP", "Troponin I", "TRO", "ng/L", 0, 22, 120, 0, 34, None, 100, None, None), ("TSH", "Thyrotropin", "TSH", "mU/L", 2, 2.3, 1.7, 0.27, 4.2, None, 50, None, None),
            ("CA", "Calcium", "CAL", "mmol/L", 2, 2.33, 0.14, 2.2, 2.6, 1.8, 3.2, "mg/dL", 0.2495), ("URBC", "Red cells in urine", "URI", "/uL", 0, 14, 40, None, None, None, None, None, None),
            ("CK", "Creatine kinase", None, "U/L", 0, 100, 1, 40, 320, None, None, None, None)]
ANALYSERS = [("OLY", "Olvera 640", "Olvera", "Main", "2008-05-01", "2023-03-31", 800), ("A1", "Atlas 7", "Norlab", "Main", "2022-11-14", None, 1200), ("A2", "Atlas 7", "Norlab", "North", "2023-02-01", None, 1200),
             ("H1", "CountPlus", "Hemio", "Main", "2017-01-09", None, 120), ("H2", "CountPlus", "Hemio", "North", "2017-01-09", None, 120), ("CG", "ClotLine", "Hemio", "Main", "2019-06-03", None, 90), ("UR", "manual", None, "Main", None, None, None)]
FAMILY = "MacDonald Campbell Stewart Robertson Fraser Murray Singh Khan Nowak Kowalska Ahmed O'Donnell Reid Ross Sinclair Mackenzie Grant Okafor Chen Rossi MacLeod Begum Petrov Wójcik García".split()
GIVEN = {"F": "Margaret Isla Fiona Aisha Catriona Agnieszka Mei Elspeth Morag Zofia Giulia Shona Eilidh Fatima Jean".split(), "M": "James Hamish Angus Mohammed Callum Piotr Ewan Chidi Rajesh Alasdair Iain Luca Wei Archie John".split()}
INFO = [None, None, None, "", "chest pain", "?sepsis", "pre-op", "AKI", "fall", "annual check", "T2DM", "on warfarin", "jaundice", "fatigue", "?PE", "routine bloods", "Chest pain", "monitoring"]
SETS = [("UE", "FBC", "CRP"), ("UE", "LFT", "FBC", "CRP"), ("UE",), ("FBC",), ("UE", "FBC", "TRO"), ("LIP", "A1C", "GLU"), ("TSH",), ("UE", "LFT"), ("COA", "FBC"), ("GLU",), ("CAL", "UE"), ("URI",), ("A1C",)]
WEIGHTS = {"AE": [9, 9, 2, 2, 9, 0, 0, 1, 3, 2, 0, 1, 0], "ICU": [6, 12, 2, 1, 1, 0, 0, 4, 5, 4, 3, 0, 0], "GPX": [1, 2, 4, 5, 0, 8, 7, 5, 1, 2, 2, 2, 6], "REN": [1, 1, 9, 3, 0, 0, 0, 1, 1, 0, 8, 1, 0],
           "CAR": [1, 2, 4, 2, 9, 4, 1, 1, 4, 0, 0, 0, 1]}
STAFF = ["mkerr", "jbain", "tpatel", "lmunro", "auto", "auto", "auto"]


def ms(moment: datetime) -> int:
    """Unix milliseconds of a moment in UTC."""
    return timegm(moment.timetuple()) * 1000


def people(r: random.Random) -> list[tuple]:
    rows = []
    for i in range(290):
        sex = r.choices(["F", "M", "U"], [53, 46, 1])[0]
        born = date(2024 - int(min(98, max(0, r.gauss(58, 23)))), r.randint(1, 12), r.randint(1, 28))
        born = min(born, date(2021, 12, 30))
        rows.append((100200 + i * 7, r.choice(FAMILY), r.choice(GIVEN["F" if sex == "F" else "M"]), 0 if r.random() < 0.02 else int(f"{born:%Y%m%d}"), sex,
                     r.choice(["FK1", "FK2", "FK3", "FK10", "EH51", "", None]), None, None))
    for i in (31, 77, 140, 205, 266):  # the same people, registered once more
        old = rows[i]
        rows.append((100200 + len(rows) * 7, old[1].upper(), old[2], old[3], old[4], None, None, old[0] if i != 140 else None))
    return rows


def printed(value: float, digits: int, r: random.Random, code: str, haem: int) -> tuple[str, float | None]:
    """What is printed of a value, and the number, if it is one."""
    if haem >= 2 and code == "K":
        return "haem.", None
    if r.random() < 0.004:
        return "", None
    least = {"CRP": 1, "TROP": 3, "BIL": 3, "TSH": 0.01}.get(code)
    if least and value < least:
        return f"<{least}", None
    return f"{value:.{digits}f}", round(value, digits)


def flag_of(value: float | None, low: float | None, high: float | None, worst: tuple, scale: float) -> str | None:
    if high is None or value is None:
        return None
    value *= scale
    if worst[0] is not None and value < worst[0]:
        return "LL"
    if worst[1] is not None and value > worst[1]:
        return "HH"
    return "L" if low is not None and value < low else "H" if value > high else ""


def build(r: random.Random) -> str:
    pats = people(r)
    died = {p[0]: date(2024, 6, 30) - timedelta(days=r.randint(1, 600)) for p in pats if 0 < p[3] < 19450101 and r.random() < 0.12}
    places = [w[0] for w in WARDS[3:14]]
    reqs = [(i, r.choice(["Dr ", "Dr ", "Mr ", "S/N ", ""]) + r.choice(FAMILY), r.choice(["consultant", "registrar", "FY1", "nurse", "GP"]) if w != "GPX" else "GP", w, r.choice([None, str(r.randint(1000, 1999))]))
            for i, w in enumerate(places * 3 + ["GPX"] * 5 + ["DAY"], start=1)]
    ranges = []
    for a in ANALYTES:
        if a[8] is None:
            continue
        for unit, scale in ((a[3], 1.0), *(((a[11], a[12]),) if a[11] else ())):
            for sex in ("F", "M") if a[0] in {"CREA", "HB"} else ("*",):
                shift = {"CREA": -14, "HB": 0}[a[0]] if sex == "F" else (10 if sex == "M" and a[0] == "HB" else 0)
                low, high, least, most = (None if x is None else round((x + s) / scale, 2) for x, s in ((a[7], shift), (a[8], shift), (a[9], 0), (a[10], 0)))
                old = a[0] in {"TROP", "CHOL", "TSH"} and unit == a[3]
                if old:
                    ranges.append((len(ranges) + 1, a[0], sex, unit, low, round(float(high or 0) * 1.2, 2), least, most, "2015-01-01", "2022-12-31"))
                ranges.append((len(ranges) + 1, a[0], sex, unit, low, high, least, most, "2023-01-01" if old else "2015-01-01", None))
    orders, chosen, samples, results, calls = [], [], [], [], []
    sick = {p[0]: r.random() ** 4 * 2.2 for p in pats}
    often = [0.15 + 3 * sick[p[0]] for p in pats]
    moments = []
    for _ in range(660):
        day = date(2022, 1, 3) + timedelta(days=int(909 * r.random() ** 0.8))
        hour = r.choices(range(24), [1, 1, 1, 1, 1, 2, 6, 12, 14, 12, 10, 9, 7, 6, 6, 6, 5, 4, 3, 3, 2, 2, 2, 1])[0]
        moments.append(datetime(day.year, day.month, day.day, hour, r.randint(0, 59)))
    for number, asked in enumerate(sorted(moments), start=220001):
        who = r.choices(pats, often)[0]
        if who[0] in died and asked.date() > died[who[0]]:
            continue
        ward = r.choices(places, [16, 8, 7, 8, 6, 6, 3, 3, 2, 0, 18])[0]
        req = r.choice([q for q in reqs if q[3] == ward])
        panels = r.choices(SETS, WEIGHTS.get(ward, [5, 6, 4, 4, 1, 1, 1, 3, 3, 2, 2, 1, 1]))[0]
        prio = r.choices("RUS", [2, 5, 4] if ward in {"AE", "ICU"} else [20, 3, 1])[0]
        gone = r.random() < 0.035
        recent = asked > datetime(2024, 6, 29)
        stat = r.choice(["CANC", "CANC", "cancelled"]) if gone else "OPEN" if recent or r.random() < 0.01 else r.choices(["DONE", "done"], [9, 1])[0]
        orders.append((number, who[0], req[0] if r.random() < 0.97 else None, ward, prio, str(asked.date()), f"{asked:%H:%M}", r.choice(INFO), stat))
        chosen += [(number, p, 1 if i == len(panels) - 1 and r.random() < 0.06 else 0) for i, p in enumerate(panels)]
        if stat in {"CANC", "cancelled", "OPEN"}:
            continue
        tubes = {p[0]: p[2] for p in PANELS}
        for tube in dict.fromkeys(tubes[p] for p in panels):
            taken = asked + timedelta(minutes=r.randint(2, 90))
            came = taken + timedelta(minutes=int(r.expovariate(1 / (150 if ward == "GPX" else 35))) + 4)
            haem = r.choices([0, 1, 2, 3], [88, 7, 3, 2])[0]
            rejected = haem == 3 or r.random() < 0.012
            smp = f"{taken:%y}{tube[0]}{len(samples) + 1:05d}"
            samples.append((smp, number, tube, str(taken.date()), f"{taken:%H:%M}" if r.random() < 0.96 else None, ms(came), round(max(0.4, r.gauss(3.6, 0.9)), 1) if r.random() < 0.9 else None, haem,
                            "Y" if rejected else "N", ("haemolysed" if haem == 3 else r.choice(["unlabelled", "clotted", "Clotted", "short sample", ""])) if rejected else None))
            if rejected:
                continue
            ready = came + timedelta(minutes={"S": 30, "U": 45, "R": 70}[prio] + int(r.expovariate(1 / 40)))
            for a in ANALYTES:
                if a[2] not in panels or tubes[a[2]] != tube or r.random() < 0.02:
                    continue
                north = ward in {"GER", "MAT", "PAE", "NEO", "DAY"}
                anl = {"EDT": "H2" if north else "H1", "CIT": "CG", "URI": "UR"}.get(tube) or ("A2" if north and ready >= datetime(2023, 2, 1) else "OLY" if ready < datetime(2022, 11, 14) or (ready < datetime(2023, 4, 1) and r.random() < 0.5) else "A1")
                far = sick[who[0]] * a[6] * (-1 if a[0] in {"HB", "ALB", "HDL"} else 1)
                value = max(a[5] * 0.12, r.gauss(a[5] + far * 0.7, a[6] * 0.8)) if a[6] < a[5] else r.expovariate(1 / (a[5] * (0.4 + sick[who[0]] * 1.4)))
                old = anl == "OLY" and a[11] is not None
                unit, scale, digits = (a[11], a[12], 2 if a[0] in {"CREA", "BIL"} else 1 if a[0] == "CA" else 0) if old else (a[3], 1.0, a[4])
                text, num = printed(value / scale, digits, r, "" if old else a[0], haem)
                shift = -14 if a[0] == "CREA" and who[4] == "F" else 10 if a[0] == "HB" and who[4] == "M" else 0
                bounds = (None if a[7] is None else a[7] + shift, None if a[8] is None else a[8] + shift)
                flag = flag_of(num, *bounds, (a[9], a[10]), scale)
                key, by = len(results) + 900001, r.choice(STAFF)
                wrong = num is not None and r.random() < 0.022
                base = (smp, a[0])
                if not wrong:
                    results.append((key, *base, text, num, unit, flag, anl, "P" if r.random() < 0.01 else "F", 1, None, ms(ready), by))
                else:
                    again = [num * r.choice([0.1, 10, 1.35, 0.6])] + ([num * 1.1] if r.random() < 0.15 else []) + [num]
                    for i, v in enumerate(round(float(v), digits) for v in again):
                        results.append((key + i, *base, f"{v:.{digits}f}", v, unit, flag_of(v, *bounds, (a[9], a[10]), scale), anl, "C" if i == len(again) - 1 else "X", 1 if i == len(again) - 1 else 0,
                                        key + i - 1 if i else None, ms(ready + timedelta(minutes=i * r.randint(15, 900))), by if i == 0 else r.choice(STAFF[:4])))
                last = results[-1]
                if last[6] in {"HH", "LL"} and r.random() < 0.85:
                    rung = ready + timedelta(minutes=r.choices([2, 5, 9, 20, 65, 240], [6, 9, 7, 4, 2, 1])[0])
                    calls.append((len(calls) + 1, last[0], str(rung.date()), f"{rung:%H:%M}", r.choices([1, 2, 3, 5, 12, None], [8, 9, 5, 3, 1, 1])[0], r.choice(["nurse in charge", "Dr on call", "FY1", "GP out of hours", None]), r.choices(["yes", "no", ""], [14, 1, 3])[0]))
    controls = []
    for anl, codes, first, last_day in (("OLY", ("GLU", "CREA", "K"), date(2022, 1, 3), date(2023, 3, 31)), ("A1", ("GLU", "CREA", "K"), date(2022, 11, 14), date(2024, 6, 30)), ("A2", ("GLU", "K"), date(2023, 2, 1), date(2024, 6, 30)), ("H1", ("HB", "WBC"), date(2022, 1, 3), date(2024, 6, 30))):
        day = first
        while day <= last_day:
            for code in codes:
                a = next(x for x in ANALYTES if x[0] == code)
                for lvl, share in ((1, 0.8), (2, 1.9)):
                    target = round(a[5] * share / (a[12] if anl == "OLY" and a[12] else 1), 2)
                    sd = round(target * 0.021, 3)
                    drift = 1.5 * sd if anl == "A2" and date(2023, 9, 1) < day < date(2023, 11, 1) else 0
                    got = round(r.gauss(target + drift, sd), 2)
                    controls.append((anl, code, lvl, ms(datetime(day.year, day.month, day.day, 6, r.randint(5, 50))), got, target, sd, 1 if abs(got - target) <= 2 * sd else 0))
            day += timedelta(days=14)
    pats = [(*p[:6], str(died[p[0]]) if p[0] in died else None, p[7]) for p in pats]
    conv = [(a[0], a[11], a[3], a[12]) for a in ANALYTES if a[11]]
    return TABLES + "".join([
        insert("ward", WARDS), insert("requester", reqs), insert("pat", pats), insert("panel", PANELS), insert("analyte", [(*a[:5], 0 if a[0] == "CK" else 1) for a in ANALYTES]), insert("unit_conv", conv),
        insert("ref_range", ranges), insert("analyser", ANALYSERS), insert("order", orders), insert("order_panel", chosen), insert("sample", samples), insert("result", results), insert("qc_run", controls), insert("crit_call", calls),
    ])
