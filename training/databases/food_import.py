"""ERP extract of a food import wholesaler in Rotterdam: what was ordered from suppliers overseas, the shipments and containers it came
in, customs, stock by month, and what shops, caterers and makers bought. 2022 to 2024; the books are in euros.

Size: 14 tables, 102 columns, 6225 rows.

Messy on purpose:
- Everything is abbreviated: cst customer, sup supplier, prd product, po purchase order, so sales order, _ln line, shp shipment, cntnr
  container, hs customs tariff, fx rates, stk stock, whs warehouse, ccy currency, qty_ord ordered, qty_shp shipped, rt rate, dty duty.
- A declared key is wrong: po.sup_id is declared to point at cst(cst_id), but it holds sup.sup_id; it holds by chance, because the numbers
  overlap. No key is declared in so_ln.prd_cd and stk; 7 lines sell a product that is not listed any more ('ZZ99').
- cntnr and cntnr_ln have composite keys (shp_id, cntnr_no), because a container number comes back.
- Currencies: po_ln.unt_prc is in po.ccy, so_ln.unt_prc in so.ccy. fx has one row a month and currency, rt units of the currency for one
  euro; EUR itself is not in it; yr_mth is a number (202403). Rates of two months are missing for NGN.
- Weights: cntnr.grs_wt and prd.unt_wt are in wt_u, 'lb' or 'kg' ('LBS', 'KG' too); cntnr.tare_kg always in kg.
- Dates: po.dt_ord and so.dt_ord yyyymmdd numbers; shp.etd, eta and ata dd/mm/yyyy; cntnr_ln.best_bf 'Mar-25'; so.dlv_ts Unix seconds; cst.since ISO.
- Percentages: hs.dty_pct is 9.6, cst.disc is 0.05, so_ln.disc_pct is 5. cst.crd_lim is text ('25.000'), with the Dutch point for thousands.
- Codes without lookup tables. po.st: O open, P part received, R received, X cancelled. so.st: 'shipped', 'SHIPPED', 'open', 'CANC', 'cancelled',
  'part'. shp.st: 1 booked, 2 at sea, 3 at port, 4 cleared, 5 delivered, 8 lost. cntnr.cstms: G green, Y documents, R inspected. cst.typ: RT retail,
  HC hotels and catering, MF maker, WS wholesale. po.inctm is the Incoterm (FOB, CIF, EXW). cntnr.sz: 20, 40, 40R (cooled).
- Flags: cst.actv 'J'/'N', prd.org 0/1 (organic), sup.cert 'T'/'F'/NULL. cst.rep_id and emp.mgr_id point at emp.
- hs is a tree by prnt_cd (chapter, heading, code). stk is a snapshot at each month's end; qty_oh below zero is a counting error.
- Customers with the same name in two cities, customers and products without orders, orders without a representative.
"""

from __future__ import annotations

import random
from calendar import timegm
from datetime import date, timedelta

from training.script import Value, insert

