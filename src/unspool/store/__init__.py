"""Where sessions are kept and found: the archive, the index over it, the sync that fills both, and the library."""
