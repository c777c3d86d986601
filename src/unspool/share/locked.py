"""A share as one encrypted file: every page of it, the sessions before it in its chain, report and picture."""

from pathlib import Path

from unspool.prices import PriceTable
from unspool.share.encrypt import encrypted_page
from unspool.share.pages import Pages
from unspool.share.prepare import Share
from unspool.share.sealing import Secret
from unspool.site.build.disk import replace
from unspool.site.options import SiteOptions


def write_locked(share: Share, prices: PriceTable, file: Path, secret: Secret) -> Path:
    """Write the file, whole or not at all."""
    pages = Pages(share, SiteOptions(self_contained=True), prices)
    replace(file, encrypted_page(dict(pages.files()), secret))
    return file
