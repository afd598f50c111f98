"""Lists of English words and short forms, one list of each kind.

Compiled by hand. The words of deeds and the general words were collected while reading questions
of the training databases, and a few short forms of columns ("hp", "mpg", "tm") while reading their
schemas; all of them are everyday English or usual in databases. None names a single data set's
tables, columns or values.
"""

from __future__ import annotations


def vocabulary(words: str) -> frozenset[str]:
    """Blank-separated words as a set."""
    return frozenset(words.split())


STOP_WORDS = vocabulary(
    """a an the this that these those there it its they them their he him his she her hers we us
    our you your i me my who whom whose which what when where why how is are was were be been being
    am do does did doing have has had having can could should will would of in on at by for from to
    with into over under about above below between through before after until per as than then and
    or nor but if so while either both not no also too very just only once please all any some each
    every other such same own more most less least many much few out up ever else"""
)
"""Words that join others and are nobody's name for anything: no stored value is meant by them."""

FUNCTION_WORDS = STOP_WORDS | vocabulary(
    """here theirs mine done may might must shall without within onto among during since till
    against via because whether neither yes even still yet already again kindly let lets 's s t don
    doesn didn isn aren wasn weren another several down off along across around near toward towards
    upon never always it's what's who's there's im i'm id thats one ones"""
)
"""Words that join others and name nothing in a schema. Those that aren't stop words may be stored
values: orders that are `done`, an answer `yes`, the month of May."""

SHOWING = vocabulary("find get give list show tell")
"""Verbs that ask for an answer and mean nothing else."""

POLITE = vocabulary(
    """please kindly thank thanks cheers hi hello hey dear sorry wonder wondering curious regards
    ok okay maybe perhaps just quick quickly guys folks everybody somebody anybody idea sure glad"""
)
"""Words said to whoever is asked, which ask for nothing."""

_TO_TWELVE = "zero one two three four five six seven eight nine ten eleven twelve"
NUMBERS: dict[str, int] = {word: number for number, word in enumerate(_TO_TWELVE.split())} | {
    "twenty": 20, "thirty": 30, "fifty": 50, "hundred": 100, "thousand": 1000, "million": 10**6,
    "billion": 10**9,
}  # fmt: skip
"""Number words and what they are worth."""

SCALES = ("thousand", "million", "billion")
"""Number words that multiply the number before them."""

ORDINALS: dict[str, int] = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "1st": 1, "2nd": 2, "3rd": 3,
    "4th": 4, "5th": 5,
}  # fmt: skip
"""Words for a place in an order."""

OPERATION_WORDS = (
    SHOWING
    | NUMBERS.keys()
    | vocabulary(
        """return display fetch retrieve print report provide state identify determine calculate
    compute select search look want need like know see name names named called count number numbers
    amount total totals sum average avg mean median maximum max minimum min highest lowest largest
    smallest biggest greatest top bottom first last best worst most least fewest more less fewer
    greater smaller larger higher lower equal exactly above below different distinct unique
    duplicate order ordered sort sorted rank ranked ranking ascending descending alphabetical
    alphabetically asc desc increasing decreasing reverse group grouped respectively corresponding
    percentage percent ratio share proportion rate difference compare compared including include
    includes included excluding except exclude contain contains containing start starts starting
    begin begins beginning end ends ending letter string word substring value values information
    info details detail data record records entry entries row rows item items thing things kind
    kinds type types associated related belong belongs belonging available exist exists existing
    currently current given following together overall use uses used using make makes made take
    takes taken happen happened occur occurred result results question answer query database table
    tables column columns field fields attribute attributes times time frequently often common
    commonly rarely popular latest earliest newest oldest youngest recent recently new old young
    year years month months day days date dates week weeks daily weekly monthly yearly annually
    today yesterday tomorrow ago next previous past future long short big small large high low good
    bad longest shortest cheapest expensive single multiple pair pairs half double twice thrice
    second third fourth fifth ones none nothing anything everything someone anyone everyone people
    person whole entire complete full lists many much"""
    )
)
"""Words that ask for an operation or frame a request; they need no counterpart in a schema."""

