"""What was uploaded to be shown: unlisted, at an address that nobody can guess."""
