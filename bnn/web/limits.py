"""How much a request, an upload and a visitor may ask for."""

MOST_VISITORS = 100
"""Pages open at once."""
MOST_BYTES = 8 << 20
"""Of the body of a request, and so of a file sent."""
MOST_ROWS, MOST_COLUMNS = 20_000, 400
"""Of a table sent."""
MOST_QUESTIONS = 1000
"""Rows of one request for predictions or explanations."""
MOST_NEURONS, MOST_PATTERNS, MOST_CUES = 1024, 200, 50
"""Of one recall; a pattern shown in the recall room has as many neurons at most."""
MOST_PIXELS = 16 << 20
"""Of a picture sent, before it is scaled to the grid."""
