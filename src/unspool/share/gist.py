"""A share as a gist: on one page where that is not too large, else on several."""

from msgspec.structs import replace

from unspool.errors import UnspoolError
from unspool.library.scratch import scratch
from unspool.prices import PriceTable
from unspool.share.pages import Pages
from unspool.share.prepare import Share
from unspool.site.build import gist
from unspool.site.build.gist import Gist
from unspool.site.options import SiteOptions


def publish(share: Share, options: SiteOptions, prices: PriceTable, *, public: bool) -> Gist:
    """Publish the session that is meant; secret unless it is to be public."""
    with scratch() as folder:
        one = replace(options, self_contained=True, single_page=True)
        files = Pages(share, one, prices).write_pages(folder / "one")
        if gist.fits(files) and not options.single_page:
            files = Pages(share, replace(one, single_page=False), prices).write_pages(folder / "several")
        if unfit := gist.fits(files):
            left = "--no-tools and --no-images of `unspool share` make it smaller."
            raise UnspoolError(f"This session is too large for a gist. {unfit} {left}")
        return gist.publish(files, share.main.session.title[:200], public=public)
