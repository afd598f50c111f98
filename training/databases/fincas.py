"""Programa de una administración de fincas de Valencia: edificios y sus partes, propietarios, inquilinos, contratos, recibos,
contadores y lecturas, incidencias. Columns are Spanish. January 2021 to May 2024 (receipts from July 2022 on).

Size: 14 tables, 97 columns, 6752 rows.

Messy on purpose:
- inmueble is a hierarchy (id_padre): EDI edificio > ESC escalera > VIV vivienda, LOC local, GAR garaje, TRA trastero; some
  buildings have no staircase between. Only the last four are let. superficie is m², NULL for buildings.
- Money: contrato.renta_cts and fianza_cts are cents; recibo.importe is a text like '1,250.00' (commas for thousands),
  recibo.pagado a number of euros; gasto.importe a text like '1.250,00 €' as Spaniards write it (imported from the bank).
- Dates: contrato.fecha_inicio and fecha_fin are ISO, fecha_fin NULL is open-ended, fecha_baja the day they really left;
  incidencia.abierta and cerrada are dd/mm/yyyy HH:MM; recibo.mes is 'YYYY-MM'; lectura.fecha is a yyyymmdd integer.
- lectura.valor is what the meter shows: it counts up, use is the difference of two readings; water in m³, electricity in kWh, heat
  in MWh for new and kWh for old meters (contador.unidad). A meter that was changed starts at 0 with a new contador row;
  three water meters ran over from 99999 to 0. lectura.tipo: R real, E estimada.
- incidencia.estado: 'Abierta', 'ABIERTA', 'en curso', 'En curso', 'cerrada', 'Cerrada', 'CERRADA', 'anulada', NULL. prioridad 1 (most
  urgent) to 4. Each change is in incidencia_log.
- propietario_inmueble.cuota is a share of 100 (50, 33.33); gasto_reparto.porcentaje a share of 1 (0.12).
- Flags: inquilino.empresa 'S'/'N', contrato.mascotas 0/1, proveedor.homologado 'sí', 'no', ''. contrato.tipo: VH vivienda habitual, TE
  temporada, LC local de negocio, GA garaje, without a lookup table. recibo.estado: P pagado, I impagado, D devuelto, A anulado.
- incidencia.id_proveedor isn't declared as a key, and 0 means "nobody". Some flats were never let, some tenants have no contract.
- nombre, tipo, importe and estado mean different things in different tables.
"""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta

from training.script import insert

