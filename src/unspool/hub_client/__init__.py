"""The client of a hub: where it is, what lets one in, what is sent to it.

address         where a hub is, and whether a token may be sent there
credentials     the hubs that a person is signed in to, and their tokens
http            requests to a hub, tried again where that may help
shares          sessions that are shown to others through a hub
choosing        which folders' sessions are pushed, and where
tasks           which sessions these are
preparing       a session's files as they may leave, with what replaces what must not
naming          names that replace, the same in every push
cutting         files in pieces, of which what is appended changes the last
manifest        what a pushed session consists of
push            sessions pushed: what the hub lacks, and nothing else
memory          what was pushed before
"""