# fmt: off
TABLES = """
CREATE TABLE emp (emp_id INTEGER PRIMARY KEY, nm TEXT, fn TEXT, mgr_id INTEGER REFERENCES emp(emp_id), hrd INTEGER, cmm REAL);
CREATE TABLE cst (cst_id INTEGER PRIMARY KEY, cst_nm TEXT, typ TEXT, cty TEXT, cntry TEXT, rep_id INTEGER REFERENCES emp(emp_id), since TEXT, crd_lim TEXT, disc REAL, pay_dys INTEGER, actv TEXT);
CREATE TABLE sup (sup_id INTEGER PRIMARY KEY, sup_nm TEXT, cntry TEXT, ccy TEXT, lead_dys INTEGER, cert TEXT, cntct TEXT);
CREATE TABLE hs (hs_cd TEXT PRIMARY KEY, prnt_cd TEXT REFERENCES hs(hs_cd), descr TEXT, dty_pct REAL);
CREATE TABLE prd (prd_cd TEXT PRIMARY KEY, prd_nm TEXT, ctg TEXT, orig TEXT, hs_cd TEXT REFERENCES hs(hs_cd), sup_id INTEGER REFERENCES sup(sup_id), unt_wt REAL, wt_u TEXT, pcs_cs INTEGER, lst_prc REAL, org INTEGER, min_stk INTEGER);
CREATE TABLE fx (yr_mth INTEGER, ccy TEXT, rt REAL, PRIMARY KEY (yr_mth, ccy));
CREATE TABLE po (po_no INTEGER PRIMARY KEY, sup_id INTEGER REFERENCES cst(cst_id), dt_ord INTEGER, ccy TEXT, inctm TEXT, st TEXT, byr_id INTEGER REFERENCES emp(emp_id));
CREATE TABLE po_ln (po_no INTEGER REFERENCES po(po_no), ln_no INTEGER, prd_cd TEXT REFERENCES prd(prd_cd), qty_ord INTEGER, qty_rcv INTEGER, unt_prc REAL, PRIMARY KEY (po_no, ln_no));
CREATE TABLE shp (shp_id INTEGER PRIMARY KEY, po_no INTEGER REFERENCES po(po_no), vssl TEXT, prt_ld TEXT, prt_ds TEXT, etd TEXT, eta TEXT, ata TEXT, frt_eur REAL, st INTEGER);
CREATE TABLE cntnr (shp_id INTEGER REFERENCES shp(shp_id), cntnr_no TEXT, sz TEXT, grs_wt REAL, wt_u TEXT, tare_kg INTEGER, tmp_c REAL, cstms TEXT, dty_eur REAL, PRIMARY KEY (shp_id, cntnr_no));
CREATE TABLE cntnr_ln (shp_id INTEGER, cntnr_no TEXT, prd_cd TEXT REFERENCES prd(prd_cd), lot TEXT, qty INTEGER, dmg INTEGER, best_bf TEXT, PRIMARY KEY (shp_id, cntnr_no, prd_cd),
  FOREIGN KEY (shp_id, cntnr_no) REFERENCES cntnr(shp_id, cntnr_no));
CREATE TABLE so (so_no TEXT PRIMARY KEY, cst_id INTEGER NOT NULL REFERENCES cst(cst_id), dt_ord INTEGER, dlv_ts INTEGER, ccy TEXT, st TEXT, rep_id INTEGER REFERENCES emp(emp_id), cst_ref TEXT);
CREATE TABLE so_ln (so_no TEXT REFERENCES so(so_no), ln_no INTEGER, prd_cd TEXT, qty_ord INTEGER, qty_shp INTEGER, unt_prc REAL, disc_pct INTEGER, PRIMARY KEY (so_no, ln_no));
CREATE TABLE stk (yr_mth INTEGER, whs TEXT, prd_cd TEXT, qty_oh INTEGER, val_eur REAL, PRIMARY KEY (yr_mth, whs, prd_cd));
CREATE VIEW so_eur AS SELECT so.so_no, so.cst_id, so.dt_ord, ROUND(SUM(l.qty_shp * l.unt_prc * (100 - l.disc_pct) / 100.0) / COALESCE(fx.rt, 1), 2) AS amt_eur
  FROM so JOIN so_ln l USING (so_no) LEFT JOIN fx ON fx.ccy = so.ccy AND fx.yr_mth = so.dt_ord / 100 WHERE so.st IN ('shipped', 'SHIPPED', 'part') GROUP BY so.so_no;
"""

STAFF = [(1, "Willemijn Baas", "director", None, 20040301, None), (2, "Joost Verkerk", "head of sales", 1, 20110901, 0.01), (3, "Samira El Idrissi", "sales", 2, 20160201, 0.02), (4, "Pim de Wit", "sales", 2, 20190801, 0.02), (5, "Pim de Wit", "sales", 2, 20230115, 0.015),
         (6, "Chantal Maes", "sales", 2, 20180401, 0.025), (7, "Ruud Kok", "buyer", 1, 20090501, None), (8, "Thuy Pham", "buyer", 7, 20200901, None), (9, "Danny Vos", "warehouse", 1, 20150301, None), (10, "Anouk Smit", "sales", 2, 20240601, 0.015)]
