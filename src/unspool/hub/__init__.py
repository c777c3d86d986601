"""The hub: shares and a team's sessions, served from one machine or from many. Imports all but `app` and `cli`.

`routes` lists every address with what it needs, `auth` says who asks and whether they may, `server` puts both
together. `store` keeps things, `people` knows who there is and what they may, `shares` and `sessions` hold what
was sent, `web` is the pages that are the hub's own.
"""
