"""From events to a session: messages joined, calls paired, branches told apart, subagents in place. Imports the
model alone; `skeleton` decides what a turn is, for whoever reads a log whole or in passing."""