# fmt: off
TABLES = """
CREATE TABLE inmueble (id_inmueble INTEGER PRIMARY KEY, id_padre INTEGER REFERENCES inmueble(id_inmueble), tipo TEXT, nombre TEXT, direccion TEXT, barrio TEXT, cp TEXT,
  superficie REAL, habitaciones INTEGER, planta TEXT, anyo_constr INTEGER, certificado TEXT);
CREATE TABLE propietario (id_propietario INTEGER PRIMARY KEY, nombre TEXT, apellidos TEXT, nif TEXT, ciudad TEXT, pais TEXT, comision_pct REAL);
CREATE TABLE propietario_inmueble (id_propietario INTEGER REFERENCES propietario(id_propietario), id_inmueble INTEGER REFERENCES inmueble(id_inmueble), cuota REAL, desde TEXT, hasta TEXT,
  PRIMARY KEY (id_propietario, id_inmueble, desde));
CREATE TABLE inquilino (id_inquilino INTEGER PRIMARY KEY, nombre TEXT, empresa TEXT, nacionalidad TEXT, fecha_nac TEXT, telefono TEXT, email TEXT);
CREATE TABLE contrato (num_contrato TEXT PRIMARY KEY, id_inmueble INTEGER NOT NULL REFERENCES inmueble(id_inmueble), tipo TEXT, fecha_inicio TEXT, fecha_fin TEXT, fecha_baja TEXT,
  renta_cts INTEGER, fianza_cts INTEGER, dia_pago INTEGER, mascotas INTEGER, motivo_baja TEXT);
CREATE TABLE contrato_inquilino (num_contrato TEXT REFERENCES contrato(num_contrato), id_inquilino INTEGER REFERENCES inquilino(id_inquilino), titular TEXT, PRIMARY KEY (num_contrato, id_inquilino));
CREATE TABLE recibo (id_recibo INTEGER PRIMARY KEY, num_contrato TEXT REFERENCES contrato(num_contrato), mes TEXT, importe TEXT, pagado REAL, fecha_pago TEXT, forma TEXT, estado TEXT);
CREATE TABLE contador (id_contador INTEGER PRIMARY KEY, id_inmueble INTEGER REFERENCES inmueble(id_inmueble), suministro TEXT, num_serie TEXT, unidad TEXT, instalado TEXT, retirado TEXT);
CREATE TABLE lectura (id_contador INTEGER REFERENCES contador(id_contador), fecha INTEGER, valor REAL, tipo TEXT, lector TEXT, PRIMARY KEY (id_contador, fecha));
CREATE TABLE proveedor (id_proveedor INTEGER PRIMARY KEY, nombre TEXT, gremio TEXT, precio_hora REAL, homologado TEXT, valoracion REAL);
CREATE TABLE incidencia (id_incidencia INTEGER PRIMARY KEY, id_inmueble INTEGER REFERENCES inmueble(id_inmueble), asunto TEXT, categoria TEXT, prioridad INTEGER, estado TEXT, abierta TEXT,
  cerrada TEXT, id_proveedor INTEGER, minutos INTEGER, coste REAL);
CREATE TABLE incidencia_log (id_log INTEGER PRIMARY KEY, id_incidencia INTEGER REFERENCES incidencia(id_incidencia), momento TEXT, de TEXT, a TEXT, usuario TEXT);
CREATE TABLE gasto (id_gasto INTEGER PRIMARY KEY, id_edificio INTEGER REFERENCES inmueble(id_inmueble), concepto TEXT, fecha TEXT, importe TEXT, id_proveedor INTEGER REFERENCES proveedor(id_proveedor));
CREATE TABLE gasto_reparto (id_gasto INTEGER REFERENCES gasto(id_gasto), id_inmueble INTEGER REFERENCES inmueble(id_inmueble), porcentaje REAL, PRIMARY KEY (id_gasto, id_inmueble));
CREATE VIEW contratos_vigentes AS SELECT num_contrato, id_inmueble, tipo, fecha_inicio, renta_cts / 100.0 AS renta_eur FROM contrato WHERE fecha_baja IS NULL;
"""

EDIFICIOS = [("Edificio Miramar", "C/ de la Reina 114", "Cabanyal", "46011", 1931, 2, 4), ("Finca Roja II", "C/ Jesús 71", "Patraix", "46007", 1958, 2, 6), ("Ruzafa 22", "C/ Sueca 22", "Ruzafa", "46006", 1924, 1, 5),
             ("Torre Benimaclet", "Av. Valladolid 9", "Benimaclet", "46020", 1976, 3, 6), ("Mercat 3", "Pl. del Mercat 3", "Ciutat Vella", "46001", 1890, 0, 4), ("Residencial Turia", "C/ Padre Ferris 40", "Campanar", "46009", 2006, 2, 6),
             ("Nave Norte", "Pol. Ind. Vara de Quart, 8", "", "46014", 1988, 0, 0), ("Edificio Miramar", "Pg. Marítim 30", "Malvarrosa", "46011", 1999, 1, 4)]
RENTA = {"Cabanyal": 9.8, "Patraix": 8.4, "Ruzafa": 13.5, "Benimaclet": 9.6, "Ciutat Vella": 14.8, "Campanar": 10.9, "": 4.2, "Malvarrosa": 10.4}
APELLIDOS = "García Martínez Ferrer Navarro Sanchis Peris López Blasco Esteve Moreno Ortega Ivars Puig Soler Giner Climent".split()
NOMBRES = "Amparo Vicente Carmen José María Lucía Pau Empar Rafael Begoña Joan Inmaculada Andrés Noelia Ximo Teresa".split()
FUERA = [("Giulia Bianchi", "IT"), ("Oleksandr Kovalenko", "UA"), ("Fatou Diop", "SN"), ("Emily Carter", "GB"), ("Jan de Vries", "NL"), ("Li Na", "CN"), ("Camila Rojas", "CO"), ("Youssef El Amrani", "MA"), ("Anna Müller", "DE"),
         ("Mateo Fernández", "AR"), ("Camila Rojas", "VE"), ("Ioana Popescu", "RO")]