SUPPLIERS = [("Kaveri Spices Pvt", "IN", "USD", 62), ("Anadolu Kuruyemiş A.Ş.", "TR", "USD", 34), ("Siam Golden Rice", "TH", "USD", 70), ("Valle Verde S.A.", "PE", "USD", 55), ("Georgia Pecan Growers", "US", "USD", 40), ("Oliveira & Filhos", "PT", "EUR", 14), ("Lagos Sesame Traders", "NG", "NGN", 66),
             ("Hokuriku Foods", "JP", "JPY", 75), ("Highland Oats Ltd", "GB", "GBP", 10), ("Cooperativa El Cafetal", "CO", "USD", 58), ("Bodrum Fig Union", "TR", "USD", 33), ("Prairie Pulse Inc.", "CA", "USD", 48), ("Ceylon Coconut", "LK", "USD", 68), ("Mekong Noodles", "VN", "USD", 72), ("Azienda Bianchi", "IT", "EUR", 12)]
TARIFF = [("08", None, "fruit and nuts", None), ("0802", "08", "nuts", None), ("080290", "0802", "other nuts", 2.0), ("080221", "0802", "hazelnuts", 3.2), ("0804", "08", "dates, figs, mangoes", None), ("080420", "0804", "figs", 5.6), ("09", None, "coffee, tea, spices", None), ("0904", "09", "pepper", None), ("090411", "0904", "pepper, whole", 0.0), ("091030", "09", "turmeric", 0.0),
          ("090111", "09", "coffee, not roasted", 0.0), ("10", None, "cereals", None), ("100630", "10", "rice, milled", 17.5), ("100850", "10", "quinoa", 0.8), ("1207", None, "oil seeds", None), ("120740", "1207", "sesame", 0.0), ("1509", None, "olive oil", 12.4), ("19", None, "pasta and bakery", None), ("190230", "19", "noodles", 6.4), ("2103", None, "sauces", 7.7), ("0713", None, "pulses", 0.0), ("1104", None, "oats, rolled", 9.1), ("2008", None, "coconut milk, preserved fruit", 8.8), ("2002", None, "tomatoes, preserved", 14.4)]
