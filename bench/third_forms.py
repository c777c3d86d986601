"""Values of the third set: made as their issuers make them, with the alphabets, lengths and checksums of their kind."""

import base64
import hashlib
import hmac
import json
import re
import string
import struct
import zlib
from collections.abc import Callable
from importlib import resources
from math import gcd, prod
from pathlib import Path
from random import Random
from typing import NamedTuple

KINDS = Path(__file__).with_name("third_kinds.txt")
"""A kind a line: group ; kind ; the name it is set by ; its form. In a form « » enclose what must go, if not all."""
_LOW, _UP, _DIG = string.ascii_lowercase, string.ascii_uppercase, string.digits
_AN = _DIG + _UP + _LOW
_B58 = "".join(sign for sign in _AN if sign not in "0OIl")
_ALPHABETS = {
    "an": _AN,
    "anu": _AN + "_",
    "url": _AN + "_-",
    "urld": _AN + "_-.",
    "b64": _AN + "+/",
    "cr": _AN + "./",
    "hex": _DIG + "abcdef",
    "HEX": _DIG + "ABCDEF",
    "dig": _DIG,
    "low": _LOW,
    "up": _UP,
    "let": _LOW + _UP,
    "ld": _LOW + _DIG,
    "ud": _UP + _DIG,
    "b32": _LOW + "234567",
    "B32": _UP + "234567",
    "b36": _LOW + _DIG,
    "b58": _B58,
    "bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "symbols": _AN + "!#%^*_+=~@-$&(:,",
    "any": _AN + "!#%^*_+=~@-$&():,;<>[]{}|?.",
}
_WORDS = re.findall(
    r"\w+",
    "harbour lantern copper meadow violet thunder basket ribbon anchor walnut glacier pepper saddle orbit candle "
    "forest "
    "marble tunnel velvet pigeon cactus hammer island jacket kettle ladder magnet nectar oyster pillow quartz rocket "
    "spider temple urchin vessel window yellow zipper bridge cherry dragon engine feather garden helmet insect jungle",
)
_BLANK = re.compile(r"<(\w+)(?::(\d+)(?:-(\d+))?)?>")


class Kind(NamedTuple):
    """A kind of secret: how it is made, and the name it is set by."""

    group: str
    name: str
    variable: str
    form: str


def kinds() -> list[Kind]:
    """All kinds with a form or a name."""
    return [Kind(*line.split(" ; ", 3)) for line in KINDS.read_text(encoding="utf-8").splitlines()]


def made(form: str, random: Random) -> tuple[str, str, str]:
    """A value of that form: what stands before the secret, the secret, and what stands behind it."""
    before, mark, rest = form.partition("«")
    if not mark:
        return "", _filled(form, random), ""
    secret, _, behind = rest.partition("»")
    return _filled(before, random), _filled(secret, random), _filled(behind, random)


def _filled(form: str, random: Random) -> str:
    last = ""

    def value(blank: re.Match[str]) -> str:
        nonlocal last
        name, least, most = blank[1], int(blank[2] or 0), int(blank[3] or blank[2] or 0)
        length = random.randint(least, most)
        last = _base62(zlib.crc32(last.encode()), length) if name == "crc" else _blank(name, length, random)
        return last

    return _BLANK.sub(value, form)


def _blank(name: str, length: int, random: Random) -> str:
    if name in _ALPHABETS:
        return "".join(random.choices(_ALPHABETS[name], k=length))
    return _MADE[name](length, random)


def _base62(number: int, length: int) -> str:
    signs = ""
    while len(signs) < length:
        number, rest = divmod(number, 62)
        signs = _AN[rest] + signs
    return signs


def _uuid(random: Random, version: str = "") -> str:
    text = f"{random.getrandbits(128):032x}"
    return f"{text[:8]}-{text[8:12]}-{version or text[12]}{text[13:16]}-a{text[17:20]}-{text[20:]}"


