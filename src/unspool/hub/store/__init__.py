"""Where a hub keeps things: records in a database, contents in an object store.

database    what a database does for the hub; SQL is written once, for every member
sqlite      a file of SQLite
postgres    a PostgreSQL server
pool        connections to it
objects     what an object store does for the hub
files       a folder
s3          a bucket of any S3-compatible store
blobs       contents by their digest, on the two of them
packing     how contents are packed
schema      the tables, and how older ones become these
opening     the two of them by address, brought to this version
words       words as full text has them
tables      every table, row by row, for those that copy and compare
proof       contents, compared with their digests
copying     all of a hub from one place to another
move        a hub that goes elsewhere
backup      a hub saved to a folder, and brought back
tidy        what nothing refers to is removed
verify      everything is read and proved
"""
