"""Pages written to disk: one session, or all of them, again only where something changed. Imports the rest of the
site."""