def _password(length: int, random: Random) -> str:
    """What a generator of passwords gives: letters, a digit and a sign at least."""
    some = [*random.choices(_AN, k=length - 2), random.choice(_DIG), random.choice("!#%^*_+=~")]
    random.shuffle(some)
    return "".join(some)


def _short(_length: int, random: Random) -> str:
    return "".join(random.choices(_LOW, k=4)) + "".join(random.choices(_DIG, k=random.randint(2, 3)))


def _human(_length: int, random: Random) -> str:
    """What people think up."""
    one, two = (word.capitalize() for word in random.sample(_WORDS, 2))
    year = random.randint(1970, 2026)
    return random.choice(
        (f"{one}{year}!", f"{one}{two}{year % 100}", f"{one}#{year % 100}{two}", f"{one.lower()}{year}")
    )


def _words(count: int, random: Random) -> str:
    return " ".join(random.sample(_WORDS, count))


def _seed(count: int, random: Random) -> str:
    """A phrase of BIP39, with the digest of its bits in the last word."""
    listed = resources.files("unspool.redact").joinpath("seed_words.txt").read_text("ascii").split()
    data = random.randbytes(count * 4 // 3)
    bits = "".join(f"{byte:08b}" for byte in data) + f"{hashlib.sha256(data).digest()[0]:08b}"[: count // 3]
    return " ".join(listed[int(bits[at : at + 11], 2)] for at in range(0, len(bits), 11))


def _hyphened(_length: int, random: Random) -> str:
    return "-".join(random.sample(_WORDS, 4)) + str(random.randint(2, 99))


def _part(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _jwt(_length: int, random: Random) -> str:
    """A token with a true signature."""
    head = {"alg": "HS256", "typ": "JWT"} | ({"kid": _uuid(random)} if random.random() < 0.5 else {})
    body = {"sub": str(random.randrange(10**9)), "iat": 1_780_000_000 + random.randrange(10**7), "jti": _uuid(random)}
    signed = f"{_part(json.dumps(head).encode())}.{_part(json.dumps(body, separators=(',', ':')).encode())}"
    return f"{signed}.{_part(hmac.digest(random.randbytes(32), signed.encode(), 'sha256'))}"


def _base58check(data: bytes) -> str:
    data += hashlib.sha256(hashlib.sha256(data).digest()).digest()[:4]
    number, signs = int.from_bytes(data), ""
    while number:
        number, rest = divmod(number, 58)
        signs = _B58[rest] + signs
    return signs


_MADE: dict[str, Callable[[int, Random], str]] = {
    "uuid": lambda _, random: _uuid(random),
    "uuid4": lambda _, random: _uuid(random, "4"),
    "UUID": lambda _, random: _uuid(random).upper(),
    "pw": _password,
    "short": _short,
    "human": _human,
    "words": _words,
    "seed": _seed,
    "hyphened": _hyphened,
    "jwt": _jwt,
    "jwt64": lambda _, random: base64.b64encode(_jwt(0, random).encode()).decode(),
    "basic": lambda _, random: base64.b64encode(f"svc_app:{_password(14, random)}".encode()).decode(),
    "wif": lambda packed, random: _base58check(b"\x80" + random.randbytes(32) + b"\x01" * packed),
    "xprv": lambda _, random: _base58check(
        bytes.fromhex("0488ade4") + random.randbytes(9) + random.randbytes(32) + b"\0" + random.randbytes(32)
    ),
}


# Private keys ---------------------------------------------------------------------------------------------------------


def pem(kind: str, random: Random) -> list[str]:
    """The lines of a private key, as its program writes it."""
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    key: ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey
    if kind == "OPENSSH":
        return _openssh(random)
    if kind == "PGP":
        data = b"\x95\x03\x98\x04" + random.randbytes(900)
        return _armour("PGP PRIVATE KEY BLOCK", base64.b64encode(data).decode(), ["", f"={_filled('<b64:4>', random)}"])
    if kind in {"RSA", "PKCS8", "ENCRYPTED"}:
        p, q = _prime(random), _prime(random)
        d = pow(65537, -1, (p - 1) * (q - 1))
        public = rsa.RSAPublicNumbers(65537, p * q)
        numbers = rsa.RSAPrivateNumbers(p, q, d, d % (p - 1), d % (q - 1), pow(q, -1, p), public)
        key = numbers.private_key()
    elif kind == "EC":
        key = ec.derive_private_key(random.getrandbits(255), ec.SECP256R1())
    else:
        key = ed25519.Ed25519PrivateKey.from_private_bytes(random.randbytes(32))
    style = form.PrivateFormat.TraditionalOpenSSL if kind in {"RSA", "EC"} else form.PrivateFormat.PKCS8
    lock: form.KeySerializationEncryption = form.NoEncryption()
    if kind == "ENCRYPTED":
        lock = form.BestAvailableEncryption(random.randbytes(12))
    if kind == "ENCRYPTED":  # the library's salt is of no seed
        data = key.private_bytes(form.Encoding.DER, style, lock)
        text = base64.b64encode(data[:36] + random.randbytes(len(data) - 36)).decode()
        return _armour("ENCRYPTED PRIVATE KEY", text, [])
    return key.private_bytes(form.Encoding.PEM, style, lock).decode().splitlines()


PEM_KINDS = ("RSA", "PKCS8", "ENCRYPTED", "EC", "ED25519", "OPENSSH", "PGP")


def _armour(what: str, text: str, extra: list[str]) -> list[str]:
    body = [text[at : at + 64] for at in range(0, len(text), 64)]
    return [f"-----BEGIN {what}-----", *extra[:1], *body, *extra[1:], f"-----END {what}-----"]


def _openssh(random: Random) -> list[str]:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    def packed(*parts: bytes) -> bytes:
        return b"".join(struct.pack(">I", len(part)) + part for part in parts)

    seed = random.randbytes(32)
    public = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
    check = random.randbytes(4)
    inner = check + check + packed(b"ssh-ed25519", public, seed + public, b"mlindqvist@workbench")
    inner += bytes(range(1, 1 + -len(inner) % 8))
    data = b"openssh-key-v1\0" + packed(b"none", b"none", b"") + struct.pack(">I", 1)
    text = base64.b64encode(data + packed(packed(b"ssh-ed25519", public), inner)).decode()
    lines = [text[at : at + 70] for at in range(0, len(text), 70)]
    return ["-----BEGIN OPENSSH PRIVATE KEY-----", *lines, "-----END OPENSSH PRIVATE KEY-----"]


def _prime(random: Random) -> int:
    while True:
        number = random.getrandbits(1024) | 1 << 1023 | 1 << 1022 | 1
        if gcd(number, _SMALL_PRIMES) > 1 or not (number - 1) % 65537:
            continue
        if all(pow(base, number - 1, number) == 1 for base in (2, 3, 5)):
            return number


_SMALL_PRIMES = prod(number for number in range(3, 1000, 2) if all(number % by for by in range(3, number, 2)))
"""Their product. What it shares a divisor with is no prime, which is seen in a thousandth of the time."""


# People ---------------------------------------------------------------------------------------------------------------

FIRST = re.findall(
    r"\w+", "Marta Joakim Priya Tomasz Oluwaseun Aiko Sinead Rafael Ingrid Dmitri Leila Kwame Beatriz Hamish Noor"
)
LAST = re.findall(
    r"\w+",
    "Lindqvist Okonkwo Ferreira Wojcik Takahashi Abernathy Castellanos Halvorsen Petrov Rahmani Mensah Duquette",
)


def person(random: Random) -> tuple[str, str, str]:
    """First name, last name, and the name of their account."""
    first, last = random.choice(FIRST), random.choice(LAST)
    return (
        first,
        last,
        random.choice((f"{first[0]}{last}", f"{first}.{last}", f"{first}{random.randint(2, 99)}")).lower(),
    )


def _luhn(digits: str) -> str:
    """These digits and the one that makes them hold."""
    total = sum(sum(divmod(int(digit) * (2 - at % 2), 10)) for at, digit in enumerate(reversed(digits)))
    return digits + str(-total % 10)


def card(random: Random) -> str:
    """The number of a payment card, as it is printed or as it is typed."""
    head, length = random.choice((("4", 16), ("53", 16), ("2412", 16), ("37", 15), ("6011", 16), ("3569", 16)))
    number = _luhn(head + _filled(f"<dig:{length - 1 - len(head)}>", random))
    groups = (number[:4], number[4:10], number[10:]) if length == 15 else re.findall("....", number)
    return random.choice((number, " ".join(groups), "-".join(groups)))


_IBANS = {
    "DE": "<dig:18>",
    "NL": "RABO<dig:10>",
    "FR": "<dig:23>",
    "GB": "BARC<dig:14>",
    "PL": "<dig:24>",
    "CH": "<dig:17>",
}


def iban(random: Random) -> str:
    """An account of a bank, with its check digits."""
    country, form = random.choice(list(_IBANS.items()))
    account = _filled(form, random)
    number = int("".join(str(int(sign, 36)) for sign in f"{account}{country}00"))
    whole = f"{country}{98 - number % 97:02}{account}"
    return random.choice((whole, " ".join(re.findall(".{1,4}", whole))))


_PHONES = [
    "+1 (415) 6<dig:2>-<dig:4>",
    "+1-212-7<dig:2>-<dig:4>",
    "+44 7911 <dig:6>",
    "+4915<dig:1>2<dig:7>",
    "+49 89 4<dig:7>",
    "+33 6 1<dig:1> <dig:2> <dig:2> <dig:2>",
    "+46 70 2<dig:2> <dig:2> <dig:2>",
    "+91 98<dig:3> <dig:5>",
    "+81 90-4<dig:3>-<dig:4>",
    "+55 11 9<dig:4>-<dig:4>",
    "+61 412 <dig:3> <dig:3>",
    "+48 60<dig:1> <dig:3> <dig:3>",
    "+234 803 <dig:3> <dig:4>",
    "+86 138 <dig:4> <dig:4>",
    "+39 347 <dig:3> <dig:4>",
    "+34 61<dig:1> <dig:3> <dig:3>",
    "+31 6 2<dig:7>",
    "+353 87 <dig:3> <dig:4>",
    "+27 82 <dig:3> <dig:4>",
    "+972 52-<dig:3>-<dig:4>",
    "+52 55 4<dig:3> <dig:4>",
    "+82 10-4<dig:3>-<dig:4>",
]


def phone(random: Random) -> str:
    """A number of one of twenty countries."""
    return _filled(random.choice(_PHONES), random)


def ssn(random: Random) -> str:
    """A social security number that may be given."""
    return f"{random.randint(101, 660):03}-{random.randint(11, 99):02}-{random.randint(1001, 9998):04}"


def mac(random: Random) -> str:
    """The address of a network card of a maker."""
    pairs = [random.choice(("3c", "a4", "f0", "8c", "dc"))] + [_filled("<hex:2>", random) for _ in range(5)]
    return random.choice((":".join(pairs), "-".join(pairs).upper(), ":".join(pairs).upper()))


def street(random: Random) -> str:
    """Where somebody lives."""
    name = random.choice(_WORDS).capitalize()
    number = random.randint(2, 180)
    forms = (f"{number} {name} Street", f"{name}gatan {number}", f"{name}strasse {number}", f"{number} rue du {name}")
    return random.choice((*forms, f"{number} {name} Ave, Apt {random.randint(1, 40)}", f"{name} Road {number}"))
