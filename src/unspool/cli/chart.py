"""Bars of block characters."""

_EIGHTHS = " ▏▎▍▌▋▊▉"
_SHADES = " ░▒▓█"


def bar(share: float, width: int) -> str:
    """A bar of that share (0 to 1) of a width, to an eighth of a character; anything above nothing can be seen."""
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    if share > 0:
        eighths = max(eighths, 1)
    whole, part = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[part] if part else "")


def bars(values: list[int], width: int) -> list[str]:
    """A bar for each value, the largest as long as the width."""
    most = max(values, default=0)
    return [bar(value / most, width) if most > 0 else "" for value in values]


def shade(value: int, most: int) -> str:
    """One character, the darker the larger the value; a space for nothing."""
    if value <= 0 or most <= 0:
        return _SHADES[0]
    return _SHADES[min(4, 1 + value * 4 // (most + 1))]
