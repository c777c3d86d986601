"""Sessions made to be shown to others, from redacted lines alone.

choices     what is left out and what is kept, remembered for a project
act         the act of sharing, which does not appear
draw        a session's files as the choices leave them, in a private folder
scrub       the same files with everything found replaced
prepare     the two, and the session read again from what is left
report      what was found, replaced and left out
pages       one HTML file, a folder of pages, their preview picture
bundle      one file that another person can take in and go on with
"""
