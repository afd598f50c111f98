"""Practice software of a group of four veterinary clinics in Wales and the Marches: owners and their animals, visits, diagnoses,
what was prescribed and charged, vaccinations. 2021 to May 2024; the clinic at Hay was bought in 2023 and brought its own habits.

Size: 14 tables, 99 columns, 5875 rows.

Messy on purpose:
- Dates are dd/mm/yyyy texts, so their order as text is not their order in time; times are HH:MM; Hay's birth dates are years only.
- Weights: visit.weight with visit.weight_unit, g for small animals and for all of Hay's cats, kg else; patient.weight_g is the last
  one known, in grams; drug doses are mg per kg.
- Codes with lookup tables: species, visit_reason, diagnosis (with a parent: a chapter has codes below it), but none for
  patient.sex: M, F, MN (neutered), FS (spayed), U unknown, and none for visit.outcome: H home, A admitted, R referred, D died,
  E put to sleep.
- Flags: owner.sms_ok is Y/N, patient.insured T/F, vet.partner 0/1, drug.controlled 'yes' or NULL.
- Money is pounds as a number in charge.amount, with VAT of 20 included; discounts are negative lines. Unpaid: paid_on is NULL.
- Prescriptions of drugs that were taken off the list keep their code: those references hang in the air.
- Patients called Bella and Luna are many, owners called Jones and Davies, too; some owners have no animal left, some animals never
  came. patient.died is NULL or a date; an animal may have died without a visit.
- `condition` and `name` mean different things in different tables.

Broken keys: prescription (65).
"""

from __future__ import annotations

import random
from datetime import date, timedelta

from training.script import insert

TABLES = """
CREATE TABLE clinic (clinic_id INTEGER PRIMARY KEY, name TEXT, town TEXT, opened TEXT, phone TEXT, beds INTEGER);
CREATE TABLE vet (vet_id INTEGER PRIMARY KEY, name TEXT, clinic_id INTEGER REFERENCES clinic(clinic_id), qualified INTEGER,
  partner INTEGER, special_interest TEXT, left_on TEXT);
CREATE TABLE species (species_code TEXT PRIMARY KEY, name TEXT, small INTEGER);
CREATE TABLE owner (owner_id INTEGER PRIMARY KEY, title TEXT, first_name TEXT, last_name TEXT, postcode TEXT, phone TEXT, email TEXT,
  sms_ok TEXT, registered TEXT, home_clinic INTEGER REFERENCES clinic(clinic_id), balance REAL);
CREATE TABLE patient (patient_id INTEGER PRIMARY KEY, owner_id INTEGER REFERENCES owner(owner_id), name TEXT,
  species_code TEXT REFERENCES species(species_code), breed TEXT, sex TEXT, born TEXT, died TEXT, colour TEXT, weight_g INTEGER,
  insured TEXT, chip_no TEXT, temper TEXT);
CREATE TABLE visit_reason (reason_code TEXT PRIMARY KEY, name TEXT, minutes INTEGER, fee REAL);
CREATE TABLE visit (visit_id INTEGER PRIMARY KEY, patient_id INTEGER NOT NULL REFERENCES patient(patient_id),
  vet_id INTEGER REFERENCES vet(vet_id), clinic_id INTEGER REFERENCES clinic(clinic_id), visit_date TEXT, arrived TEXT, seen TEXT,
  reason_code TEXT REFERENCES visit_reason(reason_code), weight REAL, weight_unit TEXT, temp_c REAL, outcome TEXT, notes TEXT);
CREATE TABLE diagnosis (diag_code TEXT PRIMARY KEY, parent_code TEXT REFERENCES diagnosis(diag_code), name TEXT, chronic TEXT);
CREATE TABLE visit_diagnosis (visit_id INTEGER REFERENCES visit(visit_id), diag_code TEXT REFERENCES diagnosis(diag_code),
  certainty INTEGER, condition TEXT, PRIMARY KEY (visit_id, diag_code));
CREATE TABLE drug (drug_code TEXT PRIMARY KEY, name TEXT, form TEXT, dose_mg_kg REAL, pack_price REAL, stock INTEGER, reorder_at INTEGER,
  controlled TEXT);
CREATE TABLE prescription (rx_id INTEGER PRIMARY KEY, visit_id INTEGER REFERENCES visit(visit_id),
  drug_code TEXT REFERENCES drug(drug_code), dose_mg REAL, per_day INTEGER, days INTEGER, repeats INTEGER, condition TEXT);
CREATE TABLE vaccination (patient_id INTEGER REFERENCES patient(patient_id), vaccine TEXT, given_on TEXT, due_on TEXT,
  batch TEXT, vet_id INTEGER REFERENCES vet(vet_id), PRIMARY KEY (patient_id, vaccine, given_on));
CREATE TABLE charge (charge_id INTEGER PRIMARY KEY, visit_id INTEGER REFERENCES visit(visit_id), item TEXT, amount REAL, vat INTEGER,
  paid_on TEXT, method TEXT);
CREATE TABLE rota (vet_id INTEGER, clinic_id INTEGER, weekday INTEGER, from_time TEXT, to_time TEXT, PRIMARY KEY (vet_id, weekday));
CREATE VIEW patients_alive AS SELECT p.patient_id, p.name, s.name AS species, o.last_name AS owner FROM patient p
  JOIN species s USING (species_code) JOIN owner o USING (owner_id) WHERE p.died IS NULL;
"""

