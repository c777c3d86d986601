"""A session as a file: nodes by a View, then writers, each one format, listed in `writers`. Imports figures, tools and
what stands below.
"""
