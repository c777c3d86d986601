"""unspool: read Claude Code sessions without loss."""
