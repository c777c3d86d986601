"""The site: sessions as pages that open from disk, from any web server, on a phone, in ten years.

`pages` makes the pages of a session and `archive` those above them, as pure functions; `search` makes what can be
found in them; `build` writes it all to disk.
"""
