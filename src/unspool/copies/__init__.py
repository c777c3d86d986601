"""Copies of sessions that the agent can resume: lighter, forked, mended and moved; the source is only ever read.
Imports the store and what stands below it; an agent's own ways are behind `agents.writing`."""
