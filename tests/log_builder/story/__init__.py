"""The story of an invented project: eight sessions in which a harbour's tide tables are read, mistaken and mended."""
