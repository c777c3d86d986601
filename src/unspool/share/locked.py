"""A share that only its secret opens: every page of it, the sessions around it in its chain, report and picture."""

from pathlib import Path

from unspool.prices import PriceTable
from unspool.share.encrypt import encrypted_page
from unspool.share.pages import Pages
from unspool.share.place import put
from unspool.share.prepare import Share
from unspool.share.sealing import Secret
from unspool.site.address import INDEX
from unspool.site.build.disk import replace
from unspool.site.options import SiteOptions


def locked(share: Share, prices: PriceTable, secret: Secret) -> bytes:
    """The one page that holds all of it."""
    pages = Pages(share, SiteOptions(self_contained=True), prices)
    return encrypted_page(dict(pages.files()), secret)


def write_locked(share: Share, prices: PriceTable, file: Path, secret: Secret) -> Path:
    """Write the page, whole or not at all."""
    replace(file, locked(share, prices, secret))
    return file


def write_locked_folder(share: Share, prices: PriceTable, folder: Path, secret: Secret) -> Path:
    """Write a folder in which the page is the first and the only one: how many are inside is nobody's business."""
    return put(folder, [(INDEX, locked(share, prices, secret))])
