"""Models by the names people call them."""

import re
from functools import lru_cache

_DATED = re.compile(r"[-@]\d{6,8}$|[-:]v\d+(?::\d+)?$")
_VERSION = re.compile(r"(?<=\d)-(?=\d\b)")


@lru_cache(maxsize=256)
def model_name(model: str) -> str:
    """`<vendor>-opus-4-6-20260101` is `Opus 4.6`; what is not built so stays as it is."""
    name = _DATED.sub("", model.rpartition("/")[2])
    words = _VERSION.sub(".", name).split("-")
    if len(words) < 3 or not any(word[:1].isdigit() for word in words[1:]):
        return model
    return " ".join(word.capitalize() for word in words[1:])
