"""The pages that are the hub's own: what the team is at, coming in, one's own things, people, rights, what was done.
Imports the rest of the hub, and the site for how pages look."""