CLINICS = [(1, "Teifi Vets", "Cardigan", "01/04/1998", "01239 555 010", 12), (2, "Teifi Vets Aberaeron", "Aberaeron", "15/09/2009", "01545 555 022", 4),
           (3, "Towy Animal Hospital", "Carmarthen", "03/03/2014", "01267 555 300", 26), (4, "Hay Veterinary Practice", "Hay-on-Wye", "01/06/1987", None, 6)]  # fmt: skip
VETS = [(1, "Rhiannon Pugh", 1, 1996, 1, "cattle"), (2, "Gareth Bevan", 1, 2008, 1, None), (3, "Agnieszka Wrona", 2, 2015, 0, "dentistry"),
        (4, "Sanjay Rao", 3, 2004, 1, "surgery"), (5, "Eleri Morgan", 3, 2018, 0, "exotics"), (6, "Ciara Doyle", 3, 2020, 0, ""),
        (7, "Marc Delacroix", 3, 2012, 0, "cardiology"), (8, "Peter Blythe", 4, 1985, 1, "horses"), (9, "Imogen Hart", 4, 2021, 0, None),
        (10, "Gareth Bevan", 2, 2022, 0, "dermatology"), (11, "Locum", None, None, 0, None)]  # fmt: skip
SPECIES = [("DOG", "dog", 0), ("CAT", "cat", 0), ("RAB", "rabbit", 1), ("GPG", "guinea pig", 1), ("HAM", "hamster", 1), ("BUD", "budgerigar", 1),
           ("TOR", "tortoise", 1), ("HOR", "horse", 0), ("FER", "ferret", 1), ("SNK", "snake", 1)]  # fmt: skip
BREEDS = {"DOG": [("Border Collie", 19000), ("Labrador", 31000), ("Cocker Spaniel", 13500), ("Welsh Corgi", 11500), ("crossbreed", 16000), ("Greyhound", 29500),
                  ("Jack Russell", 6500), ("labrador", 30000), (None, 15000), ("Whippet", 12000), ("Great Dane", 62000)],
          "CAT": [("DSH", 4300), ("DLH", 4600), ("Domestic Shorthair", 4200), ("Maine Coon", 6900), ("Siamese", 3900), (None, 4100)],
          "RAB": [("Lop", 2100), ("Dwarf", 1100), (None, 1900)], "GPG": [(None, 950)], "HAM": [("Syrian", 140), (None, 45)], "BUD": [(None, 38)],
          "TOR": [("Hermann's", 1300), (None, 900)], "HOR": [("Welsh Cob", 480000), ("Section A", 220000), ("Thoroughbred", 510000)], "FER": [(None, 1100)],
          "SNK": [("Corn snake", 620), ("Royal python", 1500)]}  # fmt: skip
