"""The words the demo business is made of. All invented."""

from __future__ import annotations

FIRST = (
    "Ada Bruno Chiara Dmitri Elif Farah Gustav Hanna Ivo Jasmin Kofi Lena Mateus Nadia Oskar "
    "Priya Quentin Rosa Stefan Tomasz Ulla Viktor Wanda Ximena Yusuf Zoe Anaïs Björn Céline José"
).split()
LAST = (
    "Almeida Berg Castillo Dubois Eriksen Ferrari Grün Haddad Ito Jansen Kowalska Lindqvist Moreau "
    "Nguyen Okafor Petrov Quist Rossi Santos Tanaka Ueda Varga Weiss Yilmaz Zhang O'Brien Núñez"
).split()
PLACES = (
    ("Hamburg", "Germany"),
    ("Munich", "Germany"),
    ("Lyon", "France"),
    ("Paris", "France"),
    ("Milan", "Italy"),
    ("Turin", "Italy"),
    ("Porto", "Portugal"),
    ("Lisbon", "Portugal"),
    ("Rotterdam", "Netherlands"),
    ("Vienna", "Austria"),
    ("Gdańsk", "Poland"),
    ("São Paulo", "Brazil"),
    ("Austin", "United States"),
    ("Toronto", "Canada"),
)
BUSINESS = (
    "Café Lumière|Bean There|Kaffeehaus Grün|The Daily Grind|Espresso Republic|Northside Bakery|"
    "Hotel Miramar|Bistro Zwölf|Roast & Co.|Mokka Mania|Café São Jorge|Corner Cup|Blue Kettle|"
    "Grand Hotel Aurora|Sunrise Diner|Tazza d'Oro|The Copper Pot|Le Petit Noir|Uptown Coffee|"
    "Brew Brothers|Café Central|Lighthouse Inn|Pão e Café|Office Perks GmbH|Wake Up Market|"
    "Golden Spoon|Museum Café Nord|Slow Drip|Campus Coffee Hub|Riverside Catering|Die Rösterei|"
    "Second Cup Club|Harbour View Hotel|Velvet Crema|Quick Sip Kiosk|Alpine Lodge|Pier 9 Deli|"
    "Salon de Thé Rose|Barista Academy|Old Mill Restaurant|Green Leaf Grocers|Night Owl Bar|"
    "Piazza Piccola|Orchard Farm Shop|Metro Snack Point|The Book Nook|Casa Verde|Ferry Terminal Café|"
    "Studio Kitchen|Cloud Nine Lounge|Kiosk 24|Vintage Vinyl & Coffee|Summit Coworking|"
    "Little Lisbon|Station Buffet|Bakehouse Berg|Hütte am See|Lunchbox Express|Tea & Sympathy|"
    "Grand Café de l'Opéra"
).split("|")
SUPPLIERS = (
    ("Andes Beans Co.", "Colombia"),
    ("Yirgacheffe Growers Union", "Ethiopia"),
    ("Santos Export Ltda", "Brazil"),
    ("Officine Vapore S.p.A.", "Italy"),
    ("Nordic Ceramics AB", "Sweden"),
    ("PaperWay Packaging", "Poland"),
    ("Tea Gardens of Assam", "India"),
    ("Müller Mahlwerke", "Germany"),
    ("Sweet Valley Syrups", "United States"),
)
PRODUCTS = (
    (
        "Coffee Beans",
        "Huila Reserve 1kg|Yirgacheffe Washed 1kg|Santos Classic 1kg|House Espresso Blend 1kg|"
        "Decaf Mountain Water 500g|Sidamo Natural 250g|Harbor Breakfast Blend 1kg|Single Farm Gesha 250g",
        9,
        62,
    ),
    (
        "Tea",
        "Assam Breakfast 100 bags|Earl Grey Loose 500g|Green Sencha 250g|Chamomile 50 bags|Masala Chai 1kg",
        6,
        34,
    ),
    ("Espresso Machines", "Vapore Uno|Vapore Duo Pro|Vapore Leva|Compact Pod One", 390, 6800),
    ("Grinders", "Mahlkönigin M1|Mahlkönigin M3|Hand Mill Classic|Silent Burr 64", 45, 1650),
    (
        "Cups & Glassware",
        "Espresso Cup White|Cappuccino Cup Blue|Latte Glass 350ml|Travel Mug Steel|Saucer White",
        2,
        24,
    ),
    ("Syrups", "Vanilla Syrup 1l|Caramel Syrup 1l|Hazelnut Syrup 1l|Sugar-free Vanilla 1l", 7, 14),
    (
        "Packaging",
        "Paper Cup 250ml x1000|Paper Cup 350ml x1000|Lid Black x1000|Kraft Bag 250g x500",
        22,
        78,
    ),
    (
        "Accessories",
        "Milk Pitcher 600ml|Tamper 58mm|Knock Box|Cleaning Tablets x100|Water Filter Cartridge|Barista Apron",
        8,
        89,
    ),
)
TITLES = (
    ("Sales", "Sales Representative", 9, 39_000, 58_000),
    ("Warehouse", "Warehouse Clerk", 6, 29_000, 38_000),
    ("Finance", "Accountant", 3, 42_000, 57_000),
    ("Support", "Support Agent", 5, 31_000, 43_000),
    ("Procurement", "Buyer", 3, 40_000, 56_000),
)
TICKET_SUBJECTS = (
    "Machine leaks at the group head",
    "Wrong grind size delivered",
    "Invoice shows the old VAT number",
    "Late delivery",
    "Cups arrived broken",
    "Login to the portal fails",
    "Request for a price list",
    "Grinder makes a strange noise",
)
RETURN_REASONS = ("damaged", "wrong item", "not needed", "quality", "late")
SUPPLIED_BY = {  # category to the suppliers' numbers, counted from 1
    "Coffee Beans": (1, 1, 1, 2, 3),
    "Tea": (7,),
    "Espresso Machines": (4,),
    "Grinders": (8,),
    "Cups & Glassware": (5,),
    "Syrups": (9,),
    "Packaging": (6,),
    "Accessories": (4,),
}
