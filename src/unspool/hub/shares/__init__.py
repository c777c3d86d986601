"""What was uploaded to be shown: unlisted, at an address that nobody can guess.

spool, form     an upload on its way to a private file
reading         the bundle unpacked, judged at the door, read
pages, making   all that is shown, made in a process of its own
keeping         contents kept, then all of it visible at once
share, wish     a share as the tables have it, and as its owner wants it
secret, password    what the hub signs, and what opens a share
expiry          the end of a share
freshening      pages of an older hub, made anew
serving, view   what people see
api             what programs ask
"""
