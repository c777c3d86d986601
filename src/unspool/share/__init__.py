"""Sessions made to be shown to others, from redacted lines alone. Imports the site, copies and what stands below.

`choices` is what is left out and kept; `select_files` and `side_files` draw a session's files as the choices
leave them; `redact_files` replaces what was found; `prepare` does all that and reads the session again; `publish`
makes pages of it, `encryption` one page that only its secret opens.
"""
