"""Where sessions are kept and found: the archive, the index over it, the sync that fills both, and the library.
Imports render and what stands below; inside, sync imports library imports index imports archive."""
