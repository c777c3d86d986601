"""Styles and scripts as markup: beside the page, or in it."""

from unspool.export.html.escape import escape


def stylesheet(href: str) -> str:
    return f'<link rel="stylesheet" href="{escape(href)}">'


def script(href: str) -> str:
    return f'<script src="{escape(href)}"></script>'


def style_inside(text: str) -> str:
    """Styles of our own as part of a page; they may not hold the end of their own element."""
    return f"<style>{text}</style>"


def script_inside(text: str) -> str:
    """A script of our own as part of a page, as styles are."""
    return f"<script>{text}</script>"
