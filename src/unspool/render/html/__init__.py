"""Nodes as HTML: fragments for pages to frame. Only this package and the templates of pages make markup."""
