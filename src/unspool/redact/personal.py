"""Personal data: the kinds of it, checksums, ranges that are nobody's, names that are no person's or machine's."""

import re
from collections.abc import Callable
from importlib import import_module

from unspool.errors import UsageProblem

_APART = re.compile(r"[\s./-]")
_USUAL_CARD = 16
_CARDS = re.compile(
    r"4\d{12}(?:\d{3}){0,2}|(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)\d{12,14}|3[47]\d{13}"
    r"|(?:6011|64[4-9]|65|62|81|220[0-4]|50|5[6-9]|63|67|9792|35(?:2[89]|[3-8]))\d{9,17}|3(?:0[0-5]|[689])\d{11,16}"
)
_TEST_CARDS = frozenset(
    {
        "4242424242424242", "4111111111111111", "4012888888881881", "4000056655665556", "5555555555554444",
        "5105105105105100", "2223003122003222", "378282246310005", "371449635398431", "6011111111111117",
        "6011000990139424", "3056930009020004", "30569309025904", "38520000023237", "3566002020360505",
        "3530111333300000", "6200000000000005",
    }
)  # fmt: skip
_TEST_IBANS = frozenset(
    {
        "DE89370400440532013000", "GB82WEST12345698765432", "GB29NWBK60161331926819", "FR1420041010050500013M02606",
        "NL91ABNA0417164300", "BE68539007547034", "CH9300762011623852957", "ES9121000418450200051332",
        "AT611904300234573201", "IT60X0542811101000000123456",
    }
)  # fmt: skip
_TEST_SSNS = frozenset({"078051120", "219099999", "123456789", "111111111", "123121234"})
_SHARED_MACS = re.compile(
    r"(?i)(?:ff){6}|0{12}|01005e|3333|00005e0053|0242|525400|080027|005056|000c29|00163e|00155d|(?:..)?1234567890"
    r"|(?:00)?1122334455|aabbccddee|deadbeef|feedbeef|(.)\1{11}"
)
_NO_STREET = re.compile(
    r"(?i)^(?:12?3?4? main|\d* ?(?:example|any|some|test|fake|sample)|string|str|none|null)|[/@]|://"
)
_NO_AUTHOR = re.compile(
    r"(?i)^not committed yet$|\[bot\]|\bbot\b|^(?:github|your|user-\d|name|test|demo|example|root)\b|\$"
)
_NO_HOST = re.compile(
    r"(?i)(?:localhost|host(?:name)?|computer(?:name)?|server|docker|runner|desktop|laptop|ubuntu|debian|alpine|fedora|string"
    r"|none|null|true|false|self|this|your.*|my.*|example.*|test.*|host-\d+|socket|window|location|url|process|node|config"
    r"|[0-9a-f]{12}|github|gitlab|bitbucket|kernel|version|undefined|required|optional|default|database|redis|postgres|mysql|unknown)"
)
_MODULES = {
    "ssn": "us.ssn", "insurance": "gb.nhs", "nhs": "gb.nhs", "steuer": "de.idnr", "fiscale": "it.codicefiscale",
    "dni": "es.dni", "bsn": "nl.bsn", "national": "be.nn", "personnummer": "se.personnummer", "pesel": "pl.pesel",
    "cpf": "br.cpf", "aadha": "in_.aadhaar",
}  # fmt: skip
"""What a name promises, and the module of stdnum that knows it."""
_NINO = re.compile(r"(?i)(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]")


def luhn(digits: str) -> bool:
    """Whether the last digit is the one that Luhn's sum asks for."""
    doubled = (int(digit) * (1 + index % 2) for index, digit in enumerate(reversed(digits)))
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0


def _plain(value: str) -> str:
    return _APART.sub("", value)


def _card(_: re.Match[str], value: str) -> bool:
    number = _plain(value)
    known = _CARDS.fullmatch(number) is not None and number not in _TEST_CARDS and len(set(number)) > 3
    long = len(number) > _USUAL_CARD and value.isdigit()  # without its groups it may be any number of a program
    return known and not long and luhn(number)


