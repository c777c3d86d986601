"""The benchmarks: unspool beside its peers, on one corpus in one run. `python -m bench --help`.

Every figure is taken in a process of its own, so that none warms up, or weighs on, another.
"""
