"""Words that decide what a piece of an answer is: units, months, cues. English first, then what models often write in."""

import re
from decimal import Decimal

K, KI = Decimal(1000), Decimal(1024)

# What a number before the word is multiplied by. Two factors: either may be meant.
SCALES: dict[str, tuple[Decimal, ...]] = {
    **dict.fromkeys(("k", "thousand", "tsd", "tausend", "mille", "mil", "mila"), (K,)),
    **dict.fromkeys(("mn", "mln", "mio", "million", "millions", "millionen", "millón", "millones"), (K**2,)),
    **dict.fromkeys(("milione", "milioni", "milhão", "milhões", "miljoen"), (K**2,)),
    **dict.fromkeys(("bn", "billion", "billions", "mrd", "milliarde", "milliarden"), (K**3,)),
    **dict.fromkeys(("milliard", "milliards", "miliardi", "miljard"), (K**3,)),
    **dict.fromkeys(("tn", "trillion", "trillions"), (K**4,)),
    "m": (K**2,),
    "b": (K**3,),
    "kb": (K, KI),
    "kib": (KI,),
    "mb": (K**2, KI**2),
    "mib": (KI**2,),
    "gb": (K**3, KI**3),
    "gib": (KI**3,),
    "tb": (K**4, KI**4),
    "tib": (KI**4,),
}
# The same as powers of ten, for those that are.
POWERS = {
    word: tuple(factor.adjusted() for factor in factors if factor == K ** (factor.adjusted() // 3))
    for word, factors in SCALES.items()
}
PERCENT = (
    "%",
    "％",
    "٪",
    "percent",
    "per cent",
    "prozent",
    "pour cent",
    "por ciento",
    "per cento",
    "por cento",
)

# Milliseconds of a unit: results have times and durations in milliseconds or seconds.
DURATIONS: dict[str, int] = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds", "sek", "sekunde", "sekunden"), 1000),
    **dict.fromkeys(("seconde", "secondes", "segundo", "segundos"), 1000),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes", "minuten", "minuto", "minutos"), 60_000),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours", "std", "stunde", "stunden"), 3_600_000),
    **dict.fromkeys(("heure", "heures", "hora", "horas"), 3_600_000),
    **dict.fromkeys(("d", "day", "days", "tag", "tage", "tagen", "jour", "jours", "día", "días"), 86_400_000),
    **dict.fromkeys(("week", "weeks", "woche", "wochen", "semaine", "semaines"), 7 * 86_400_000),
}
ORDINALS = ("st", "nd", "rd", "th", "er", "e", "º", "ª")

_MONTHS = """
january jan januar jänner janvier janv enero ene gennaio janeiro januari
february feb februar février févr fevrier febrero febbraio fevereiro februari
march mar märz mrz mars marzo março maart
april apr avril avr abril aprile
may mai mayo maggio maio mei
june jun juni juin junio giugno junho
july jul juli juillet juil julio luglio julho
august aug août aout agosto augustus
september sep sept septembre septiembre settembre setembro
october oct oktober okt octobre octubre ottobre outubro
november nov novembre noviembre novembro
december dec dezember dez décembre décembre diciembre dicembre dezembro
"""
MONTHS = {
    word: number for number, line in enumerate(_MONTHS.strip().splitlines(), 1) for word in line.split()
}
# Ordinary English words when they are not capitalised.
MONTHS_WITH_CAPITAL = {"may", "march", "mar", "mars"}

ABOUT = re.compile(
    r"(?:~|≈|∼|\b(?:about|around|approximately|approx\.?|roughly|nearly|almost|over|under|more than|less than|some|"
    r"circa|ca\.?|c\.|etwa|rund|ungefähr|fast|knapp|über|gut|mehr als|environ|près de|plus de|presque|"
    r"unos|aproximadamente|cerca de|más de|casi))\s*$",
    re.IGNORECASE,
)

# Words that mix letters and digits, or have quotes around them, and name nothing in particular.
_ORDINARY = """
p2p p2pkh p2sh p2wpkh b2b b2c web2 web3 base32 base58 base64 base58check sha1 sha256 sha512 sha-256 sha-512
ripemd160 ed25519 secp256k1 utf8 utf-8 utf16 ipv4 ipv6 2fa mp3 mp4 mpeg4 h264 x86 x64 x86_64 iso8601
iso-8601 rfc3339 http2 http/2 oauth2 q1 q2 q3 q4 layer1 layer2 l1 l2 1st 2nd 3rd 3d 2d 24/7 true false null
none nil undefined yes no not n/a na ok ja nein oui non sí note notes warning important summary overview
details result results answer source sources total sum hinweis wichtig zusammenfassung ergebnis quelle
quellen gesamt summe résumé remarque attention
"""
ORDINARY = frozenset(_ORDINARY.split())

# Words that no bold name has: what has one of them is emphasis.
_EMPHASIS = """
a an the this that these those is are was were be been has have had does do did can cannot could will would
not no none never only all any each every both either neither and or but if of in on at to for from by with
without as than then so too very more most less least its it their there here you your we our i der die das
den dem des ein eine einen einem einer eines ist sind war waren wird werden wurde hat haben nicht kein keine
keinen nur alle jeder und oder aber wenn von im am zu zum zur für mit ohne als le la les un une du de est
sont était ont pas aucun aucune seulement tous toutes et ou mais si au aux pour par avec sans el los las uno
una unos unas es son fue ninguno solo todos y o pero del al por con sin
"""
EMPHASIS = frozenset(_EMPHASIS.split())

# A name follows: `lower` may be followed by a word in lower case too, the rest only by one with a capital.
CUES_LOWER = (
    "named",
    "owned by",
    "registered by",
    "the names?",
    "der name",
    "namens",
    "le nom",
    "nommée?",
    "el nombre",
    "llamad[oa]",
)
CUES = ("called", "owner", "owner is", "group", "account", "created by", "minted by", "besitzer", "gruppe", "konto", "gehört",
        "groupe", "compte", "propriétaire", "grupo", "cuenta", "propietario", "asset", "poll", "app")  # fmt: skip
# The head of a table's column in which names stand.
_NAME_COLUMNS = """
name names owner group groups asset account seller buyer creator member members poll app username besitzer
gruppe gruppenname verkäufer käufer mitglied nom propriétaire groupe vendeur acheteur membre nombre
propietario grupo
"""
NAME_COLUMNS = frozenset(_NAME_COLUMNS.split())
