"""Compiled loops, one file a job, and their torch twins."""
