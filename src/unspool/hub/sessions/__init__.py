"""The team archive: sessions that were pushed, kept byte for byte, found and counted. Imports the hub's store and
people."""
