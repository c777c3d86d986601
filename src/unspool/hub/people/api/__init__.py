"""People as programs reach them: JSON, below /api."""

from unspool.hub.people.api import erasure, groups, invited, me, oversight, persons, projects

WAYS = (*me.WAYS, *persons.WAYS, *invited.WAYS, *groups.WAYS, *projects.WAYS, *oversight.WAYS, *erasure.WAYS)
