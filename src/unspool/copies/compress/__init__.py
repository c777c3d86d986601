"""Passages of a session rewritten shorter by a model.

`passages` says which turns, how strongly, and which passages fall into them; `providers` who is asked; `run` asks
many at once, again where it fails, keeping the original where it fails for good. A passage is data throughout: a
model is told so, and what it answers is only ever used as text.
"""
