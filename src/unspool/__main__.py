"""`python -m unspool`."""

from unspool.cli import main

main()
