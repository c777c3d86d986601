"""Copies of sessions that the agent can resume: lighter, forked, mended and moved. The source is only ever read."""
