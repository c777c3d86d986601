"""What replaces what must go: the same for the same, telling its kind and nothing else."""

import re
from collections.abc import Mapping

from unspool.redact.match import Match

_FORMS = {
    "home": "user-{}",
    "home-folder": "user-{}",
    "user-name": "user-{}",
    "git-user": "user-{}",
    "email": "user-{}@example.invalid",
    "host-name": "host-{}",
    "ipv4": "192.0.2.{}",
    "ipv6": "2001:db8::{}",
}
"""Rules whose values have a form worth keeping, and the form. All others are told by their rule alone."""
MOST = {"192.0.2.{}": 254, "2001:db8::{}": 9999}
"""How many names a form has."""


class Names:
    """Names given in one share. What they stand for is the sharer's to keep."""

    def __init__(self, mapping: Mapping[str, str] | None = None) -> None:
        self._values = dict(mapping or {})
        """Name to value."""
        self._names = {(_form_of(name), value): name for name, value in self._values.items()}
        self._counts: dict[str, int] = {}

    def of(self, match: Match) -> str:
        """The name for what was found."""
        form = _FORMS.get(match.rule, "")
        name = self._names.get((form, match.value)) or self._names.get(("", match.value) if form in MOST else ("", ""))
        if name is None:
            name = self._free(form) or self._free(f"[redacted:{match.rule}-{{}}]")
            self._names[_form_of(name), match.value] = name
            self._values[name] = match.value
        return name

    def mapping(self) -> dict[str, str]:
        """What each name stands for; never to leave the sharer's machine."""
        return dict(self._values)

    def _free(self, form: str) -> str:
        """The next name of a form that stands for nothing yet; empty where there is none left."""
        counted = form.partition("@")[0]
        while form and self._counts.get(counted, 0) < MOST.get(form, 10**9):
            self._counts[counted] = self._counts.get(counted, 0) + 1
            name = form.format(self._counts[counted])
            if name not in self._values:
                return name
        return ""


def _form_of(name: str) -> str:
    """The form that a name has; empty for one that is told by its rule."""
    return next((form for form in _FORMS.values() if re.fullmatch(re.escape(form).replace(r"\{\}", r"\d+"), name)), "")
