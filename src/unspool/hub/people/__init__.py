"""People of a hub: who they are, what lets them in, what they may, and what they did. Imports the hub's store;
`operations` is what can be done about them, from wherever it is asked."""
