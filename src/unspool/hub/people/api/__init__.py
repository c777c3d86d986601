"""People as programs reach them: JSON, below /api."""

from unspool.hub.people.api import account, admin, oversight

ROUTES = (
    *account.ROUTES,
    *admin.PEOPLE_ROUTES,
    *admin.INVITATION_ROUTES,
    *admin.TEAM_ROUTES,
    *admin.PROJECT_ROUTES,
    *oversight.OVERSIGHT_ROUTES,
    *oversight.ERASURE_ROUTES,
)
