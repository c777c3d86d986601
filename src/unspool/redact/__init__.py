"""What must not leave: secrets and personal data found in any text, and replaced so that nothing tells what was
there. Imports nothing of sessions: it works on text and plain data.

`rules` is what a secret looks like, as data; `finder` finds them, through disguises; `replacements` names what
stands for them; `values` goes through every text of a value, and `rebuild` makes it anew.
"""
