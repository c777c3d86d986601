"""Sessions made to be shown to others, from redacted lines alone.

choices     what is left out and what is kept, remembered for a project
chain       the sessions around one
act         the act of sharing, which does not appear
hidden      the answers that are left out
draw        a session's files as the choices leave them, in a private folder: its log, what lies beside it, pictures
scrub       the same files with everything found replaced
prepare     the two, and the session read again from what is left
report      what was found, replaced and left out
pages       one HTML file, a folder of pages, their preview picture
encrypt     the same in one page that only its secret opens; sealing is the cipher
bundle      one file that another person can take in and go on with
"""
