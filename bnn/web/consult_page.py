"""The consulting room (placeholder while it is built)."""
