"""Countries with their codes and peoples, states and provinces that go by letters, such cities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A country, a state or province, or a city."""

    codes: tuple[str, ...]
    """In capitals, but for what people call a city."""
    names: tuple[str, ...]
    peoples: tuple[str, ...] = ()
    """Its people and its adjective."""


_COUNTRIES = """
AF AFG | Afghanistan | Afghan
AL ALB | Albania | Albanian
DZ DZA | Algeria | Algerian
AD AND | Andorra | Andorran
AO AGO | Angola | Angolan
AG ATG | Antigua and Barbuda | Antiguan
AR ARG | Argentina | Argentine, Argentinian
AM ARM | Armenia | Armenian
AU AUS | Australia | Australian
AT AUT | Austria | Austrian
AZ AZE | Azerbaijan | Azerbaijani
BS BHS | Bahamas, The Bahamas | Bahamian
BH BHR | Bahrain | Bahraini
BD BGD | Bangladesh | Bangladeshi
BB BRB | Barbados | Barbadian
BY BLR | Belarus | Belarusian
BE BEL | Belgium | Belgian
BZ BLZ | Belize | Belizean
BJ BEN | Benin | Beninese
BT BTN | Bhutan | Bhutanese
BO BOL | Bolivia | Bolivian
BA BIH | Bosnia and Herzegovina, Bosnia | Bosnian
BW BWA | Botswana | Motswana
BR BRA | Brazil, Brasil | Brazilian
BN BRN | Brunei, Brunei Darussalam | Bruneian
BG BGR | Bulgaria | Bulgarian
BF BFA | Burkina Faso | Burkinabe
BI BDI | Burundi | Burundian
KH KHM | Cambodia | Cambodian
CM CMR | Cameroon | Cameroonian
CA CAN | Canada | Canadian
CV CPV | Cape Verde, Cabo Verde | Cape Verdean
CF CAF | Central African Republic |
TD TCD | Chad | Chadian
CL CHL | Chile | Chilean
CN CHN | China, People's Republic of China | Chinese
CO COL | Colombia | Colombian
KM COM | Comoros | Comorian
CG COG | Congo, Republic of the Congo | Congolese
CD COD | Democratic Republic of the Congo, DR Congo | Congolese
CR CRI | Costa Rica | Costa Rican
CI CIV | Ivory Coast, Cote d'Ivoire | Ivorian
HR HRV | Croatia | Croatian, Croat
CU CUB | Cuba | Cuban
CY CYP | Cyprus | Cypriot
CZ CZE | Czech Republic, Czechia | Czech
DK DNK | Denmark | Danish, Dane
DJ DJI | Djibouti | Djiboutian
DM DMA | Dominica |
DO DOM | Dominican Republic | Dominican
EC ECU | Ecuador | Ecuadorian
EG EGY | Egypt | Egyptian
SV SLV | El Salvador | Salvadoran
GQ GNQ | Equatorial Guinea |
ER ERI | Eritrea | Eritrean
EE EST | Estonia | Estonian
SZ SWZ | Eswatini, Swaziland | Swazi
ET ETH | Ethiopia | Ethiopian
FJ FJI | Fiji | Fijian
FI FIN | Finland | Finnish, Finn
FR FRA | France | French
GA GAB | Gabon | Gabonese
GM GMB | Gambia, The Gambia | Gambian
GE GEO | Georgia | Georgian
DE DEU GER | Germany | German
GH GHA | Ghana | Ghanaian
GR GRC | Greece | Greek
GD GRD | Grenada | Grenadian
GT GTM | Guatemala | Guatemalan
GN GIN | Guinea | Guinean
GW GNB | Guinea-Bissau |
GY GUY | Guyana | Guyanese
HT HTI | Haiti | Haitian
HN HND | Honduras | Honduran
HK HKG | Hong Kong |
HU HUN | Hungary | Hungarian
IS ISL | Iceland | Icelandic, Icelander
IN IND | India | Indian
ID IDN | Indonesia | Indonesian
IR IRN | Iran | Iranian
IQ IRQ | Iraq | Iraqi
IE IRL | Ireland | Irish
IL ISR | Israel | Israeli
IT ITA | Italy | Italian
JM JAM | Jamaica | Jamaican
JP JPN | Japan | Japanese
JO JOR | Jordan | Jordanian
KZ KAZ | Kazakhstan | Kazakh
KE KEN | Kenya | Kenyan
KI KIR | Kiribati |
KP PRK | North Korea | North Korean
KR KOR | South Korea, Korea, Republic of Korea | South Korean, Korean
XK XKX | Kosovo | Kosovar
KW KWT | Kuwait | Kuwaiti
KG KGZ | Kyrgyzstan | Kyrgyz
LA LAO | Laos | Lao, Laotian
LV LVA | Latvia | Latvian
LB LBN | Lebanon | Lebanese
LS LSO | Lesotho | Basotho
LR LBR | Liberia | Liberian
LY LBY | Libya | Libyan
LI LIE | Liechtenstein |
LT LTU | Lithuania | Lithuanian
LU LUX | Luxembourg | Luxembourgish
MO MAC | Macau, Macao |
MG MDG | Madagascar | Malagasy
MW MWI | Malawi | Malawian
MY MYS | Malaysia | Malaysian
MV MDV | Maldives | Maldivian
ML MLI | Mali | Malian
MT MLT | Malta | Maltese
MH MHL | Marshall Islands | Marshallese
MR MRT | Mauritania | Mauritanian
MU MUS | Mauritius | Mauritian
MX MEX | Mexico | Mexican
FM FSM | Micronesia | Micronesian
MD MDA | Moldova | Moldovan
MC MCO | Monaco | Monegasque
MN MNG | Mongolia | Mongolian
ME MNE | Montenegro | Montenegrin
MA MAR | Morocco | Moroccan
MZ MOZ | Mozambique | Mozambican
MM MMR | Myanmar, Burma | Burmese
NA NAM | Namibia | Namibian
NR NRU | Nauru | Nauruan
NP NPL | Nepal | Nepalese, Nepali
NL NLD NED | Netherlands, The Netherlands, Holland | Dutch
NZ NZL | New Zealand | New Zealander
NI NIC | Nicaragua | Nicaraguan
NE NER | Niger | Nigerien
NG NGA | Nigeria | Nigerian
MK MKD | North Macedonia, Macedonia | Macedonian
NO NOR | Norway | Norwegian
OM OMN | Oman | Omani
PK PAK | Pakistan | Pakistani
PW PLW | Palau | Palauan
PS PSE | Palestine | Palestinian
PA PAN | Panama | Panamanian
PG PNG | Papua New Guinea |
PY PRY | Paraguay | Paraguayan
PE PER | Peru | Peruvian
PH PHL PHI | Philippines, The Philippines | Filipino, Philippine
PL POL | Poland | Polish, Pole
PT PRT POR | Portugal | Portuguese
PR PRI | Puerto Rico | Puerto Rican
QA QAT | Qatar | Qatari
RO ROU | Romania | Romanian
RU RUS | Russia, Russian Federation | Russian
RW RWA | Rwanda | Rwandan
WS WSM | Samoa | Samoan
SM SMR | San Marino | Sammarinese
SA SAU KSA | Saudi Arabia | Saudi, Saudi Arabian
SN SEN | Senegal | Senegalese
RS SRB | Serbia | Serbian, Serb
SC SYC | Seychelles | Seychellois
SL SLE | Sierra Leone | Sierra Leonean
SG SGP | Singapore | Singaporean
SK SVK | Slovakia, Slovak Republic | Slovak, Slovakian
SI SVN | Slovenia | Slovenian, Slovene
SB SLB | Solomon Islands |
SO SOM | Somalia | Somali
ZA ZAF RSA | South Africa | South African
SS SSD | South Sudan | South Sudanese
ES ESP | Spain | Spanish, Spaniard
LK LKA | Sri Lanka | Sri Lankan
SD SDN | Sudan | Sudanese
SR SUR | Suriname | Surinamese
SE SWE | Sweden | Swedish, Swede
CH CHE SUI | Switzerland | Swiss
SY SYR | Syria | Syrian
TW TWN | Taiwan | Taiwanese
TJ TJK | Tajikistan | Tajik
TZ TZA | Tanzania | Tanzanian
TH THA | Thailand | Thai
TL TLS | Timor-Leste, East Timor | Timorese
TG TGO | Togo | Togolese
TO TON | Tonga | Tongan
TT TTO | Trinidad and Tobago, Trinidad | Trinidadian
TN TUN | Tunisia | Tunisian
TR TUR | Turkey | Turkish, Turk
TM TKM | Turkmenistan | Turkmen
UG UGA | Uganda | Ugandan
UA UKR | Ukraine | Ukrainian
AE ARE UAE | United Arab Emirates | Emirati
GB UK GBR | United Kingdom, Great Britain, Britain | British, Briton
US USA | United States, United States of America, America | American
UY URY | Uruguay | Uruguayan
UZ UZB | Uzbekistan | Uzbek
VU VUT | Vanuatu |
VA VAT | Vatican City, Holy See |
VE VEN | Venezuela | Venezuelan
VN VNM | Vietnam, Viet Nam | Vietnamese
YE YEM | Yemen | Yemeni
ZM ZMB | Zambia | Zambian
ZW ZWE | Zimbabwe | Zimbabwean
ENG | England | English
SCO | Scotland | Scottish, Scot
WAL | Wales | Welsh
"""
"""ISO 3166 codes and usual others | names | people and adjectives, one country a line."""

