"""The team archive: sessions that were pushed, kept byte for byte, found and counted. May import the hub's store."""
