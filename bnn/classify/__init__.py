"""Classifiers that grow out of counts, what compares them, and what they are compared with."""
