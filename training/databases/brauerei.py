"""Produktion und Labor einer Brauerei in Oberfranken (production and laboratory of a brewery): recipes, brews, tanks, what was
measured on the way, tastings, what was filled and sold to whom. October 2022 to September 2024, two brewing years.

Size: 12 tables, 122 columns, 3759 rows.

Messy on purpose:
- German table and column names, some with umlauts and spaces ("Bemerkung Labor"), words that English readers know otherwise
  (Art: kind, Rest, Menge: amount, hell).
- messwerte is a wide table: one row for a sample, 36 columns, most of them NULL, because few things are measured at a time. Columns that
  end in _c are degrees Celsius, _gl grams a litre, _mgl milligrams a litre, _bar bar, _ebc EBC; stammwuerze and restextrakt
  are °P, o2_ppb parts in 1e9; ph, bitter (IBU) and the counts (kbe_ml) name no unit. A thermometer wrote 999 a few times.
- Codes without lookup tables. sud.status: 'G' Gärung, 'L' Lagerung, 'F' filtriert, 'A' abgefüllt, 'V' verworfen (also written
  'a' and 'abgef.'). tank.art: GT Gärtank, LT Lagertank, DT Drucktank, ZKG. messwerte.phase: W Würze, G Gärung, L Lager, F Filtrat,
  A Abfüllung. abfuellung.gebinde: F20 (Flasche 0,5 l mal 20), F24 (0,33 l mal 24), K30 and K50 (Fass, 30 and 50 l).
- Dates: brew days and samples ISO (samples with HH:MM), fillings 'dd.mm.yyyy', best before 'MM/YYYY', supplies yyyymmdd numbers.
- Amounts: hectolitres (_hl) in production, containers (stueck) in filling, kilograms in recipes, prices as German text
  '1.234,50' in lieferung, as a number of euros per container in verkauf. Durations: kochzeit in minutes, 'H:MM' for the lautering.
- Flags: bio 'J'/'N', freigabe 0/1/NULL, kunde.stamm 'x' or empty.
- Keys are declared but for messwerte, whose sud_nr is text ('2023/041'), while the brew's number is (jahr, nr): jahr*1000 + nr is its key sud_id.
- tank_belegung is history: von and bis, bis NULL while beer is in it. A double brew (about 100 hl)
  ferments in Z1 or Z2; the store's tanks were noted carelessly, so that one may hold two brews at a time.
- Some brews were never measured in the store, two recipes were never brewed, three customers never bought.
"""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta

from training.script import Value, insert