PETS = """Bella|Luna|Bella|Max|Poppy|Charlie|Luna|Teddy|Milo|Seren|Mot|Fly|Ffion|Smudge|Tigger|Shadow|Coco|Molly|Alfie|Rosie|Taffy|Mali|Jess|Nel|Cadi|Simba|Oscar|
Daisy|Loki|Biscuit|Pwdin|Ginger|Bandit|Sioned|Rex|Button|Pickles|Monty|Nala|Domino|Bella|Sir Barksalot|Enfys|Toffee|Q|Mr. Darcy|Siôn Corn|7up""".replace(
    "\n", ""
).split("|")
LAST = ["Jones"] * 7 + ["Davies"] * 5 + ["Evans"] * 4 + ["Williams"] * 3 + """Thomas|Morgan|Price|Lewis|Hughes|Griffiths|Rees|Llewellyn|Kowalski|O'Brien|Patel|Schmidt|
Nguyen|Smith|Begum|ap Gwilym|de Vries|Pritchard|Watkins|Bowen|Nowak|Fitzgerald|Beynon|Harries|Silva""".replace("\n", "").split("|")  # fmt: skip
FIRST = "Megan|Dafydd|Sarah|John|Carys|Emyr|Linda|Huw|Katarzyna|David|Anwen|Priya|Mark|Siân|Tomos|Elin|Hannah|Geraint|Margaret|Owain|Fatima|Lotte|Ieuan|Beth|Alan".split("|")  # fmt: skip
REASONS = [("CONS", "consultation", 15, 44.5), ("RECH", "re-check", 10, 31.0), ("VACC", "vaccination", 10, 52.0), ("DENT", "dental procedure", 60, 285.0),
           ("NEUT", "neutering", 45, 198.0), ("EMER", "emergency", 30, 165.0), ("NAIL", "nail clipping", 5, 14.0), ("SURG", "surgery", 90, 640.0),
           ("BLOD", "blood test", 10, 86.0), ("EUTH", "euthanasia", 30, 120.0), ("HOME", "home visit", 45, 98.0), ("GROO", "grooming", 40, 38.0)]  # fmt: skip
DIAGNOSES = [("SK", None, "skin", None), ("SK1", "SK", "flea allergy", "N"), ("SK2", "SK", "atopic dermatitis", "Y"), ("SK3", "SK", "abscess", "N"),
             ("GI", None, "digestive system", None), ("GI1", "GI", "gastroenteritis", "N"), ("GI2", "GI", "foreign body", "N"), ("GI3", "GI", "dental disease", "Y"),
             ("GI31", "GI3", "tooth root abscess", "N"), ("MS", None, "bones and joints", None), ("MS1", "MS", "osteoarthritis", "Y"), ("MS2", "MS", "cruciate rupture", "N"),
             ("MS3", "MS", "fracture", "N"), ("EN", None, "hormones", None), ("EN1", "EN", "diabetes mellitus", "Y"), ("EN2", "EN", "hyperthyroidism", "Y"),
             ("UR", None, "urinary tract", None), ("UR1", "UR", "cystitis", "N"), ("UR2", "UR", "chronic kidney disease", "Y"), ("CV", None, "heart", None),
             ("CV1", "CV", "mitral valve disease", "Y"), ("EA", None, "ears and eyes", None), ("EA1", "EA", "otitis externa", "N"), ("EA2", "EA", "conjunctivitis", "N"),
             ("XX", None, "no diagnosis", None), ("PA1", None, "worms", "N")]  # fmt: skip
DRUGS = [("MELO", "meloxicam", "oral suspension", 0.1, 18.9, 64, 20, None), ("AMOX", "amoxicillin/clavulanate", "tablet", 12.5, 14.2, 210, 50, None),
         ("PRED", "prednisolone", "tablet", 0.5, 9.75, 130, 40, None), ("FURO", "furosemide", "tablet", 2.0, 11.0, 18, 20, None),
         ("PIMO", "pimobendan", "capsule", 0.25, 46.3, 22, 10, None), ("INSU", "insulin", "injection", None, 58.0, 9, 10, None),
         ("METH", "methimazole", "tablet", 0.6, 27.4, 40, 15, None), ("KETA", "ketamine", "injection", 5.0, 31.0, 12, 5, "yes"),
         ("GABA", "gabapentin", "capsule", 10.0, 12.6, 77, 25, "yes"), ("FIPR", "fipronil", "spot-on", None, 22.5, 300, 80, None),
         ("PRAZ", "praziquantel", "Tablet", 5.0, 7.9, 260, 60, None), ("EARD", "ear drops", "drops", None, 16.8, 0, 15, None),
         ("BUPR", "buprenorphine", "injection", 0.02, 24.0, 14, 6, "yes"), ("FENB", "fenbendazole", "paste", 50.0, 8.4, 95, 30, None)]  # fmt: skip
