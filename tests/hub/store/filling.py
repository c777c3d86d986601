"""A store with something in every table, and contents of every kind."""

from unspool.hub.store.blobs import DAY, now
from unspool.hub.store.connect import Store
from unspool.hub.store.copy import CopiedTable, insert_rows, tables
from unspool.hub.store.database import Database, Row, Value
from unspool.hub.store.words import word_number

_ODD = ("plain", "naïve 日本語 \U0001f980", 'it\'s %s \\ "quoted"\n\ttab', "")


def filled(store: Store, rows: int = 4) -> list[str]:
    """Fill every table, and refer to every content; their digests."""
    digests = [
        store.blobs.keep(f"content {number}\n".encode() * (number * 400 + 1), encoding).digest
        for number, encoding in enumerate(("zstd", "gzip", "", "zstd") * (rows // 4))
    ]
    with store.db.transaction():
        for table in tables(store.db):
            if table.name not in ("blob", "setting"):
                insert_rows(store.db, table, [_row(store.db, table, number, digests) for number in range(rows)])
        store.db.run("INSERT INTO setting(key, value) VALUES('policy', ?)", _ODD[1])
    return digests


def refer(store: Store, digest: str, name: str = "page") -> None:
    """Have a share refer to a content."""
    store.db.run("INSERT INTO share_file(address, name, digest, kind) VALUES('a', ?, ?, 'page')", name, digest)


def aged(store: Store, digest: str) -> None:
    """Make a content as old as one that is swept, if nothing refers to it."""
    old = now() - DAY - 1000
    store.db.run("UPDATE blob SET created = ?, unused = ? WHERE digest = ?", old, old, digest)


def _row(db: Database, table: CopiedTable, number: int, digests: list[str]) -> Row:
    kinds = _kinds(db, table.name)
    made: list[Value] = []
    for column in table.columns:
        if column == "digest" and table.name in ("share_file", "session_page", "session_text", "piece", "sent"):
            made.append(digests[number % len(digests)])
        elif "INT" in kinds[column].upper():
            small = kinds[column].upper() == "SMALLINT"
            made.append(number % 2 if small else (None if column in ("ended", "quota", "taken") else number + 2**40))
        else:
            made.append(f"{table.name}-{column}-{number} {_ODD[number % len(_ODD)]}")
    if table.name == "text_part":
        return (*made[:-2], bytes((1, 0, number)), sorted({0, 2**32 - 1, word_number(b"plain") + number}))
    return tuple(made)


def _kinds(db: Database, table: str) -> dict[str, str]:
    sql = {
        "sqlite": "SELECT name, type FROM pragma_table_info(?)",
        "postgresql": "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = ?",
    }[db.dialect]
    return dict(db.rows(sql, table))