_PROVINCES = (
    """AL=Alabama|AK=Alaska|AZ=Arizona|AR=Arkansas|CA=California|CO=Colorado|CT=Connecticut|
DE=Delaware|DC=District of Columbia|FL=Florida|GA=Georgia|HI=Hawaii|ID=Idaho|IL=Illinois|IN=Indiana|
IA=Iowa|KS=Kansas|KY=Kentucky|LA=Louisiana|ME=Maine|MD=Maryland|MA=Massachusetts|MI=Michigan|
MN=Minnesota|MS=Mississippi|MO=Missouri|MT=Montana|NE=Nebraska|NV=Nevada|NH=New Hampshire|
NJ=New Jersey|NM=New Mexico|NY=New York|NC=North Carolina|ND=North Dakota|OH=Ohio|OK=Oklahoma|
OR=Oregon|PA=Pennsylvania|RI=Rhode Island|SC=South Carolina|SD=South Dakota|TN=Tennessee|TX=Texas|
UT=Utah|VT=Vermont|VA=Virginia|WA=Washington|WV=West Virginia|WI=Wisconsin|WY=Wyoming""",
    """AB=Alberta|BC=British Columbia|MB=Manitoba|NB=New Brunswick|NL=Newfoundland and Labrador|
NS=Nova Scotia|NT=Northwest Territories|NU=Nunavut|ON=Ontario|PE=Prince Edward Island|QC=Quebec|
SK=Saskatchewan|YT=Yukon""",
    """NSW=New South Wales|QLD=Queensland|SA=South Australia|TAS=Tasmania|VIC=Victoria|
WA=Western Australia|ACT=Australian Capital Territory|NT=Northern Territory""",
)
"""The United States, Canada and Australia: code=name."""

_CITIES = """LA=Los Angeles|NYC=New York City,New York|SF=San Francisco|DC=Washington|
Philly=Philadelphia|Vegas=Las Vegas"""
"""Cities known by letters or half their name: short=names."""


def countries() -> Iterator[Place]:
    """All countries, in the order of their names."""
    for line in _COUNTRIES.strip().splitlines():
        codes, names, peoples = line.split("|")
        yield Place(tuple(codes.split()), _listed(names), _listed(peoples))


def provinces() -> Iterator[Place]:
    """The states and provinces of three countries."""
    for entry in "|".join(_PROVINCES).replace("\n", "").split("|"):
        code, name = entry.split("=")
        yield Place((code,), (name,))


def cities() -> Iterator[Place]:
    """Cities that go by letters or by half their name."""
    for entry in _CITIES.replace("\n", "").split("|"):
        code, names = entry.split("=")
        yield Place((code,), _listed(names))


def _listed(names: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in names.split(",") if name.strip())
