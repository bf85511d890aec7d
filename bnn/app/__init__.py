"""Faces of the package: what the command line does, and how it tells people about it."""
