"""Renderers that other packages bring: entry points of the group `unspool.tools`, looked up once and late.

An entry point names a module or object with `NAMES` and `describe`. One that cannot be loaded is warned of
and left out: a broken guest must not keep anybody from reading a log.
"""

import warnings
from functools import cache
from typing import TYPE_CHECKING, Any

from unspool.tools.nodes import ToolRenderer

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "unspool.tools"


@cache
def installed_renderers() -> tuple[ToolRenderer, ...]:
    """Every renderer that another package brings."""
    from importlib.metadata import entry_points  # costs more than all of the tools, and is rarely needed

    found = (_loaded(point) for point in entry_points(group=GROUP))
    return tuple(renderer for renderer in found if renderer is not None)


def _loaded(point: "EntryPoint") -> ToolRenderer | None:
    try:
        found: Any = point.load()
        if isinstance(found.NAMES, tuple) and callable(found.describe):
            renderer: ToolRenderer = found
            return renderer
        why = "it has no NAMES and describe"
    except (ImportError, AttributeError) as problem:
        why = str(problem)
    warnings.warn(f"the tool renderer {point.name} ({point.value}) is left out: {why}", stacklevel=2)
    return None
