"""The web page: two rooms, recall and consult, and the same answers for programs under /api (extra ``app``)."""