MEASURED = {
    # column: (phases, mean, spread, digits, chance)
    "temperatur_c": ("WGLFA", 9, 4, 1, 0.95), "ph": ("WGLFA", 4.9, 0.35, 2, 0.9), "stammwuerze": ("WGA", 12.4, 0.15, 2, 0.8), "restextrakt": ("GLA", 3.4, 0.6, 2, 0.85),
    "alkohol_vol": ("LFA", 5.1, 0.3, 2, 0.7), "vergaerung_schein": ("LA", 79, 2.5, 1, 0.5), "vergaerung_wirklich": ("LA", 64, 2.2, 1, 0.3), "farbe_ebc": ("WFA", 9, 1.2, 1, 0.6),
    "bitter": ("WFA", 27, 3, 1, 0.55), "truebung_ebc": ("FA", 0.7, 0.3, 2, 0.6), "co2_gl": ("LFA", 5.1, 0.3, 2, 0.6), "o2_ppb": ("FA", 60, 35, 0, 0.55), "druck_bar": ("GLF", 0.8, 0.25, 2, 0.7),
    "so2_mgl": ("A", 4, 1.5, 1, 0.3), "diacetyl_mgl": ("GL", 0.12, 0.07, 3, 0.5), "fan_mgl": ("W", 190, 20, 0, 0.3), "zink_mgl": ("W", 0.16, 0.04, 2, 0.25), "calcium_mgl": ("W", 52, 8, 0, 0.2),
    "hefezellen_mio": ("G", 32, 15, 1, 0.6), "hefe_lebend_prozent": ("G", 95, 3, 1, 0.5), "kbe_ml": ("LFA", 2, 6, 0, 0.45), "milchsaeure_kbe": ("FA", 0, 0.8, 0, 0.3), "gesamtsaeure_gl": ("A", 1.5, 0.2, 2, 0.2),
    "schaum_sek": ("A", 245, 25, 0, 0.35), "viskositaet": ("W", 1.65, 0.06, 2, 0.15), "glucan_mgl": ("W", 160, 60, 0, 0.12), "acetaldehyd_mgl": ("L", 7, 4, 1, 0.12), "dms_ugl": ("WL", 55, 22, 0, 0.15),
}  # fmt: skip
TABLES = """
CREATE TABLE rezept (rezept_nr INTEGER PRIMARY KEY, name TEXT, art TEXT, stammwuerze_soll REAL, bitter_soll INTEGER, farbe_soll REAL,
  kochzeit INTEGER, "Hauptgärung Tage" INTEGER, lagerung_wochen INTEGER, bio TEXT, aktiv_bis TEXT);
CREATE TABLE rohstoff (rohstoff_id INTEGER PRIMARY KEY, bezeichnung TEXT, gruppe TEXT, einheit TEXT, alpha_prozent REAL, bestand REAL, mindestbestand REAL);
CREATE TABLE rezept_rohstoff (rezept_nr INTEGER REFERENCES rezept, rohstoff_id INTEGER REFERENCES rohstoff, menge REAL, gabe INTEGER, PRIMARY KEY (rezept_nr, rohstoff_id, gabe));
CREATE TABLE lieferung (lieferung_id INTEGER PRIMARY KEY, rohstoff_id INTEGER REFERENCES rohstoff, lieferant TEXT, datum INTEGER, menge REAL, preis TEXT, charge TEXT, freigabe INTEGER);
CREATE TABLE tank (tank_nr TEXT PRIMARY KEY, art TEXT, volumen_hl REAL, baujahr INTEGER, keller TEXT, ausser_betrieb TEXT);
CREATE TABLE sud (sud_id INTEGER PRIMARY KEY, jahr INTEGER, nr INTEGER, rezept_nr INTEGER NOT NULL REFERENCES rezept, brautag TEXT, beginn TEXT, laeuterdauer TEXT,
  brauer TEXT, ausschlag_hl REAL, ausbeute REAL, hefe_fuehrung INTEGER, status TEXT, "Bemerkung Labor" TEXT, UNIQUE (jahr, nr));
CREATE TABLE tank_belegung (sud_id INTEGER REFERENCES sud, tank_nr TEXT REFERENCES tank, von TEXT, bis TEXT, menge_hl REAL, PRIMARY KEY (sud_id, tank_nr));
CREATE TABLE messwerte (probe_nr INTEGER PRIMARY KEY, sud_nr TEXT, tank_nr TEXT, entnommen TEXT, phase TEXT, laborant TEXT,
  @MEASURED@, bewertung TEXT, "Bemerkung Labor" TEXT);
CREATE TABLE verkostung (sud_id INTEGER REFERENCES sud, pruefer TEXT, datum TEXT, geruch INTEGER, trunk INTEGER, rezens INTEGER, bittere INTEGER, gesamt REAL, fehler TEXT,
  PRIMARY KEY (sud_id, pruefer, datum));
CREATE TABLE abfuellung (abfuellung_id INTEGER PRIMARY KEY, sud_id INTEGER REFERENCES sud, datum TEXT, gebinde TEXT, stueck INTEGER, ausschuss INTEGER, mhd TEXT, linie INTEGER);
CREATE TABLE kunde (kunden_nr INTEGER PRIMARY KEY, name TEXT, art TEXT, ort TEXT, plz TEXT, stamm TEXT, rabatt REAL);
CREATE TABLE verkauf (beleg INTEGER, position INTEGER, kunden_nr INTEGER REFERENCES kunde, abfuellung_id INTEGER REFERENCES abfuellung, datum TEXT, stueck INTEGER, preis REAL,
  leergut_zurueck INTEGER, PRIMARY KEY (beleg, position));
CREATE VIEW "Sude im Keller" AS SELECT s.jahr || '/' || printf('%03d', s.nr) AS sud_nr, r.name, b.tank_nr, b.von, b.menge_hl
  FROM tank_belegung b JOIN sud s USING (sud_id) JOIN rezept r USING (rezept_nr) WHERE b.bis IS NULL;
""".replace("@MEASURED@", ", ".join(f"{column} REAL" for column in MEASURED))

