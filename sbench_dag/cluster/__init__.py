"""Where shards of work items run. Everything here knows work items only, never plans."""
