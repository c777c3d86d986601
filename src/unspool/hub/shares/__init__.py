"""What was uploaded to be shown: unlisted, at an address that nobody can guess. Imports the hub's store and people."""