DEEDS = vocabulary(
    """belong belonging belongs bought buy buying buys came come comes cost costs deliver delivered
    delivering delivers earn earned earning earns finish finished generate generated generates
    generating get gets go goes got handle handled handles handling held hold holding holds issue
    issued live lived lives living order ordered paid pay paying pays place placed purchase
    purchased purchasing ran receive received receives receiving run runs sell selling sells serve
    served serves serving ship shipped sold spend spending spends spent start started visit visited
    went work worked working works"""
)
"""Verbs for what people do in any business: many schemas record it without naming it."""

GENERAL_WORDS = vocabulary(
    """add added alphabetic appear appeared appears applied apply aren't assign assigned attend
    attended attends award awarded became become becomes bring brings brought build builds built
    can't categories category change changed choose chose chosen class classes close closed closes
    closing concern concerning concerns confer conferred consist consists correspond corresponded
    corresponds couldn't cover covered covering covers create created creates describe described
    didn't doesn't don't establish established establishes establishing establishment found founded
    hadn't hasn't haven't isn't join joined joins keep keeps kept lead leading leads leave leaves
    led left manage managed manages mention mentioned mentions need needed needs numeric offer
    offered offers open opened opening opens own owned owns participate participated participates
    reach reached refer referred refers register registered relate relates reordered require
    required requires requiring send sends sent show shown sign signed store stored stores storing
    supplied supplies supply supplying wasn't well weren't won't"""
)
"""Verbs and turns that a question about anything may hold. Where no name explains one, it asks for
nothing of its own."""

MONTH_NAMES = (
    ("january", "jan"), ("february", "feb"), ("march", "mar"), ("april", "apr"), ("may",),
    ("june", "jun"), ("july", "jul"), ("august", "aug"), ("september", "sep", "sept"),
    ("october", "oct"), ("november", "nov"), ("december", "dec"),
)  # fmt: skip
"""The names of each month, January first, the long one first."""

WEEKDAY_NAMES = (
    ("monday", "mon"), ("tuesday", "tue", "tues"), ("wednesday", "wed"),
    ("thursday", "thu", "thur", "thurs"), ("friday", "fri"), ("saturday", "sat"),
    ("sunday", "sun"),
)  # fmt: skip
"""The names of each day of the week, the long one first."""

MONTHS = {name: number for number, names in enumerate(MONTH_NAMES, 1) for name in names}
"""The number of each month by its name."""

WEEKDAYS = frozenset(name for names in WEEKDAY_NAMES for name in names)
"""All names of days of the week."""

KEY_WORDS = ("id", "no", "num", "number", "code", "key", "fk", "ref", "uid", "guid", "uuid")
"""Words in a column's name that say it identifies a row, the usual ones first."""

NAMING_WORDS = ("name", "title", "label", "subject", "fullname")
"""Words for a column that names its table's rows for people, the usual ones first."""

GENERIC_NAMES = frozenset(KEY_WORDS) | vocabulary(
    """name title type status date year month day time rank position value amount price total count
    description note comment address phone email age sex gender rating score level size length
    weight height color colour order sequence row index version latitude longitude start end
    startdate enddate result detail otherdetail"""
)
"""Names that columns of unrelated tables share."""

