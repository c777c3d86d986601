"""Model names, brought to one spelling whichever provider's catalogue they come from."""

import re

_TAIL = re.compile(r"(?:\[[^\]]*\]|@[^/]*|-\d{8}|-v\d+(?::\d+)?)$")
_DOTTED = re.compile(r"(?<=\d)\.(?=\d)")


def plain_name(model: str) -> str:
    """The bare name: no provider, region, date, revision or window size, dashes for dots."""
    name = model.strip().lower()
    name = name.rpartition("/")[2].rpartition("anthropic.")[2]
    while (shorter := _TAIL.sub("", name)) != name:
        name = shorter
    return _DOTTED.sub("-", name)


def names_model(prefix: str, name: str) -> bool:
    """True when the name is that model or a variant of it; a further version number is another model."""
    if not name.startswith(prefix):
        return False
    rest = name[len(prefix) :]
    return not rest or (rest.startswith("-") and not rest[1:2].isdigit())