RECIPES: list[tuple[Value, ...]] = [
    (1, "Helles Lager", "untergärig", 11.6, 20, 7.0, 65, 7, 5, "N", None), (2, "Kellerbier", "untergärig", 12.2, 25, 14.0, 70, 7, 4, "N", None),
    (3, "Pils", "untergärig", 11.8, 34, 6.0, 75, 8, 6, "N", None), (4, "Rauchbier Hagel", "untergärig", 13.0, 28, 42.0, 70, 7, 7, "N", None),
    (5, "Weizen", "obergärig", 12.4, 13, 12.0, 60, 4, 2, "J", None), (6, "Bock Schwarzer Abt", "untergärig", 16.8, 30, 75.0, 90, 10, 10, "N", None),
    (7, "Festbier", "untergärig", 13.6, 24, 10.0, 70, 8, 8, "N", None), (8, "Pale Ale Nr. 8", "obergärig", 13.1, 42, 18.0, 60, 5, 3, "J", "2023-12-31"),
    (9, "Alkoholfrei Versuch", "gestoppt", 7.2, 18, 8.0, 60, 2, 1, "N", None), (10, "Dinkel", "obergärig", 12.0, 14, 13.0, 60, 4, 2, "J", None),
]  # fmt: skip
MATERIALS = [("Pilsner Malz", "Malz", "kg", None), ("Wiener Malz", "Malz", "kg", None), ("Weizenmalz", "Malz", "kg", None), ("Rauchmalz", "Malz", "kg", None), ("Röstmalz", "Malz", "kg", None), ("Dinkelmalz", "Malz", "kg", None),
             ("Caramünch II", "malz", "kg", None), ("Perle", "Hopfen", "kg", 7.4), ("Spalter Select", "Hopfen", "kg", 5.1), ("Hallertauer Tradition", "Hopfen", "kg", 6.0), ("Herkules", "Hopfen", "kg", 16.2), ("Citra", "Hopfen", "kg", 12.8),
             ("W 34/70", "Hefe", "l", None), ("W 68", "Hefe", "l", None), ("Kieselgur", "Hilfsstoff", "kg", None), ("Milchsäure 80 %", "Hilfsstoff", "l", None)]  # fmt: skip
MIX = {1: {1: 780, 7: 40, 8: 4, 9: 3}, 2: {1: 640, 2: 180, 7: 30, 8: 5, 10: 3}, 3: {1: 830, 8: 6, 9: 5, 11: 1.5}, 4: {1: 420, 4: 450, 5: 12, 8: 6}, 5: {1: 330, 3: 520, 10: 3}, 6: {1: 600, 2: 420, 5: 38, 7: 80, 11: 3},
       7: {1: 760, 2: 150, 10: 5}, 8: {1: 810, 2: 90, 12: 9, 11: 2}, 9: {1: 410, 9: 4}, 10: {1: 300, 6: 510, 10: 3}}  # fmt: skip
BREWERS = [
    "Xaver Hofmann",
    "Xaver Hofmann",
    "Lena Dörfler",
    "Lena Dörfler",
    "Milan Kučera",
    "Azubi",
]
LAB = ["Dr. Ute Pfister", "U. Pfister", "Samira Amiri", None]
PLACES = [
    ("Bayreuth", "95444"),
    ("Kulmbach", "95326"),
    ("Hof", "95028"),
    ("Bamberg", "96047"),
    ("Lichtenfels", "96215"),
    ("Plzeň", "301 00"),
    ("Nürnberg", "90403"),
    ("Creußen", "95473"),
    ("Hof", "95032"),
]
CLIENTS = [("Gasthof Zum Löwen", "Gastronomie"), ("Getränke Popp", "Handel"), ("Brauereigasthof", "eigen"), ("Wirtshaus am Markt", "Gastronomie"), ("Hotel Goldener Hirsch", "Gastronomie"), ("Edeka Schramm", "Handel"),
           ("Café Klatsch", "Gastronomie"), ("TSV 1862", "Verein"), ("Freiwillige Feuerwehr", "Verein"), ("Getränkewelt Hof", "Handel"), ("Zum Löwen", "Gastronomie"), ("Pivnice U Mostu", "gastronomie"), ("Kirchweih GbR", "Verein"),
           ("Biergarten Eremitage", "Gastronomie"), ("Unverpackt-Laden", "Handel"), ("Schützengilde", "Verein"), ("Bahnhofsbuffet", "Gastronomie"), ("Rewe Lang", "Handel"), ("Rampenverkauf", "eigen"), ("Pizzeria Etna", "Gastronomie")]  # fmt: skip
