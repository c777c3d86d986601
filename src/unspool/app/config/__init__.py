"""What a person has chosen: one file that people may edit, and the environment over it."""
