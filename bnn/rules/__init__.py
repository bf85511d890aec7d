"""Learning rules, one file a family; a new one is a file with a `RULE` and a line here."""

from bnn.rules import (
    bcpnn,
    covariance,
    dense,
    hebb,
    hopfield,
    log_odds,
    log_ratio,
    modern,
    presynaptic_covariance,
    pseudo_inverse,
    storkey,
    willshaw,
)

RULES = {
    rule.name: rule
    for rule in (
        log_ratio.RULE,
        log_odds.RULE,
        hopfield.RULE,
        hebb.RULE,
        covariance.RULE,
        presynaptic_covariance.RULE,
        willshaw.RULE,
        bcpnn.RULE,
        storkey.RULE,
        pseudo_inverse.RULE,
        dense.RULE,
        modern.RULE,
    )
}
