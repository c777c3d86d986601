"""All sessions in one place, live, in the browser: the site's pages, served, and what only a server can add. Imports
all but `hub` and `cli`; its shared state is `context.AppContext`."""