PRODUCTS = """Black pepper whole;spices;IN;090411;1;25;kg;142|Turmeric ground;spices;IN;091030;1;20;kg;71|Cumin seed;Spices;IN;091030;1;25;kg;118|Hazelnuts roasted;nuts;TR;080221;2;10;kg;93|Pistachio kernels;nuts;TR;080290;2;10;KG;231|Dried apricots;dried fruit;TR;0804;2;5;kg;31|Jasmine rice;rice;TH;100630;3;18;kg;29.5|
Jasmine rice broken;rice;TH;100630;3;18;kg;21|Sticky rice;rice;TH;100630;3;10;kg;19|Red quinoa;grains;PE;100850;4;25;kg;97|White quinoa;grains;PE;100850;4;25;kg;83|Cocoa nibs;Cocoa;PE;09;4;10;kg;112|Pecan halves;nuts;US;080290;5;30;lb;259|Pecan pieces;nuts;US;080290;5;30;lb;204|Almonds natural;nuts;US;0802;5;50;LBS;238|Olive oil extra virgin 5 l;oil;PT;1509;6;4.6;kg;44|
Olive oil 1 l;oil;PT;1509;6;0.92;kg;9.8|Sardines in oil;tins;PT;2103;6;0.125;kg;1.9|Sesame hulled;seeds;NG;120740;7;25;kg;64|Sesame black;seeds;NG;120740;7;25;kg;88|Soy sauce 1.8 l;sauces;JP;2103;8;2.1;kg;12.4|Miso white;sauces;JP;2103;8;1;kg;7.2|Nori sheets;sauces;JP;2008;8;0.3;kg;14.9|Rolled oats;grains;GB;1104;9;25;kg;22|Oat bran;grains;GB;1104;9;20;kg;19.5|
Green coffee Huila;coffee;CO;090111;10;70;kg;412|Green coffee decaf;coffee;CO;090111;10;70;kg;489|Dried figs;dried fruit;TR;080420;11;10;kg;58|Fig paste;dried fruit;TR;080420;11;12;kg;47|Red lentils;pulses;CA;0713;12;50;lb;41|Chickpeas;pulses;CA;0713;12;50;lb;46|Yellow peas;pulses;CA;0713;12;100;LBS;52|Coconut milk 400 ml;tins;LK;2008;13;0.45;kg;1.35|Coconut flour;grains;LK;2008;13;20;kg;39|
Rice noodles 3 mm;noodles;VN;190230;14;0.4;kg;1.15|Rice paper;noodles;VN;190230;14;0.5;kg;1.8|Fish sauce;sauces;VN;2103;14;0.8;kg;2.6|Tomatoes peeled 2.5 kg;tins;IT;2002;15;2.6;kg;4.1|Passata;tins;IT;2002;15;0.7;kg;1.25|Pesto;sauces;IT;2103;15;0.19;kg;2.2""".replace("\n", "").split("|")
CITIES = [("Rotterdam", "NL", 9), ("Amsterdam", "NL", 8), ("Utrecht", "NL", 4), ("Antwerpen", "BE", 5), ("Gent", "BE", 3), ("Köln", "DE", 5), ("Duisburg", "DE", 3), ("Zürich", "CH", 3), ("London", "GB", 4), ("Luxembourg", "LU", 1), ("rotterdam", "NL", 1), ("Boston", "US", 1)]
CURRENCY = {"GB": "GBP", "CH": "CHF", "US": "USD"}
RATES = {"USD": (1.13, 0.02), "GBP": (0.84, 0.012), "CHF": (1.03, 0.012), "JPY": (131.0, 0.02), "NGN": (470.0, 0.05)}
PORTS = {"IN": "Nhava Sheva", "TR": "İzmir", "TH": "Laem Chabang", "PE": "Callao", "US": "Savannah", "PT": "Leixões", "NG": "Lagos", "JP": "Kobe", "GB": "Felixstowe", "CO": "Cartagena", "CA": "Montréal", "LK": "Colombo", "VN": "Hai Phong", "IT": "Genova"}
SHIPS = ["Ever Patient", "MSC Orla", "Hanse Bremen", "Nordic Swift", "CMA Lotus", "Maas Trader", "Pacific Ox"]


def number(day: date) -> int:
    return day.year * 10000 + day.month * 100 + day.day