ABBREVIATIONS: dict[str, tuple[str, ...]] = {
    "acct": ("account",), "addr": ("address",), "amt": ("amount",), "approx": ("approximate",),
    "attr": ("attribute",), "avg": ("average",), "bal": ("balance",), "bday": ("birthday",),
    "cat": ("category",), "cd": ("code",), "chg": ("change",), "cnt": ("count",),
    "co": ("company",), "comp": ("company",), "coord": ("coordinate",), "ctry": ("country",),
    "cust": ("customer",), "def": ("definition",), "dept": ("department",),
    "desc": ("description",), "dest": ("destination",), "dim": ("dimension",),
    "dist": ("distance", "district"), "dob": ("birth", "birthday"), "doc": ("document",),
    "dt": ("date",), "emp": ("employee",), "est": ("estimate",), "fname": ("first", "name"),
    "freq": ("frequency",), "gen": ("gender",), "govt": ("government",), "grp": ("group",),
    "hp": ("horsepower",), "hr": ("hour",), "hrs": ("hours",), "img": ("image",),
    "info": ("information",), "inst": ("institution",), "instr": ("instructor",),
    "inv": ("invoice", "inventory"), "lang": ("language",), "lat": ("latitude",),
    "lname": ("last", "name"), "lng": ("longitude",), "loc": ("location",), "lon": ("longitude",),
    "long": ("longitude",), "max": ("maximum",), "mfr": ("manufacturer",), "mgr": ("manager",),
    "min": ("minimum",), "mpg": ("mile", "gallon"), "msg": ("message",), "nat": ("nationality",),
    "nbr": ("number",), "no": ("number",), "num": ("number",), "org": ("organization",),
    "ord": ("order",), "pct": ("percent", "percentage"), "perc": ("percent",),
    "ph": ("phone",), "pop": ("population",), "pos": ("position",), "prev": ("previous",),
    "prod": ("product",), "prof": ("professor",), "pts": ("points",), "pub": ("publication",),
    "pwd": ("password",), "qty": ("quantity",), "ref": ("reference",), "reg": ("region",),
    "rest": ("restaurant",), "rev": ("revenue",), "sal": ("salary",), "sem": ("semester",),
    "sex": ("gender",), "spd": ("speed",), "std": ("standard",), "stu": ("student",),
    "tel": ("telephone", "phone"), "temp": ("temperature",),
    "tm": ("team",), "tot": ("total",), "trans": ("transaction",), "univ": ("university",),
    "usr": ("user",), "val": ("value",), "vol": ("volume",), "wt": ("weight",), "yr": ("year",),
}  # fmt: skip
"""Usual short forms in the names of columns and tables, with what they are short for."""

_WRITTEN = """academy=acad|administration=admin|and=&|apartment=apt|assistant=asst|
associate=assoc|association=assn,assoc|avenue=ave|boulevard=blvd|brothers=bros|building=bldg|
captain=capt|center=ctr|centre=ctr|communications=comm|company=co|computer=comp|corporation=corp|
department=dept|division=div|doctor=dr|electrical=elec|engineering=eng,engr|fort=ft|general=gen|
government=govt|highway=hwy|incorporated=inc|information=info|international=intl|
introduction=intro|junior=jr|laboratory=lab|language=lang|lieutenant=lt|limited=ltd|
literature=lit|management=mgmt|manager=mgr|manufacturing=mfg|mathematics=math,maths|
medicine=med|mount=mt|mountain=mtn|national=natl|organization=org|philosophy=phil|president=pres|
professor=prof|psychology=psych|representative=rep|road=rd|saint=st|school=sch|science=sci|
secretary=sec|senior=sr|sergeant=sgt|square=sq|statistics=stats|street=st|technology=tech|
temporary=temp|university=univ|versus=vs|veterinarian=vet"""


def _written_short() -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for entry in _WRITTEN.replace("\n", "").split("|"):
        long, _, forms = entry.partition("=")
        for short in forms.split(","):
            found.setdefault(long, {})[short] = None
            found.setdefault(short, {})[long] = None
    return {word: tuple(forms) for word, forms in found.items()}


WRITTEN_SHORT = _written_short()
"""Usual short forms in stored values, that is in names of places, people and firms: those of each
word, and the words of each short form. They aren't those of columns: `no` is short for number
there, and `st` for street here."""

UNITS: tuple[dict[str, float], ...] = (
    {"millisecond": 0.001, "msec": 0.001, "ms": 0.001, "second": 1, "sec": 1, "secs": 1,
     "minute": 60, "min": 60, "mins": 60, "hour": 3600, "hr": 3600, "hrs": 3600, "day": 86400,
     "week": 604800},
    {"byte": 1, "kilobyte": 1e3, "kb": 1e3, "megabyte": 1e6, "mb": 1e6, "gigabyte": 1e9, "gb": 1e9,
     "terabyte": 1e12, "tb": 1e12},
    {"milligram": 0.001, "mg": 0.001, "gram": 1, "kilogram": 1e3, "kg": 1e3, "kgs": 1e3,
     "tonne": 1e6},
    {"millimeter": 0.001, "millimetre": 0.001, "mm": 0.001, "centimeter": 0.01, "centimetre": 0.01,
     "cm": 0.01, "meter": 1, "metre": 1, "kilometer": 1e3, "kilometre": 1e3, "km": 1e3},
)  # fmt: skip
"""Units of time, of data, of mass and of length by how many of the base unit they are."""