EMPRESAS = ["Panadería La Espiga SL", "Óptica Turia", "Bicis Ruzafa SL", "Bar Casa Lola", "Farmacia Ldo. Ribes", "Academia Oxbridge", "Logística Levante SA", "Peluquería Mimos", "Ferretería Hnos. Gil", "Estudio 46 Arquitectos"]
PROVEEDORES = [(1, "Fontanería Giner", "fontanería", 38.0, "sí", 4.2), (2, "Electro Peris", "electricidad", 42.0, "sí", 3.8), (3, "Ascensores Mar", "ascensores", 65.0, "sí", 2.9), (4, "Pinturas Sol", "pintura", 27.5, "no", 4.6), (5, "Cerrajería 24h", "cerrajería", 55.0, "", 3.1),
               (6, "Fontanería Giner Hijos", "Fontanería", 36.0, "no", None), (7, "Limpiezas Azahar", "limpieza", 18.0, "sí", 4.0), (8, "Climas del Turia", "climatización", 44.0, "sí", 4.4), (9, "Cubiertas Ibáñez", "tejados", 40.0, "", None)]
ASUNTOS = [("fuga de agua en el baño", "fontanería", 1), ("no hay agua caliente", "fontanería", 5), ("ascensor parado", "ascensores", 3), ("se va la luz", "electricidad", 2), ("humedad en la pared", "albañilería", 4), ("cerradura rota", "cerrajería", 5),
           ("ruidos de vecinos", "convivencia", 0), ("aire acondicionado no enfría", "climatización", 8), ("goteras en la terraza", "tejados", 9), ("telefonillo averiado", "electricidad", 2), ("limpieza del portal", "limpieza", 7), ("Fuga de agua", "Fontanería", 6)]
HOY = date(2024, 5, 31)