def _iban(_: re.Match[str], value: str) -> bool:
    from stdnum import iban

    number = _plain(value)
    return number not in _TEST_IBANS and iban.is_valid(number, check_country=False) and len(set(number)) > 6


def _ssn(_: re.Match[str], value: str) -> bool:
    from stdnum.us import ssn

    number = _plain(value)
    return number not in _TEST_SSNS and bool(ssn.is_valid(value))


def _national(match: re.Match[str], value: str) -> bool:
    """A number whose name says whose it is, and which is one of those."""
    name, number = match[0][: match.start(1) - match.start()].lower(), _plain(value).upper()
    if not any(map(str.isdigit, number)) or number in _TEST_SSNS or len(set(number)) < 3:
        return False
    if _NINO.fullmatch(number):
        return "nino" in name or "insurance" in name
    for word, module in _MODULES.items():
        if word in name:
            return bool(import_module(f"stdnum.{module}").is_valid(value))
    return False


def _mac(_: re.Match[str], value: str) -> bool:
    number = re.sub("[:-]", "", value)
    letters = re.search("[A-Fa-f]", number) is not None  # times have none
    return letters and not _SHARED_MACS.match(number) and not int(number[:2], 16) & 1


def _phone_number(match: re.Match[str], value: str) -> bool:
    """A number that the plan of its country has, and that is not for fiction."""
    import phonenumbers

    if "555" in value or re.search(r"7946 ?0|7700 ?900|1 ?99 ?00|6 ?39 ?98|491 ?57", value):
        return False
    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(value))
    except phonenumbers.NumberParseException:
        return False


def _named_phone(_: re.Match[str], value: str) -> bool:
    digits = re.sub(r"\D", "", value)
    return 9 <= len(digits) <= 15 and len(set(digits)) > 3 and "555" not in digits


def _street(_: re.Match[str], value: str) -> bool:
    words = re.findall(r"[^\W\d_]{3,}", value)
    return bool(words) and re.search(r"\d", value) is not None and " " in value and not _NO_STREET.search(value)


def _author(match: re.Match[str], value: str) -> bool:
    """A name that is no program's: those have an address that nobody answers from."""
    return _NO_AUTHOR.search(value) is None and not re.search(r"<no-?reply@", match[0])


def _host(_: re.Match[str], value: str) -> bool:
    return _NO_HOST.fullmatch(value) is None


PERSONAL_CHECKS: dict[str, Callable[[re.Match[str], str], bool]] = {
    check.__name__.lstrip("_"): check
    for check in (_card, _iban, _ssn, _national, _mac, _phone_number, _named_phone, _street, _author, _host)
}
"""The checks that rules of personal data name."""

PERSONAL_KINDS: dict[str, frozenset[str]] = {
    "names": frozenset(
        {
            "user-name", "home", "home-folder", "account-name", "mail-name", "git-user", "git-name", "git-author",
            "git-blame",
        }
    ),
    "machines": frozenset({"host", "host-name"}),
    "mails": frozenset({"email"}),
    "phones": frozenset({"phone", "phone-number", "named-phone"}),
    "cards": frozenset({"card"}),
    "accounts": frozenset({"iban", "account"}),
    "national": frozenset({"ssn", "national-number"}),
    "networks": frozenset({"ipv4", "ipv6", "mac-address"}),
    "streets": frozenset({"street-address", "postal-address"}),
    "pictures": frozenset({"picture"}),
}  # fmt: skip
"""The kinds of personal data that a user may choose, and their rules."""


def rules_not_chosen(kinds: str) -> frozenset[str]:
    """The rules of personal data that are of none of these kinds, as in `names,phones`, `all` or `none`."""
    chosen = {kind.strip().lower() for kind in kinds.split(",") if kind.strip()}
    if chosen in ({"all"}, {"none"}):
        chosen = set(PERSONAL_KINDS) if chosen == {"all"} else set()
    elif not chosen or not chosen <= set(PERSONAL_KINDS):
        raise UsageProblem(f"Kinds of personal data are {', '.join(PERSONAL_KINDS)}, or all or none: “{kinds}” is not.")
    return frozenset().union(*(rules for kind, rules in PERSONAL_KINDS.items() if kind not in chosen))
