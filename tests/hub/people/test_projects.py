"""What somebody may, against the rule written out: their own right, or else the most of their teams."""

from itertools import product

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.thorough import tries
from unspool.hub.people.projects import Right, readable_projects, right_on_project
from unspool.hub.people.users import ANYBODY, Person
from unspool.hub.store.connect import Store

PEOPLE, TEAMS, PROJECTS = ("ada", "bob"), ("crew", "band"), ("shop", "mill", "yard")
Given = dict[tuple[str, str, str], int]
SUBJECTS = [("person", one) for one in PEOPLE] + [("team", one) for one in TEAMS]
PERMITS = st.dictionaries(st.sampled_from([(p, *s) for p, s in product(PROJECTS, SUBJECTS)]), st.integers(0, 3))
MEMBERS = st.sets(st.sampled_from(list(product(TEAMS, PEOPLE))))


def may(permits: Given, members: set[tuple[str, str]], person: str, project: str) -> int:
    """The rule."""
    if (project, "person", person) in permits:
        return permits[project, "person", person]
    return max([permits.get((project, "team", team), 0) for team, one in members if one == person], default=0)


@settings(max_examples=tries(25, 300), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(permits=PERMITS, members=MEMBERS)
def test_a_right_is_as_the_rule_says(files_store: Store, permits: Given, members: set[tuple[str, str]]) -> None:
    """For every person and project; and `readable` has exactly the projects that may be read."""
    db = files_store.db
    with db.transaction():
        for table in ("permit", "member", "project"):
            db.run(f"DELETE FROM {table}")  # noqa: S608
        db.many("INSERT INTO permit VALUES(?, ?, ?, ?)", [(*who, level) for who, level in permits.items()])
        db.many("INSERT INTO member VALUES(?, ?)", sorted(members))
        db.many("INSERT INTO project VALUES(?, ?, '', 0)", [(name, name) for name in PROJECTS])
    for name in PEOPLE:
        person = Person(name, name)
        assert [right_on_project(db, person, project) for project in PROJECTS] == [
            may(permits, members, name, project) for project in PROJECTS
        ]
        sql, values = readable_projects(person)
        seen = {row[0] for row in db.rows(sql, *values)}
        assert seen == {project for project in PROJECTS if may(permits, members, name, project) >= Right.READ}
    admin = Person("boss", "boss", admin=True)
    assert {right_on_project(db, admin, project) for project in PROJECTS} == {Right.OWN}
    assert {right_on_project(db, ANYBODY, project) for project in PROJECTS} == {Right.NONE}
    sql, values = readable_projects(ANYBODY)
    assert db.rows(sql, *values) == []
