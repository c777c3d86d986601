"""The contents of what was erased: they go from the object store at once, where nothing else refers to them."""

from hashlib import sha256

from unspool.hub.store.blobs import PREFIX, made_at
from unspool.hub.store.opening import Store


def removed(store: Store, digest: str, at: int) -> bool:
    """Remove a content that was erased at a time; False where something refers to it again."""
    if store.blobs.find(digest) is not None:
        return store.blobs.drop(digest)
    for key in objects(store, digest):  # whose row went before this process, or another one, was killed
        if made_at(key) <= at:
            store.objects.delete(key)
    return True


def objects(store: Store, digest: str) -> list[str]:
    """Keys of the objects of a content."""
    return list(store.objects.keys(f"{PREFIX}{digest[:2]}/{digest}"))


def known(digest: str) -> str:
    """What a tombstone keeps of a content: who has the content can tell that it was erased, nobody else can."""
    return sha256(digest.encode()).hexdigest()
