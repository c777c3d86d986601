"""Today's real agents, run against a loopback server that plays the model, in a network namespace of their own.

What they write is read by unspool, and what unspool copies is resumed by them. Everything here is skipped unless
UNSPOOL_LIVE names the folder that `scripts/test --live` installs the agents into.
"""
