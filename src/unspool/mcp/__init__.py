"""What agents ask: the library over the Model Context Protocol, in lean answers. Only `unspool mcp` loads it."""
