"""Tells a request in another language, by script first, then by the little words of the large ones.

Names are no evidence: quoted text, and capitalised words with the particles between them, are left
out before counting, so that an English question about `El Amor de mi Vida` stays English.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from sqlwright.english.vocabulary import FUNCTION_WORDS, OPERATION_WORDS, vocabulary

_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»|`[^`]*`|(?<!\w)'[^']*'(?!\w)|‘[^’]*’")
_WORD = re.compile(r"[^\W\d_]+")

_SCRIPTS = {
    "CJK": "Chinese or Japanese", "HIRAGANA": "Japanese", "KATAKANA": "Japanese",
    "HANGUL": "Korean", "CYRILLIC": "a language in Cyrillic script", "ARABIC": "Arabic or Persian",
    "HEBREW": "Hebrew", "GREEK": "Greek", "DEVANAGARI": "Hindi", "THAI": "Thai",
    "BENGALI": "Bengali", "TAMIL": "Tamil", "TELUGU": "Telugu", "GEORGIAN": "Georgian",
    "ARMENIAN": "Armenian", "ETHIOPIC": "Amharic", "KHMER": "Khmer", "LAO": "Lao",
    "MYANMAR": "Burmese", "SINHALA": "Sinhala", "GUJARATI": "Gujarati", "KANNADA": "Kannada",
    "MALAYALAM": "Malayalam", "GURMUKHI": "Punjabi",
}  # fmt: skip

_WORDS = {
    "German": """
        der die das den dem ein eine einen einem einer und oder nicht mit von aus bei nach wie
        viele wieviele welche welcher welches wer wo wann warum ist sind waren haben gibt es
        alle alles jede jeder jedes pro zeige zeig mir nenne liste auf im zum zur für über
        unter sich ich wir sie ihr meisten wenigsten durchschnittliche durchschnitt anzahl
        namen kunden länder land stadt jahr jahren preis umsatz bestellungen mitarbeiter
        produkte haben hatte wurde wurden bitte sortiert nach mehr als weniger verdienen
        kosten kostet wohnen arbeiten größte höchste kleinste älteste heißen heißt ihre seine""",
    "French": """
        le la les un une des du de et ou ne pas avec dans par pour sur sous quels quelle
        quelles quel combien qui que quoi où quand pourquoi est sont était étaient ont avoir
        il elle ils elles nous vous je tous toutes toute chaque affiche affichez montre
        montrez donne donnez moi liste listez nombre noms nom clients pays ville année prix
        ventes commandes employés produits moyenne plus moins entre leurs leur ses cette ces
        aux au y-a-t-il fait été""",
    "Spanish": """
        el la los las un una unos unas y o no con de del en por para sobre cuántos cuantos
        cuántas cuantas cuál cual cuáles cuales qué que quién quien quiénes dónde donde cuándo
        cuando es son fue fueron hay tiene tienen todos todas cada muestra muéstrame mostrar
        dame lista enumera número numero nombres nombre clientes cliente país pais países
        ciudad año años precio ventas pedidos empleados productos promedio más menos entre sus
        su este esta estos se al ingresos mayor menor""",
    "Italian": """
        il lo la gli le un uno una e o non con di del della dei delle degli in per su da
        quanti quante quale quali che chi dove quando perché è sono era erano ha hanno tutti
        tutte ogni mostra mostrami elenca elencare dammi numero nomi nome clienti paese paesi
        città anno prezzo vendite ordini dipendenti prodotti media più meno tra loro suo sua
        questo questa ci cui nel nella al alla""",
    "Portuguese": """
        o os as um uma uns umas e ou não com de do da dos das em no na nos nas por para sobre
        quantos quantas qual quais que quem onde quando é são foi foram há tem têm todos todas
        cada mostre mostra liste listar dê número nomes nome clientes país países cidade ano
        anos preço vendas pedidos funcionários produtos média mais menos entre seus sua seu
        este esta ao receita maior""",
    "Dutch": """
        de het een en of niet met van uit bij naar hoeveel welke welk wie wat waar wanneer
        waarom zijn was waren heeft hebben er alle elke elk toon geef mij lijst aantal namen
        naam klanten landen land stad jaar prijs omzet bestellingen medewerkers producten
        gemiddelde meer minder tussen hun deze dit voor op te die dat laat zien""",
    "Swedish, Danish or Norwegian": """
        och eller inte med av från hos efter hur många mange vilka vilken hvilke hvilken vem
        hvem vad hva hvad var hvor när når är er har finns det alla alle varje hver visa vis
        lista antal antall namn navn kunder länder land stad år pris och og ikke fra som ett
        en et den den de til till på för omsättning ordrer beställningar anställda hvert
        produkter mellan mellem jag jeg""",
    "Polish": """
        i lub nie z ze w we na do od dla ile którzy które który która jakie jaki jaka kto
        gdzie kiedy dlaczego jest są było były ma mają wszystkie wszystkich wszyscy każdy
        każdego pokaż podaj wyświetl lista liczba nazwy nazwa klientów klienci kraj kraju
        kraje miasto rok cena sprzedaż zamówienia zamówień pracownicy produkty średnia więcej
        mniej między ich według""",
    "Turkish": """
        ve veya değil ile için kaç hangi kim nerede zaman neden var tüm bütün her göster
        listele ver sayısı isimleri adı müşteri müşteriler müşterilerin ülke şehir yıl fiyat
        satış sipariş siparişler çalışan ürün ürünler ortalama daha fazla az arasında olan en
        bir bu şu nedir kadar göre""",
    "Indonesian or Malay": """
        dan atau tidak dengan dari di ke untuk berapa banyak siapa mana kapan mengapa ada
        adalah yang semua setiap tampilkan tunjukkan daftar jumlah nama pelanggan negara kota
        tahun harga penjualan pesanan karyawan produk rata-rata rata lebih kurang antara ini
        itu pada apa saja""",
    "Romanian": """
        și sau nu cu din la pentru câți câte care cine unde când este sunt au avut toate toți
        fiecare arată afișează lista numărul numele nume clienți clienții țară oraș an preț
        vânzări comenzi angajați produse medie mai mult puțin între lor în ale""",
    "Czech or Slovak": """
        a nebo alebo ne s z ze v ve na do od pro kolik koľko kteří ktorí které ktoré který
        ktorý kdo kto kde kdy kedy je jsou sú byl má mají majú všechny všetky každý zobraz
        ukaž vypiš seznam počet jména jméno zákazníků zákazníci země město rok cena prodej
        objednávky zaměstnanci produkty průměr více méně mezi podle""",
    "Hungarian": """
        és vagy nem hány mennyi melyik melyek ki kik hol mikor van vannak volt összes minden
        mutasd listázd sorold száma neve nevek név ügyfelek ügyfél ország város év ár eladás
        rendelések alkalmazottak termékek átlag több kevesebb között az egy fel akik amelyek""",
    "Finnish": """
        ja tai ei kuinka monta moni mikä mitkä kuka ketkä missä milloin on ovat oli kaikki
        jokainen näytä listaa anna lukumäärä nimet nimi asiakkaat asiakasta maa kaupunki vuosi
        hinta myynti tilaukset työntekijät tuotteet keskiarvo enemmän vähemmän välillä joka
        jotka""",
    "Vietnamese": """
        và hoặc không với của từ cho có bao nhiêu nào ai ở đâu khi là tất cả mỗi hiển thị liệt
        kê danh sách số tên khách hàng quốc gia thành phố năm giá bán đơn nhân viên sản phẩm
        trung bình hơn ít giữa các những trong theo""",
}

# These are everyday English words too, or stand inside many English names.
_ALSO_ENGLISH = vocabulary(
    """a an as at do die den dem hat her it in is me no on or per plus so to was we he i o e y z s
    son pour come dove comment art rot also elk of are see ten land war bring will men his under
    over list lists liste media media number date total name nom ton sans pays prime place type
    mode code note article force avenue page image ville city ha data video audio
    total or die data hall van la los las el de du des santa san en rate rank park an em tai ki ai
    lista menu radio hotel"""
)


def foreign_language(text: str) -> str | None:
    """The language a request seems to be in, or None when it can be read as English."""
    bare = _QUOTED.sub(" ", text)
    return _by_script(bare) or _by_words(bare)


def _by_script(text: str) -> str | None:
    counts: dict[str, int] = {}
    latin = 0
    for letter in text:
        if not letter.isalpha():
            continue
        script = unicodedata.name(letter, "LATIN").split()[0]
        if script in _SCRIPTS:
            counts[script] = counts.get(script, 0) + 1
        else:
            latin += 1
    if sum(counts.values()) <= latin:
        return None
    # Japanese mixes scripts; its own letters decide.
    for kana in ("HIRAGANA", "KATAKANA"):
        if kana in counts:
            return _SCRIPTS[kana]
    return _SCRIPTS[max(counts, key=lambda script: counts[script])]


def _by_words(text: str) -> str | None:
    words = _without_names([match.group() for match in _WORD.finditer(text)])
    english = sum(word in FUNCTION_WORDS or word in OPERATION_WORDS for word in words)
    best, hits = "", 0
    for language, known in _vocabularies().items():
        found = sum(word in known for word in words)
        distinct = len({word for word in words if word in known - _ALSO_ENGLISH})
        if distinct >= 2 and found > hits:
            best, hits = language, found
    return best if hits > english else None


def _without_names(words: list[str]) -> list[str]:
    """Lower-case words that don't belong to a name; everything when nothing is capitalised."""
    if not any(word.islower() for word in words):
        return [word.casefold() for word in words]
    kept = []
    for place, word in enumerate(words):
        first = place == 0
        if word[:1].isupper() and not first:
            continue
        before = place > 1 and words[place - 1][:1].isupper()
        after = next((w for w in words[place + 1 : place + 3] if w[:1].isupper()), None)
        near = place > 1 and any(w[:1].isupper() for w in words[max(1, place - 2) : place])
        if not first and len(word) <= 4 and (before or near) and after:
            continue
        kept.append(word.casefold())
    return kept


@cache
def _vocabularies() -> dict[str, frozenset[str]]:
    english = (FUNCTION_WORDS | OPERATION_WORDS) - {"id", "die"}
    return {name: frozenset(words.split()) - english for name, words in _WORDS.items()}