def build(r: random.Random) -> str:
    months = [(2022 + m // 12, m % 12 + 1) for m in range(36)]
    rates: dict[tuple[int, str], float] = {}
    for ccy, (start, swing) in RATES.items():
        rate = start
        for year, month in months:
            rate *= 1 + r.gauss(0.02 if ccy == "NGN" else 0.004 if ccy == "JPY" else -0.001, swing)
            rates[year * 100 + month, ccy] = round(rate, 4 if rate < 10 else 2)
    goods: list[list[Value]] = []
    prices: dict[str, float] = {}
    for i, line in enumerate(PRODUCTS):
        name, group, origin, tariff, sup, weight, unit, price = line.split(";")
        code = f"{group[:2].upper()}{10 + i}"
        prices[code] = float(price)
        goods.append([code, name, group, origin, tariff, int(sup), float(weight), unit, 12 if float(weight) < 3 else 1, float(price), 1 if r.random() < 0.25 else 0, r.choice([0, 20, 50, 200, None])])
    clients: list[list[Value]] = []
    for i in range(1, 106):
        city, land, _ = r.choices(CITIES, [c[2] for c in CITIES])[0]
        kind = r.choices(["RT", "HC", "MF", "WS", "rt"], [40, 26, 18, 12, 4])[0]
        name = f"{r.choice(['De Gouden', 'Het', 'Zum', 'Café', 'Toko', 'Bio', 'Bäckerei', 'Maison', 'Little', 'Van Dam'])} {r.choice(['Anker', 'Molen', 'Kardamom', 'Orient', 'Korn', 'Lotus', 'Marché', 'Pantry', 'Saray', 'Zonen'])}"
        clients.append([i, name, kind, city, land, r.choices([3, 4, 5, 6, None], [30, 25, 15, 25, 5])[0], str(date(2008, 1, 5) + timedelta(days=int(5400 * r.random() ** 0.8))), r.choice(["5.000", "10.000", "25.000", "25.000", "60.000", "150.000", None, ""]), r.choices([0.0, 0.03, 0.05, 0.1], [60, 20, 14, 6])[0], r.choice([14, 30, 30, 60]), "N" if i % 13 == 0 else "J"])
    suppliers = [(i, *row, r.choice(["T", "T", "F", None]), r.choice(["sales", "Mr. Rao", "Ms. Demir", "", None])) for i, row in enumerate(SUPPLIERS, 1)]
    buys, buy_lines, ships, boxes, loads = [], [], [], [], []
    numbers = [f"{p}U{r.randint(1000000, 9999999)}" for p in r.choices(["MSC", "HLC", "TGH", "CMA"], k=210)]
    for i in range(170):
        day = date(2022, 1, 4) + timedelta(days=int(1075 * (i + r.random()) / 170))
        sup = r.choices(range(1, 15), [9, 8, 8, 5, 7, 4, 3, 2, 3, 6, 3, 5, 4, 4])[0]
        _, land, ccy, lead = SUPPLIERS[sup - 1]
        leave = day + timedelta(days=r.randint(6, 25))
        eta = leave + timedelta(days=lead * 3 // 4)
        late = int(r.expovariate(1 / 4)) + (14 if day.year == 2024 and land in {"IN", "TH", "LK", "VN"} else 0)
        ata = eta + timedelta(days=late - 2)
        arrived = ata <= date(2024, 12, 31)
        cancelled = r.random() < 0.03
        po = 70001 + i
        buys.append((po, sup, number(day), ccy, r.choices(["FOB", "CIF", "EXW"], [60, 32, 8])[0], "X" if cancelled else "O" if not arrived else r.choices(["R", "P"], [92, 8])[0], r.choice([7, 8, 8])))
        offer = [g for g in goods if g[5] == sup]
        mine = r.sample(offer, min(len(offer), r.choice([1, 2, 2, 3])))
        rate = rates.get((day.year * 100 + day.month, ccy), 1.0)
        lines = [(str(g[0]), r.choice([40, 80, 120, 200, 320]) * int(g[8] or 1), round(prices[str(g[0])] * r.uniform(0.58, 0.7) * rate, 2)) for g in mine]
        for n, (code, quantity, each) in enumerate(lines, 1):
            buy_lines.append((po, n, code, quantity, 0 if cancelled or not arrived else quantity - r.choice([0, 0, 0, 0, 0, quantity // 10]), each))
        if cancelled:
            continue
        shp = len(ships) + 1
        lost = i == 88
        state = 8 if lost else 5 if ata < date(2024, 12, 10) else 4 if arrived else 2 if leave < date(2024, 12, 31) else 1
        ships.append((shp, po, r.choice(SHIPS) if lead > 15 else "truck", PORTS[land], r.choices(["Rotterdam", "Antwerpen", "ROTTERDAM"], [80, 15, 5])[0], f"{leave:%d/%m/%Y}", f"{eta:%d/%m/%Y}", f"{ata:%d/%m/%Y}" if arrived and not lost else None, round(r.lognormvariate(7.9, 0.35), 2), state))
        used = r.sample(numbers, r.choices([1, 2, 3], [55, 33, 12])[0])
        for box in used:
            unit = "lb" if land in {"US", "CA"} else r.choices(["kg", "KG"], [9, 1])[0]
            duty, weight = 0.0, 0.0
            best = ata + timedelta(days=r.choice([240, 365, 540]))
            for code, quantity, each in lines:
                item = next(g for g in goods if g[0] == code)
                part = quantity // len(used)
                weight += part * float(item[6] or 0) * (0.4536 if str(item[7]).lower() != "kg" else 1)
                duty += part * each / rate * (next(t[3] for t in TARIFF if t[0] == item[4]) or 0) / 100
                loads.append((shp, box, code, f"L{day:%y%m}{r.choice('ABC')}" if r.random() < 0.9 else None, part, part // 20 if r.random() < 0.07 else 0, f"{best:%b-%y}"))
            tare = r.choice([2200, 3800, 3900])
            cool = item[2] in {"cocoa", "Cocoa", "nuts"} and r.random() < 0.5
            boxes.append((shp, box, "40R" if cool else "20" if tare == 2200 else "40", round((weight + tare) * (2.2046 if unit == "lb" else 1), 1), unit, tare, round(r.gauss(8, 1.5), 1) if cool else None, r.choices("GYR", [80, 14, 6])[0] if arrived else None, round(duty, 2) if arrived else None))
    sales, lines_sold = [], []
    keen = [0 if c[10] == "N" and i % 2 else 1 / (1 + i % 50) ** 0.8 for i, c in enumerate(clients)]
    keen[103] = 0
    liked = [1 / (1 + (i * 7) % 40) ** 0.6 if i not in {22, 33} else 0 for i in range(len(goods))]
    days = sorted(date(2022, 1, 3) + timedelta(days=int(1093 * r.random() ** 0.85)) for _ in range(1080))
    for i, day in enumerate(days):
        client = clients[r.choices(range(105), keen)[0]]
        so = f"SO{day:%y}-{i + 1:05d}"
        ccy = CURRENCY.get(str(client[4]), "EUR")
        fate = "open" if day > date(2024, 12, 20) else r.choices(["shipped", "SHIPPED", "CANC", "cancelled", "part"], [84, 5, 3, 2, 6])[0]
        none = fate in {"open", "CANC", "cancelled"}
        moment = None if none else timegm((day + timedelta(days=r.randint(1, 9))).timetuple()) + r.randint(7, 17) * 3600
        sales.append((so, client[0], number(day), moment, ccy, fate, client[5] if r.random() < 0.93 else None, r.choice([None, None, "", f"PO {r.randint(100, 9999)}"])))
        for n, g in enumerate(sorted({r.choices(range(40), liked)[0] for _ in range(r.choices([1, 2, 3, 4, 6], [25, 30, 22, 15, 8])[0])}), 1):
            code = str(goods[g][0])
            quantity = max(1, int(r.lognormvariate(1.6, 0.9))) * int(goods[g][8] or 1) * (3 if client[2] in {"WS", "MF"} else 1)
            rate = rates.get((day.year * 100 + day.month, ccy), 1.0)
            each = round(prices[code] * (1 + 0.04 * (day.year - 2022)) * (1 - float(client[8] or 0)) * rate, 2)
            lines_sold.append((so, n, "ZZ99" if i % 150 == 75 and n == 1 else code, quantity, 0 if none else quantity // 2 if fate == "part" and n == 1 else quantity, each, r.choices([0, 5, 10], [86, 10, 4])[0]))
    stock: list[tuple[Value, ...]] = []
    level = {str(g[0]): r.randint(30, 400) * int(g[8] or 1) for g in goods[:36]}
    for year, month in months[18:]:
        for code, before in level.items():
            kept = max(0, int(before * r.uniform(0.55, 1.2)) + (r.randint(40, 300) if r.random() < 0.3 else 0))
            level[code] = kept
            shown = -r.randint(1, 12) if r.random() < 0.004 else kept
            stock.append((year * 100 + month, "COLD" if code[:2] in {"NU", "CO"} else "MAAS" if year < 2024 or code[:2] != "RI" else "WAAL", code, shown, round(shown * prices[code] * 0.65, 2)))
    return TABLES + "".join([
        insert("emp", STAFF), insert("cst", clients), insert("sup", suppliers), insert("hs", TARIFF), insert("prd", goods), insert("fx", [(m, c, v) for (m, c), v in sorted(rates.items()) if (m, c) not in {(202306, "NGN"), (202401, "NGN")}]),
        insert("po", buys), insert("po_ln", buy_lines), insert("shp", ships), insert("cntnr", boxes), insert("cntnr_ln", loads), insert("so", sales), insert("so_ln", lines_sold), insert("stk", stock),
    ])
