"""An encrypted page: nothing of what is in it can be read in its bytes, and everything comes out again."""

import gzip
import re
from base64 import b64decode

import pytest

from tests.share.opening import unseal
from unspool.errors import UsageProblem
from unspool.share.encryption import SealedData, encrypted_page, pack_files, passphrase, random_key

HASH = "sha256-" + "A" * 43 + "="


def page(words: str, policy: str = f"script-src '{HASH}'; style-src '{HASH}'") -> bytes:
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    return f"<!doctype html><html><head>{meta}</head><body>{words}</body></html>".encode()


def parts(made: bytes) -> SealedData:
    header = re.findall(rb'id="sealed">(.*?)</script>', made)[0]
    return SealedData(header, tuple(map(b64decode, re.findall(rb'class="chunk">(.*?)</script>', made))))


def test_everything_comes_out_again() -> None:
    """The page first, then the other files as they were given."""
    key = random_key()
    files = {"report.json": b"{}", "index.html": page("words"), "before-1/index.html": page("older")}
    inside = gzip.decompress(unseal(parts(encrypted_page(files, key)), key))
    assert inside == gzip.decompress(pack_files(files, "index.html"))
    assert inside.endswith(files["index.html"] + files["report.json"] + files["before-1/index.html"])


@pytest.mark.parametrize("secret", [random_key(), passphrase("correct horse battery")], ids=["key", "passphrase"])
def test_nothing_of_it_can_be_read(secret: object) -> None:
    """Neither words nor names of files, title or secret stand in the bytes."""
    files = {"index.html": page("A title nobody should see"), "very-private-name.json": b"{}"}
    made = encrypted_page(files, secret)  # type: ignore[arg-type]
    for word in (b"nobody should see", b"very-private-name", b"battery", b"og:title"):
        assert word not in made


def test_its_parameters_are_told() -> None:
    """Where a reader can look them up: in the page."""
    told = encrypted_page({"index.html": page("x")}, passphrase("correct horse battery")).decode()
    assert all(word in told for word in ("AES-256-GCM", "PBKDF2-HMAC-SHA-256", "600,000 iterations", "HKDF-SHA-256"))


def test_its_policy_permits_what_is_inside_and_nothing_else() -> None:
    """Hashes of the pages inside and its own; no address, no connection, no inline code."""
    made = encrypted_page({"index.html": page("x")}, random_key()).decode()
    policy = re.findall(r'Content-Security-Policy" content="([^"]*)"', made)[0].replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'sha256-")
    assert policy.count(HASH) == 2
    assert "unsafe" not in policy
    assert "self" not in policy
    assert not re.search(r"https?:|\bsrc=|\bhref=", re.sub(r"<script>.*?</script>", "", made, flags=re.DOTALL))


@pytest.mark.parametrize("policy", ["", "script-src 'self' file:; style-src 'self' file:", "default-src 'none'"])
def test_a_page_that_needs_other_files_is_refused(policy: str) -> None:
    """It could not be shown."""
    with pytest.raises(UsageProblem, match="self-contained"):
        encrypted_page({"index.html": page("x", policy)}, random_key())


def test_no_page_is_refused() -> None:
    """There would be nothing to show."""
    with pytest.raises(UsageProblem, match="no page"):
        encrypted_page({"report.json": b"{}"}, random_key())
