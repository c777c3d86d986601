"""Find: search over everything that is kept, as a page and as one types, and the way from a hit to its block."""

from unspool.app.find import jump, pages

ROUTES = [*pages.ROUTES, *jump.ROUTES]
