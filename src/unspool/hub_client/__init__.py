"""The client of a hub: where it is, what lets one in, what is sent to it. Imports share, the store and what stands
below.

`login` knows the hubs and their tokens, `client` asks one and shares through it, `prepare` makes a session's
files as they may leave, `manifest` says what a pushed session consists of, `push` sends what the hub lacks and
nothing else.
"""
