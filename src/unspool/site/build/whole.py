"""A whole site brought up to date with some logs; where nothing has changed, nothing is opened and nothing written."""

from collections.abc import Sequence
from pathlib import Path

from unspool.errors import UnspoolError
from unspool.formats import Found
from unspool.site.address import INDEX
from unspool.site.build.disk import locked, sweep_site
from unspool.site.build.plan import Plan, Wanted
from unspool.site.build.report import Report, Watch


def build(logs: Sequence[Found], site: Path, wanted: Wanted, watch: Watch = lambda _, __: None) -> Report:
    """Bring a site up to date with these logs."""
    site.mkdir(parents=True, exist_ok=True)
    with locked(site) as mine:
        if not mine:
            raise UnspoolError(f"Another run of unspool is writing to {site}.")
        sweep_site(site)
        plan = Plan(logs, site, wanted)
        if not plan.todo and plan.manifest.indexed == plan.shared and (site / INDEX).exists():
            return report_of(plan)
        from unspool.site.build.run import Run

        return Run(site, wanted, plan, report_of(plan)).run(watch)


def report_of(plan: Plan) -> Report:
    """What there is to say before anything is made."""
    ids = {step.id for step in plan.steps}
    gone = sum(kept.card is not None for key, kept in plan.manifest.sessions.items() if key not in ids)
    empty = sum(plan.manifest.sessions[key].card is None for key in ids - {step.id for step in plan.todo})
    return Report(unchanged=len(plan.steps) - len(plan.todo) - empty, empty=empty, gone=gone)
