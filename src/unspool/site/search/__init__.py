"""Search of a site that has no server: records of a session, and the index of an archive, as scripts to be loaded.

A session's folder gets the files of `session_files`; the site's root gets a folder `search` from `Writer`, which
reads nothing but the words kept beside each session. static/search.js finds and shows; it loads the head, the shards
of the words asked for, and the parts that hold what it shows.
"""

from unspool.site.search.archive import Listed, Writer
from unspool.site.search.record import KINDS, Kind, Record
from unspool.site.search.records import records
from unspool.site.search.session import inline, session_files

__all__ = ["KINDS", "Kind", "Listed", "Record", "Writer", "inline", "records", "session_files"]