TREATS = {"SK1": ["FIPR", "PRED"], "SK2": ["PRED", "OCLA"], "SK3": ["AMOX", "MELO"], "GI1": ["FENB", "AMOX"], "GI2": ["KETA", "BUPR"], "GI3": ["AMOX"], "GI31": ["AMOX", "MELO"],
          "MS1": ["MELO", "GABA"], "MS2": ["MELO", "BUPR"], "MS3": ["BUPR", "MELO"], "EN1": ["INSU"], "EN2": ["METH"], "UR1": ["AMOX", "MELO"], "UR2": ["RENA"],
          "CV1": ["PIMO", "FURO"], "EA1": ["EARD"], "EA2": ["CHLO"], "PA1": ["PRAZ", "FENB"]}  # fmt: skip
LIKELY = {"DOG": ["SK1", "SK2", "GI1", "GI1", "GI2", "GI3", "MS1", "MS1", "MS2", "CV1", "EA1", "EA1", "UR1", "PA1", "XX"],
          "CAT": ["SK1", "SK3", "SK3", "GI1", "GI3", "EN1", "EN2", "UR1", "UR1", "UR2", "EA2", "PA1", "MS3", "XX"], "HOR": ["MS1", "MS3", "SK2", "PA1", "GI1"]}  # fmt: skip
NOTES = [
    None,
    None,
    None,
    "",
    "",
    "bites",
    "owner will ring tomorrow",
    "o/w well",
    "eats less since Monday",
    "post-op, wound dry",
    "fasting sample",
    "Bring in faeces",
    "see letter",
]


def uk(day: date) -> str:
    return day.strftime("%d/%m/%Y")


def day_of(text: object) -> date:
    day, month, year = map(int, str(text).split("/"))
    return date(year, month, day)


def alive(animal: list[str | int | float | None], day: date, clinic: int, since: str) -> bool:
    """True where an animal was born and not dead on a day, its owner registered and its clinic in the group."""
    born = str(animal[6]) if animal[6] else "2010"
    early = date(int(born), 12, 31) if len(born) == 4 else day_of(born)
    return (
        max(early, day_of(since)) <= day
        and not (animal[7] and day_of(animal[7]) <= day)
        and (clinic != 4 or day >= date(2023, 2, 1))
    )


def clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"


def owners(r: random.Random) -> list[list[str | int | float | None]]:
    rows: list[list[str | int | float | None]] = []
    for i in range(1, 261):
        first, last = r.choice(FIRST), r.choice(LAST)
        clinic = r.choices([1, 2, 3, 4], [6, 3, 9, 4])[0]
        since = (
            date(2023, 2, 1) + timedelta(days=r.randint(0, 450))
            if clinic == 4
            else date(2016, 1, 4) + timedelta(days=int(3000 * r.random() ** 0.7))
        )
        area = {1: "SA43", 2: "SA46", 3: "SA31", 4: "HR3"}[clinic] if r.random() < 0.9 else "SY23"
        rows.append([i, r.choice(["Mrs", "Mr", "Ms", "Dr", "", None]), first, last, f"{area} {r.randint(1, 9)}{r.choice('ABDEF')}{r.choice('HJLNP')}",
                     f"07{r.randint(700, 999)} {r.randint(100000, 999999)}" if r.random() < 0.9 else None,
                     f"{first.lower()}.{last.lower().replace(' ', '')}{i % 90}@example.{r.choice(['com', 'org', 'cymru'])}" if r.random() < 0.7 else "",
                     r.choices(["Y", "N", None], [7, 3, 1])[0], uk(since), clinic, r.choices([0.0, -round(r.uniform(8, 420), 2), 25.0], [8, 2, 0.4])[0]])  # fmt: skip
    return rows


