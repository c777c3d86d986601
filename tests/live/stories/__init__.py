"""The scenarios, each a function that tells the agent a story; tests.live.scenarios lists them."""
