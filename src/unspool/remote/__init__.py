"""The client of a hub: where it is, what lets one in, what is sent to it.

address         where a hub is, and whether a token may be sent there
credentials     the hubs that a person is signed in to, and their tokens
http            requests to a hub, tried again where that may help
shares          sessions that are shown to others through a hub
"""
