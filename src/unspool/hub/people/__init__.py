"""People of a hub: who they are, what lets them in, what they may, and what they did."""