def patients(
    r: random.Random, keepers: list[list[str | int | float | None]]
) -> list[list[str | int | float | None]]:
    rows: list[list[str | int | float | None]] = []
    for i in range(1, 381):
        keeper = r.choice(keepers[:245])  # the last ones have no animal
        kind = r.choices([row[0] for row in SPECIES], [46, 34, 7, 4, 2, 2, 1, 3, 1, 1])[0]
        breed, weight = r.choice(BREEDS[kind])
        born = date(2024, 3, 1) - timedelta(days=int(90 + 5200 * r.random() ** 1.2))
        dead = r.random() < 0.11
        died = (
            max(born + timedelta(days=40), date(2021, 2, 1) + timedelta(days=r.randint(0, 1180)))
            if dead
            else None
        )
        when = str(born.year) if keeper[9] == 4 else uk(born) if r.random() < 0.94 else None
        rows.append([i, keeper[0], r.choice(PETS), kind, breed, r.choices(["M", "F", "MN", "FS", "U"], [4, 4, 6, 6, 1 if kind in {"DOG", "CAT"} else 6])[0], when,
                     uk(died) if died else None, r.choice(["black", "Black", "tan", "black & white", "tabby", "grey", "ginger", None, ""]),
                     round(weight * r.lognormvariate(0, 0.15)), r.choices(["T", "F"], [4, 6])[0] if kind in {"DOG", "CAT", "HOR"} else "F",
                     f"9810{r.randint(10**10, 10**11 - 1)}" if kind in {"DOG", "CAT"} and r.random() < 0.8 else None, r.choice([None, None, None, "nervous", "bites", "sweet", "BITES"])])  # fmt: skip
    return rows


