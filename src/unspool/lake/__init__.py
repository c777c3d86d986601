"""The lake: sessions as tables of Parquet files that any engine reads, and questions to them in SQL.

`tables` declares what there is, `rows` makes rows of a session, `parquet` files of rows; `settle` tells what only all
sessions together tell. `storage` is a folder or an object store, `manifest` says which files in it are the lake,
`write` brings it up to date, and `query` asks it. pyarrow and duckdb come with the extra `lake`.
"""
