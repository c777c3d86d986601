"""From events to a session: messages joined, calls paired, branches told apart, subagents in place."""