def build(r: random.Random) -> str:
    keepers = owners(r)
    home, since = {row[0]: row[9] for row in keepers}, {row[0]: str(row[8]) for row in keepers}
    animals = patients(r, keepers)
    fees = {row[0]: (row[2], row[3]) for row in REASONS}
    named = {row[0]: row[1] for row in REASONS}
    by_clinic = {1: [1, 2, 2], 2: [3, 3, 10], 3: [4, 5, 6, 7, 6], 4: [8, 9, 9]}
    often = [r.paretovariate(2.2) for _ in animals]
    moments: list[tuple[date, int, list[str | int | float | None] | None]] = []
    for _ in range(1150):
        day = date(2021, 1, 4) + timedelta(days=int(1235 * r.random() ** 0.8))
        if day.weekday() == 6:
            day += timedelta(days=1)
        moments.append((day, r.randint(8 * 60 + 30, 18 * 60 + 15), None))
    # Half of those that died were put to sleep at the practice.
    moments += [
        (day_of(a[7]), r.randint(8 * 60 + 30, 18 * 60), a)
        for a in animals
        if a[7]
        and r.random() < 0.5
        and alive([*a[:7], None], day_of(a[7]), int(home[a[1]] or 3), since[a[1]])
    ]
    moments.sort(key=lambda moment: moment[:2])
    visits, found, scripts, charges, jabs = [], [], [], [], []
    for number, (day, arrived, last) in enumerate(moments, start=20001):
        animal = last or r.choices(animals[:355], often[:355])[0]  # those at the end never came
        clinic = int(home[animal[1]] or 3)
        while not last and not alive(animal, day, clinic, since[animal[1]]):
            animal = r.choices(animals[:355], often[:355])[0]
            clinic = int(home[animal[1]] or 3)
        if r.random() < 0.05:
            clinic = 3
        kind, mass = str(animal[3]), int(animal[9] or 0)
        reason = (
            "EUTH"
            if last
            else r.choices(
                [row[0] for row in REASONS],
                [40, 17, 21, 5, 4, 6, 4, 3, 8, 0, 2, 1 if kind == "DOG" else 0],
            )[0]
        )
        there = [
            v
            for v in by_clinic[clinic]
            if not (v == 7 and day > date(2023, 8, 31))
            and (v < 9 or day.year >= (2023 if v == 10 else 2022))
        ]
        vet = r.choice(there) if r.random() > 0.04 else r.choice([11, None])
        in_grams = kind not in {"DOG", "CAT", "HOR"} or (kind == "CAT" and clinic == 4)
        now = mass * r.lognormvariate(0, 0.05)
        weight = None if r.random() < 0.12 else round(now) if in_grams else round(now / 1000, 1)
        outcome = (
            "E"
            if reason == "EUTH"
            else r.choices(
                ["H", "A", "R", "D", None],
                [86, 8, 3, 0.5, 3] if reason not in {"EMER", "SURG"} else [50, 40, 6, 4, 0],
            )[0]
        )
        if outcome == "D" and animal[7]:
            outcome = "A"
        if outcome == "D":
            animal[7] = uk(day)
        visits.append((number, animal[0], vet, clinic, uk(day), clock(arrived), clock(arrived + r.choice([0, 3, 5, 8, 12, 20, 45])) if r.random() < 0.93 else None, reason, weight,
                       ("g" if in_grams else "kg") if weight else None, round(r.gauss(38.6, 0.5), 1) if kind in {"DOG", "CAT", "HOR"} and r.random() < 0.7 else None, outcome, r.choice(NOTES)))  # fmt: skip
        fee = fees[str(reason)][1] * (1.8 if kind == "HOR" and reason == "SURG" else 1)
        items = [
            (
                named[str(reason)],
                round(fee * (1 + 0.06 * (day.year - 2021)), 2),
            )
        ]
        if reason in {"CONS", "RECH", "EMER", "SURG", "DENT", "BLOD", "HOME"}:
            chosen = (
                ["GI3"]
                if reason == "DENT"
                else [r.choice(LIKELY.get(kind, ["GI1", "SK3", "GI3", "XX"]))]
            )
            if r.random() < 0.12:
                chosen.append(r.choice(["PA1", "EA2", "MS1"]))
            for code in dict.fromkeys(chosen):
                found.append(
                    (
                        number,
                        code,
                        r.choice([1, 2, 3, 3]),
                        r.choice(["acute", "chronic", "Acute", "", None, "stable"]),
                    )
                )
                for drug in r.sample(
                    TREATS.get(code, []), min(len(TREATS.get(code, [])), r.choice([0, 1, 1, 2]))
                ):
                    rate = next((row[3] for row in DRUGS if row[0] == drug), None)
                    scripts.append((len(scripts) + 1, number, drug, round(rate * now / 1000, 2) if rate else None, r.choice([1, 1, 2, 2, 3]), r.choice([3, 5, 7, 7, 10, 14, 28]),
                                    r.choices([0, 1, 3, 6], [8, 1, 1, 1])[0], r.choice([None, None, "with food", "keep cold", "until finished"])))  # fmt: skip
                    items.append(
                        (f"drug {drug}", next((row[4] for row in DRUGS if row[0] == drug), 19.5))
                    )
        if reason == "VACC":
            for vaccine in {
                "DOG": ["DHP", "Lepto"],
                "CAT": ["FeLV"],
                "RAB": ["Myxo-RHD"],
                "HOR": ["Flu-Tet"],
            }.get(kind, []):
                jabs.append(
                    (
                        animal[0],
                        vaccine,
                        uk(day),
                        uk(day + timedelta(days=365)),
                        f"{vaccine[0]}{day.year % 100}{r.randint(100, 130)}",
                        vet,
                    )
                )
        if r.random() < 0.05:
            items.append(("discount", -round(0.1 * sum(amount for _, amount in items), 2)))
        paid = (
            uk(day)
            if r.random() < 0.8
            else uk(min(day + timedelta(days=r.randint(2, 70)), max(day, date(2024, 5, 31))))
            if r.random() < 0.75
            else None
        )
        method = (
            r.choice(["card", "card", "cash", "CARD", "insurance" if animal[10] == "T" else "card"])
            if paid
            else None
        )
        charges += [
            (len(charges) + i, number, item, amount, 20, paid, method)
            for i, (item, amount) in enumerate(items, start=1)
        ]
    jabs = list({row[:3]: row for row in jabs}.values())
    rota = [
        (vet, clinic, day, *r.choice([("08:30", "17:00"), ("10:00", "18:30"), ("08:30", "13:00")]))
        for vet, _, clinic, *_ in VETS[:10]
        for day in sorted(r.sample(range(1, 7), 4))
    ]
    staff = [(*row, "31/08/2023" if row[0] == 7 else None) for row in VETS]
    return TABLES + "".join([
        insert("clinic", CLINICS), insert("vet", staff), insert("species", SPECIES), insert("owner", keepers), insert("patient", animals), insert("visit_reason", REASONS),
        insert("visit", visits), insert("diagnosis", DIAGNOSES), insert("visit_diagnosis", found), insert("drug", DRUGS), insert("prescription", scripts),
        insert("vaccination", jabs), insert("charge", charges), insert("rota", rota),
    ])  # fmt: skip
