"""What must not leave: secrets and personal data found in any text, and replaced so that nothing tells what was there.

rules       what a secret looks like, as data; a person's own rules on top
finder      finds them in a text, through disguises
sweep       finds them in many texts at once, which is what makes it quick
names       what replaces them: the same for the same, and never the other way round
values      every text of a value: a line of a log, a document
"""
