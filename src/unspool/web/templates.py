"""The Jinja environment of a package whose pages are served."""

import jinja2

from unspool.render.html.escape import visible


def template_environment(package: str) -> jinja2.Environment:
    """The templates of a package whose pages are served: text is escaped, and what cannot be seen in it is marked."""
    return jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(name) for name in (package, "unspool.web", "unspool.site")]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: visible(value) if type(value) is str else value,
        auto_reload=False,
    )