LITRES = {"F20": 10.0, "F24": 7.92, "K30": 30.0, "K50": 50.0}
PRICE = {"F20": 15.9, "F24": 17.4, "K30": 74.0, "K50": 116.0}


def german(amount: float) -> str:
    """An amount as Germans write it: 1.234,50."""
    return f"{amount:,.2f}".replace(",", " ").replace(".", ",").replace(" ", ".")


def recipe_of(r: random.Random, day: date) -> int:
    """Which beer is brewed: wheat in summer, bock before winter, festival beer in August."""
    month = day.month
    weights = [
        9,
        6,
        7,
        2,
        6 if month in {4, 5, 6, 7, 8} else 2,
        3 if month in {9, 10, 11, 1} else 0,
        5 if month in {2, 8, 9} else 0,
        2 if day.year == 2023 else 0,
    ]
    return r.choices(range(1, 9), weights)[0]


def sample(r: random.Random, phase: str, recipe: tuple[Value, ...], outlier: float) -> list[Value]:
    """The measured columns of one sample, most of them empty."""
    row: list[Value] = []
    target = {
        "stammwuerze": recipe[3],
        "bitter": recipe[4],
        "farbe_ebc": recipe[5],
        "alkohol_vol": float(recipe[3] or 0) * 0.42,
    }
    for column, (phases, mean, spread, digits, chance) in MEASURED.items():
        if phase not in phases or r.random() > chance:
            row.append(None)
            continue
        middle = float(target.get(column) or mean)
        value = abs(r.gauss(middle, spread * (1 if column not in target else middle / 40)))
        if column == "temperatur_c":
            value = {
                "W": 68.0,
                "G": 10.0 if recipe[2] == "untergärig" else 20.0,
                "L": 1.5,
                "F": 0.5,
                "A": 3.0,
            }[phase] + r.gauss(0, 0.6)
            value = 999.0 if outlier < 0.006 else value
        row.append(
            round(
                value * (8 if column in {"kbe_ml", "diacetyl_mgl"} and outlier > 0.985 else 1),
                digits,
            )
        )
    return row


