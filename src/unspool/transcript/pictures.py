"""Images of the conversation as pictures of a document."""

from unspool.doc import Picture
from unspool.model import Image


def picture(image: Image) -> Picture:
    """The image, called by its label or by where it lay."""
    return Picture(image.media_type, image.data, image.url, image.label or image.path)
