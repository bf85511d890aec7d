"""Learning rules, one file a family; a new one is a file with a `RULE` and a line here."""

from bnn.rules import dense, hopfield, log_odds, log_ratio, modern

RULES = {rule.name: rule for rule in (log_ratio.RULE, log_odds.RULE, hopfield.RULE, dense.RULE, modern.RULE)}