def build(r: random.Random) -> str:
    tanks = [(f"G{i}", "GT", 60.0, 1998 + i, "Nord", None) for i in range(1, 6)] + [
        (
            f"L{i:02d}",
            "LT",
            r.choice([60.0, 60.0, 120.0]),
            r.choice([1974, 1998, 2011]),
            r.choice(["Nord", "Süd", "süd"]),
            "2023-05-31" if i == 4 else None,
        )
        for i in range(1, 13)
    ]
    tanks += [
        ("Z1", "ZKG", 120.0, 2021, "Halle", None),
        ("Z2", "ZKG", 120.0, 2021, "Halle", None),
        ("D1", "DT", 50.0, 2005, None, None),
        ("D2", "DT", 50.0, 2005, None, None),
    ]
    stock = [
        (
            i,
            *row,
            round(r.uniform(0, 900 if row[1] == "Malz" else 60), 1),
            r.choice([50.0, 100.0, None]),
        )
        for i, row in enumerate(MATERIALS, start=1)
    ]
    shares = [
        (recipe, material, float(amount), gift)
        for recipe, mix in MIX.items()
        for material, amount in mix.items()
        for gift in ([1, 2] if material in {8, 9} else [1])
    ]
    supplies = []
    for i in range(1, 171):
        material = r.choices(range(1, 17), [30, 10, 9, 7, 3, 0, 4, 8, 6, 5, 3, 2, 4, 3, 6, 3])[0]
        day = date(2022, 10, 3) + timedelta(days=r.randint(0, 720))
        group, amount = MATERIALS[material - 1][1], 0.0
        unit = {"Malz": 0.62, "malz": 0.95, "Hopfen": 11.8, "Hefe": 4.1, "Hilfsstoff": 1.9}[
            group
        ] * (1.18 if day.year > 2022 else 1)
        amount = float(
            r.choice([1000, 2500, 5000, 10000])
            if group == "Malz"
            else r.choice([20, 25, 60, 100, 250])
        )
        supplies.append((i, material, r.choice({"Malz": ["Mälzerei Steiner", "Malzfabrik Main", "Mälzerei Steiner GmbH"], "Hopfen": ["Hopfen Kolb", "HVG Nord"]}.get(group.title(), ["Brauhilfe AG", ""])),
                         int(day.strftime("%Y%m%d")), amount, german(amount * unit * r.uniform(0.9, 1.15)) if r.random() < 0.95 else None, f"{group[:1]}{r.randint(1000, 9999)}", r.choices([1, 0, None], [30, 1, 3])[0]))  # fmt: skip
    brews, held, probes, tastings, fillings = [], [], [], [], []
    last, day, numbers = date(2024, 9, 30), date(2022, 10, 4), {2022: 130, 2023: 0, 2024: 0}
    while day <= last:
        day += timedelta(
            days=r.choice([1, 2, 3, 3, 4, 5])
            + (9 if (day.month, day.day // 8) in {(8, 1), (12, 3)} else 0)
        )
        if day.weekday() == 6 or day > last:
            continue
        numbers[day.year] += 1
        key = day.year * 1000 + numbers[day.year]
        recipe = RECIPES[recipe_of(r, day) - 1]
        out = round(r.gauss(52, 1.6) * (1.95 if r.random() < 0.12 else 1), 1)
        cold = day + timedelta(days=int(recipe[7] or 7) + r.choice([0, 0, 1, 2]))
        ready = cold + timedelta(days=7 * int(recipe[8] or 4) + r.randint(-3, 9))
        spoilt = r.random() < 0.02
        status = (
            "G"
            if cold > last
            else "L"
            if ready > last
            else "V"
            if spoilt
            else "F"
            if ready + timedelta(days=3) > last
            else r.choices(["A", "a", "abgef."], [40, 3, 2])[0]
        )
        begin = r.choice([300, 330, 345, 720])
        brews.append((key, day.year, numbers[day.year], recipe[0], str(day), f"{begin // 60:02d}:{begin % 60:02d}", f"{r.choice([1, 2, 2, 2, 3])}:{r.randint(0, 59):02d}" if r.random() < 0.95 else None,
                      r.choice(BREWERS), out, round(r.gauss(76.5, 1.4), 1) if r.random() < 0.95 else None, r.randint(0, 7), status,
                      "verworfen: Infektion" if status == "V" else r.choice([None, None, None, "", "Läutern zäh", "Pumpe 2 defekt", "Hefe träge", "o.k."])))  # fmt: skip
        first = (
            r.choice(["Z1", "Z2"])
            if out > 60 or recipe[2] == "obergärig"
            else r.choice(["G1", "G2", "G3", "G4", "G5"])
        )
        held.append((key, first, str(day), str(cold) if cold <= last else None, out))
        stages = [("W", day, None), ("G", day + timedelta(days=2), first)] + (
            [("G", cold, first)] if cold <= last else []
        )
        if cold <= last:
            store = f"L{r.randint(1, 12):02d}"
            held.append(
                (key, store, str(cold), None if ready > last else str(ready), round(out * 0.97, 1))
            )
            if r.random() < 0.9:
                stages += [
                    ("L", cold + timedelta(days=d), store)
                    for d in (9, 24)
                    if cold + timedelta(days=d) < min(ready, last)
                ]
        name = f"{day.year}/{numbers[day.year]:03d}"
        if ready <= last and status != "V":
            stages += [("F", ready, "D1"), ("A", ready + timedelta(days=1), None)]
            for taster in r.sample(
                ["Hofmann", "Dörfler", "Pfister", "Gast", "Amiri"], r.choice([2, 2, 3])
            ):
                marks = [r.choices([1, 2, 3, 4, 5], [1, 2, 10, 30, 25])[0] for _ in range(4)]
                tastings.append(
                    (
                        key,
                        taster,
                        str(ready + timedelta(days=2)),
                        *marks,
                        round(sum(marks) / 4, 2),
                        r.choice(
                            [
                                None,
                                None,
                                None,
                                None,
                                "",
                                "Diacetyl",
                                "oxidiert",
                                "DMS",
                                "schwefelig",
                            ]
                        ),
                    )
                )
            left = out * 0.94 * 100
            kinds = r.sample(["F20", "F20", "F24", "K30", "K50"], 2)
            for i, kind in enumerate(dict.fromkeys(kinds)):
                litres = left * (0.6 if i == 0 and len(set(kinds)) > 1 else 1)
                left -= litres
                filled, best = (
                    ready + timedelta(days=1 + i),
                    ready + timedelta(days=200 if kind[0] == "F" else 120),
                )
                if status in {"A", "a", "abgef."} and filled <= last:
                    fillings.append((len(fillings) + 1, key, filled.strftime("%d.%m.%Y"), kind, int(litres / LITRES[kind]), r.choices([0, 2, 5, 9, 140], [8, 8, 5, 3, 0.4])[0] if kind[0] == "F" else 0,
                                     best.strftime("%m/%Y"), 1 if kind[0] == "F" else 2))  # fmt: skip
        for phase, when, tank in stages:
            if when > last:
                continue
            minute = r.randint(6 * 60, 15 * 60)
            moment = datetime(when.year, when.month, when.day, minute // 60, minute % 60)
            values = sample(r, phase, recipe, r.random())
            probes.append(
                (
                    f"{moment:%Y-%m-%d %H:%M}",
                    name,
                    tank,
                    phase,
                    r.choice(LAB),
                    values,
                    r.choices(["i.O.", "i. O.", "n.i.O.", None], [12, 3, 1, 4])[0],
                    r.choice(
                        [None, None, None, None, "", "Probe zu warm", "Gerät 2", "Wiederholung"]
                    ),
                )
            )
    probes.sort(key=lambda row: row[:2])
    samples = [
        (5000 + i, p[1], p[2], p[0], p[3], p[4], *p[5], p[6], p[7])
        for i, p in enumerate(probes, start=1)
    ]
    clients = []
    for i, (name, kind) in enumerate(CLIENTS, start=1):
        place, code = r.choice(PLACES)
        clients.append(
            (
                700 + i,
                name,
                kind,
                place,
                code if r.random() < 0.9 else "",
                r.choice(["x", "x", "", None]),
                r.choice([0.0, 0.0, 0.03, 0.05, 0.1]) if kind != "eigen" else 0.0,
            )
        )
    sales, beleg = [], 240000
    for filling in fillings:
        left, when = filling[4], datetime.strptime(filling[2], "%d.%m.%Y").date()
        for _ in range(r.choice([1, 2, 2, 3, 4])):
            when += timedelta(days=r.randint(1, 16))
            buyer = r.choices(
                [c for c in clients if c[0] not in {707, 716, 715}],
                [3, 9, 8, 3, 2, 7, 1, 1, 5, 2, 1, 2, 6, 1, 4, 3, 2],
            )[0]
            number = min(
                left,
                r.choice([4, 6, 10, 20, 40, 80, 160]) // (1 if filling[3][0] == "F" else 4) or 1,
            )
            if when > last or number <= 0:
                break
            left -= number
            same = sales and sales[-1][2] == buyer[0] and sales[-1][4] == str(when)
            beleg, position = (beleg, sales[-1][1] + 1) if same else (beleg + 1, 1)
            price = round(
                PRICE[filling[3]] * (1.04 if when.year == 2024 else 1) * (1 - buyer[6]), 2
            )
            sales.append(
                (
                    beleg,
                    position,
                    buyer[0],
                    filling[0],
                    str(when),
                    number,
                    0.0 if buyer[1] == "Freiwillige Feuerwehr" and r.random() < 0.5 else price,
                    int(number * r.choice([0, 0.5, 0.8, 1, 1])),
                )
            )
    return TABLES + "".join([
        insert("rezept", RECIPES), insert("rohstoff", stock), insert("rezept_rohstoff", shares), insert("lieferung", supplies), insert("tank", tanks), insert("sud", brews),
        insert("tank_belegung", held), insert("messwerte", samples), insert("verkostung", tastings), insert("abfuellung", fillings), insert("kunde", clients), insert("verkauf", sales),
    ])  # fmt: skip