def suma_meses(dia: date, n: int) -> date:
    """The same day of the month, n months later (day 28 at most)."""
    m = dia.year * 12 + dia.month - 1 + n
    return date(m // 12, m % 12 + 1, min(dia.day, 28))


def castellano(euros: float) -> str:
    """1250.5 as '1.250,50 €'."""
    return f"{euros:,.2f}".replace(",", " ").replace(".", ",").replace(" ", ".") + " €"


def inmuebles(r: random.Random) -> list[tuple]:
    rows: list[tuple] = []
    for nombre, direccion, barrio, cp, anyo, escaleras, plantas in EDIFICIOS:
        edificio = len(rows) + 1
        rows.append((edificio, None, "EDI", nombre, direccion, barrio, cp, None, None, None, anyo, None))
        padres = [edificio]
        if escaleras:
            padres = []
            for e in range(escaleras):
                rows.append((len(rows) + 1, edificio, "ESC", f"Escalera {'ABC'[e]}", direccion, barrio, cp, None, None, None, None, None))
                padres.append(len(rows))
        for padre in padres:
            for planta in range(1, plantas + 1):
                for puerta in range(1, r.choice([2, 2, 3]) if planta < plantas else 2):
                    m2 = round(r.gauss(84, 21) if planta < plantas else r.gauss(118, 20), r.choice([0, 1]))
                    rows.append((len(rows) + 1, padre, "VIV", f"{planta}-{puerta}" if planta < plantas else "Ático", direccion, barrio, cp, max(32.0, m2), max(1, int(m2 // 27)), str(planta), None,
                                 r.choice(["C", "D", "E", "E", "F", "G", None, ""]) if anyo < 2000 else r.choice(["B", "C"])))
        for n in range(2 if nombre != "Nave Norte" else 4):
            rows.append((len(rows) + 1, edificio, "LOC", f"Bajo {n + 1}" if plantas else f"Nave {n + 1}", direccion, barrio, cp, round(r.uniform(40, 160) * (1 if plantas else 6)), None, "B", None, None))
        for tipo, cuantos, m2 in (("GAR", 8 if anyo > 1970 and plantas else 0, 12.5), ("TRA", 3 if anyo > 1990 else 0, 5.0)):
            rows += [(len(rows) + 1 + n, edificio, tipo, f"{'Plaza' if tipo == 'GAR' else 'Trastero'} {n + 1}", direccion, barrio, cp, m2, None, "-1", None, None) for n in range(cuantos)]
    return rows


def build(r: random.Random) -> str:
    partes = inmuebles(r)
    letrables = [p for p in partes if p[2] in {"VIV", "LOC", "GAR", "TRA"}]
    duenyos = [(i, r.choice(NOMBRES), f"{r.choice(APELLIDOS)} {r.choice(APELLIDOS)}", f"{r.randint(10000000, 59999999)}{r.choice('ABCDEFGHJK')}", r.choice(["Valencia", "Valencia", "València", "Madrid", "Lyon", ""]), "ES", r.choice([4.0, 5.0, 5.0, 6.5])) for i in range(1, 40)]
    duenyos += [(40, "Inversiones Levante SL", None, "B46555120", "Valencia", "ES", 3.5), (41, "Klaus", "Becker", "X1234567L", "Köln", "DE", 7.0), (42, "Amparo", "Sanchis Puig", None, "Alicante", "ES", 5.0)]
    cuotas = []
    for p in letrables:
        quienes = r.sample(range(1, 42), r.choices([1, 2, 3], [14, 5, 1])[0]) if r.random() < 0.72 else [40]
        for q in quienes:
            vendido = len(quienes) == 1 and r.random() < 0.06
            cuotas.append((q, p[0], {1: 100.0, 2: 50.0, 3: 33.33}[len(quienes)], "2012-01-01", "2022-06-30" if vendido else None))
            if vendido:
                cuotas.append((40 if q != 40 else 41, p[0], 100.0, "2022-07-01", None))
    gente: list[tuple] = [(i, n, "S", "ES", None, f"96 355 {r.randint(1000, 9999)}", None) for i, n in enumerate(EMPRESAS, start=1)]
    contratos, titulares, recibos = [], [], []
    numero = dict.fromkeys(range(2017, 2025), 0)
    for p in letrables:
        libre = date(2017, 1, 1) + timedelta(days=r.randint(0, 1500))
        if r.random() < {"VIV": 0.05, "LOC": 0.15, "GAR": 0.3, "TRA": 0.5}[p[2]]:
            continue
        while libre < date(2024, 5, 1):
            tipo = {"LOC": "LC", "GAR": "GA", "TRA": "GA"}.get(p[2]) or ("TE" if r.random() < (0.3 if p[5] in {"Ruzafa", "Cabanyal", "Ciutat Vella"} else 0.08) else "VH")
            inicio = date(libre.year, libre.month, r.choice([1, 1, 1, 15]))
            largo = {"VH": 60, "TE": r.choice([6, 9, 11]), "LC": 120, "GA": 12}[tipo]
            fin = None if tipo == "GA" and r.random() < 0.5 else suma_meses(inicio, largo) - timedelta(days=1)
            queda = min(largo if tipo != "GA" else 90, 1 + int(r.expovariate(1 / {"VH": 34, "TE": 30, "LC": 80, "GA": 26}[tipo])))
            baja = suma_meses(inicio, queda) - timedelta(days=r.choice([1, 1, 1, 12]))
            baja = baja if baja <= HOY else None
            alza = 1 + 0.055 * (inicio.year - 2017 + inicio.month / 12) * (0.4 if tipo in {"LC", "GA"} else 1)
            renta = int(round(({"GAR": 85.0, "TRA": 45.0}.get(p[2]) or float(p[7]) * RENTA[p[5]] * (1.25 if tipo == "TE" else 1)) * r.uniform(0.85, 1.15) * 0.8 * alza) * 100) + r.choice([0, 0, 0, 50])
            numero[inicio.year] += 1
            num = f"{tipo}-{inicio.year}-{numero[inicio.year]:03d}"
            contratos.append((num, p[0], tipo, str(inicio), str(fin) if fin else None, str(baja) if baja else None, renta, renta * {"VH": 1, "TE": 2, "LC": 2, "GA": 0}[tipo], r.choice([1, 1, 5, 5, 10]), 1 if tipo == "VH" and r.random() < 0.2 else 0,
                              r.choice(["fin de contrato", "mudanza", "compra de vivienda", "impago", None, "", "Mudanza"]) if baja else None))
            if tipo == "LC":
                titulares.append((num, r.randint(1, 9), "S"))
            else:
                for t in range(r.choices([1, 2, 3], [10, 7, 1])[0] if tipo != "GA" else 1):
                    if tipo == "GA" and len(gente) > 30 and r.random() < 0.6:
                        quien = r.randint(11, len(gente))
                    else:
                        n, pais = r.choice(FUERA) if r.random() < (0.8 if tipo == "TE" else 0.2) else (f"{r.choice(NOMBRES)} {r.choice(APELLIDOS)} {r.choice(APELLIDOS)}", "ES")
                        quien = len(gente) + 1
                        gente.append((quien, n, "N", pais if r.random() < 0.95 else None, str(date(inicio.year - r.randint(21, 66), r.randint(1, 12), r.randint(1, 28))) if r.random() < 0.85 else None, f"6{r.randint(10, 99)} {r.randint(100, 999)} {r.randint(100, 999)}", f"{n.split()[0].lower()}{quien}@correo.example" if r.random() < 0.7 else r.choice(["", None])))
                    titulares.append((num, quien, "S" if t == 0 else "N"))
            mes, malo = max(date(inicio.year, inicio.month, 1), date(2022, 7, 1)), r.random() < 0.08
            while mes <= (baja or HOY):
                cuanto = renta / 100 * 1.02 ** max(0, mes.year - inicio.year)
                estado = r.choices("PIDA", [6, 4, 2, 0] if malo else [120, 1, 2, 1])[0]
                if mes == date(2024, 5, 1) and r.random() < 0.1:
                    estado = "I"
                pago = mes + timedelta(days=int(r.expovariate(1 / 4)))
                recibos.append((mes, num, f"{cuanto:,.2f}", (round(cuanto, 2) if r.random() < 0.985 else round(cuanto / 2, 2)) if estado == "P" else 0.0 if estado != "A" else None, str(pago) if estado == "P" else None, r.choices(["domiciliación", "transferencia", "efectivo", "bizum", "Transferencia"], [12, 6, 1, 1, 1])[0], estado))
                mes = suma_meses(mes, 1)
            if baja is None:
                break
            libre = baja + timedelta(days=5 + int(r.expovariate(1 / 55)))
    gente += [(len(gente) + 1 + i, n, "N", c, None, None, "") for i, (n, c) in enumerate((("Pilar Esteve Soler", "ES"), ("Tom Becker", "DE"), ("Emily Carter", "GB")))]
    recibos.sort(key=lambda row: row[:2])
    recibos = [(i, row[1], f"{row[0]:%Y-%m}", *row[2:]) for i, row in enumerate(recibos, start=70001)]
    contadores, lecturas = [], []
    for p in r.sample([x for x in letrables if x[2] in {"VIV", "LOC"}], 38) + [x for x in partes if x[2] == "EDI"][:6]:
        for sum_ in (["AGUA", "LUZ"] if p[2] != "EDI" else ["CALOR"]):
            cambia = r.random() < 0.12
            for vuelta in range(2 if cambia else 1):
                clave = len(contadores) + 1
                desde, hasta = ("2009-03-01" if vuelta == 0 else "2023-01-16"), ("2023-01-15" if cambia and vuelta == 0 else None)
                unidad = {"AGUA": "m3", "LUZ": "kWh"}.get(sum_) or ("MWh" if vuelta or clave % 2 else "kWh")
                contadores.append((clave, p[0], sum_, f"{sum_[0]}{r.randint(100000, 999999)}" if r.random() < 0.95 else None, unidad, desde, hasta))
                gasta = {"AGUA": r.uniform(4, 14), "LUZ": r.uniform(120, 330), "CALOR": r.uniform(8, 19) * (1000 if unidad == "kWh" else 1)}[sum_]
                valor = 0.0 if vuelta else (99999 - gasta * 5 if clave in {8, 30, 62} else gasta * r.randint(10, 150))
                for k in range(14):
                    dia = suma_meses(date(2021, 1, 4 + clave % 20), 3 * k)
                    if (hasta and str(dia) > hasta) or str(dia) < desde or dia > HOY:
                        continue
                    lecturas.append((clave, int(f"{dia:%Y%m%d}"), round(valor % (100000 if sum_ != "CALOR" else 10**8), 3 if unidad == "MWh" else 0), r.choices("RE", [9, 1])[0], r.choice(["Toni", "Toni", "telelectura", None])))
                    frio = {1: 1.8, 4: 1.0, 7: 0.3, 10: 0.8}[dia.month] if sum_ == "CALOR" else {1: 1.2, 4: 0.8, 7: 1.4, 10: 0.9}[dia.month]
                    valor += gasta * 3 * frio * r.uniform(0.8, 1.25) * (9 if r.random() < 0.008 else 1)
    incidencias, registro = [], []
    momentos = sorted(datetime(2021, 1, 4, 8) + timedelta(minutes=int(1_790_000 * r.random() ** 0.75)) for _ in range(380))
    raros = r.sample([p for p in partes if p[2] in {"VIV", "LOC", "ESC", "EDI"}], 40)
    for i, abierta in enumerate(momentos, start=1):
        p = r.choice(raros) if r.random() < 0.6 else r.choice([x for x in partes if x[2] != "TRA"])
        asunto, categoria, prov = r.choices(ASUNTOS, [9, 6, 7, 6, 4, 3, 4, 7 if abierta.month in {6, 7, 8} else 1, 3, 4, 2, 3])[0]
        prioridad = r.choices([1, 2, 3, 4], [6, 5, 3, 1] if "agua" in asunto or "ascensor" in asunto else [1, 4, 6, 4])[0]
        dura = timedelta(minutes=int(r.expovariate(1 / (1500 * prioridad ** 1.6))) + 30)
        fin_ = abierta + dura
        viva = fin_ > datetime(2024, 5, 31, 18) or r.random() < 0.02
        estado = r.choice(["Abierta", "ABIERTA", "en curso", "En curso", None]) if viva else r.choices(["cerrada", "Cerrada", "CERRADA", "anulada"], [10, 8, 2, 1])[0]
        anulada = estado == "anulada"
        minutos = None if viva or anulada else r.choice([20, 30, 45, 60, 60, 90, 120, 240])
        precio = PROVEEDORES[prov - 1][3] if prov else 0.0
        incidencias.append((i, p[0], asunto, categoria, prioridad, estado, f"{abierta:%d/%m/%Y %H:%M}", None if viva else f"{fin_:%d/%m/%Y %H:%M}", prov, minutos, round(minutos / 60 * precio + r.choice([0, 0, 18, 45.5, 130]), 2) if minutos and prov else None))
        pasos = [(abierta, None, "abierta")] + ([(abierta + dura / 3, "abierta", "en curso")] if not viva or str(estado).lower() == "en curso" else []) + ([] if viva else [(fin_, "en curso", "anulada" if anulada else "cerrada")])
        if not viva and fin_ < datetime(2024, 5, 28) and r.random() < 0.05:
            pasos += [(fin_ + timedelta(hours=20), "cerrada", "en curso"), (fin_ + timedelta(hours=44), "en curso", "cerrada")]
        registro += [(m, i, de, a) for m, de, a in pasos]
    registro.sort(key=lambda row: (row[0], row[1]))
    registro = [(k, i, m.strftime("%Y-%m-%dT%H:%M:00"), de, a, r.choice(["marta", "marta", "ximo", "portal", "MARTA"])) for k, (m, i, de, a) in enumerate(registro, start=1)]
    gastos, reparto = [], []
    edificios = [p for p in partes if p[2] == "EDI"]
    for e in edificios:
        escaleras = {p[0] for p in partes if p[1] == e[0]}
        suyos = [p for p in letrables if (p[1] == e[0] or p[1] in escaleras) and p[2] in {"VIV", "LOC"}]
        total = sum(float(p[7]) for p in suyos)
        for anyo in (2021, 2022, 2023, 2024):
            for concepto, prov, euros, mes in (("IBI", None, 4200.0, 4), ("seguro del edificio", None, 1850.0, 2), ("limpieza", 7, 2600.0, 1), ("ascensor", 3, 1420.0, 3), ("Derrama fachada", 9, 24500.0, 5)):
                if (concepto == "ascensor" and e[10] < 1930) or (concepto.startswith("Derrama") and r.random() < 0.8) or (concepto == "ascensor" and e[3] == "Nave Norte"):
                    continue
                clave = len(gastos) + 1
                gastos.append((clave, e[0], concepto, str(date(anyo, mes, r.randint(1, 28))), castellano(euros * total / 900 * r.uniform(0.9, 1.1) * 1.04 ** (anyo - 2021)), prov))
                if anyo >= 2023 and concepto in {"IBI", "Derrama fachada"}:
                    reparto += [(clave, p[0], round(float(p[7]) / total, 4)) for p in suyos]
    return TABLES + "".join([
        insert("inmueble", partes), insert("propietario", duenyos), insert("propietario_inmueble", cuotas), insert("inquilino", gente), insert("contrato", contratos), insert("contrato_inquilino", titulares), insert("recibo", recibos),
        insert("contador", contadores), insert("lectura", lecturas), insert("proveedor", PROVEEDORES), insert("incidencia", incidencias), insert("incidencia_log", registro), insert("gasto", gastos), insert("gasto_reparto", reparto),
    ])
