"""How many tokens a text or a picture takes in a model's window, estimated without the model's own tokenizer.

The method: letters, signs, line breaks, blanks and bytes beyond ASCII are counted, and each kind has a weight. The
weights are fitted to what requests of real sessions measured; docs/context.md says how, and how far off they are.
"""

_KINDS = {"l": "abcdefghijklmnopqrstuvwxyz", "n": "\n\r", "b": " \t"}
_TABLE = bytes(
    ord(next((kind for kind, some in _KINDS.items() if chr(code) in some), "s" if code < 128 else "x"))
    for code in range(256)
)
"""Each byte by its kind: small letter, line break, blank, sign (capitals and digits too), beyond ASCII."""
_LETTER, _SIGN, _BREAK, _BLANK, _BEYOND = 32, 86, 130, 7, 30
"""Hundredths of a token that a byte of each kind takes."""

IMAGE_EDGE, IMAGE_MOST, _PIXELS = 1568, 1600, 750
"""Pixels of the longer edge and tokens at which a picture is made smaller, and the pixels of a token."""
RESULT = 13
"""What the frame around a tool's answer takes."""
CALL = 40
"""What the frame around a tool call takes."""


def estimate(text: str) -> int:
    """Tokens of a text. A piece never has more than the whole, nor the whole more than its pieces together."""
    kinds = text.encode("utf-8", "surrogatepass").translate(_TABLE)
    count = kinds.count
    signs, breaks, blanks = count(b"s"), count(b"n"), count(b"b")
    beyond = 0 if text.isascii() else count(b"x")
    letters = len(kinds) - signs - breaks - blanks - beyond
    return (
        letters * _LETTER + signs * _SIGN + breaks * _BREAK + blanks * _BLANK + beyond * _BEYOND + 99
    ) // 100  # fmt: skip


def image(width: int, height: int) -> int:
    """Tokens of a picture by its size in pixels; one of unknown size (zero) is taken for the dearest."""
    if width <= 0 or height <= 0:
        return IMAGE_MOST
    longer = max(width, height)
    if longer > IMAGE_EDGE:
        width, height = width * IMAGE_EDGE // longer, height * IMAGE_EDGE // longer
    return max(1, min(IMAGE_MOST, -(-width * height // _PIXELS)))
