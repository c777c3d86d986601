"""The hub: shares and a team's sessions, served from one machine or from many.

store       where things are kept: two members of one interface
people      who there is, what lets them in, what they may, what they did
shares      what was uploaded to be shown
sessions    the team's archive: what was pushed, kept byte for byte, found and counted
web         the pages that are the hub's own
ways        every address, what it does and what it needs
door        who is asking, and whether they may
"""
