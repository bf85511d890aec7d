"""Bayesian classifiers as scikit-learn estimators.

| module | what it is |
|---|---|
| `columns` | `Column`: what a column means, categories or intervals |
| `reading` | any user's table as columns; `Codebook`: columns to codes |
| `describing` | what the columns of a training table mean: categories, or intervals of numbers |
| `labels` | class labels, sorted, and the position of each row's class |
| `class_counts` | `ClassCounts`: target x value, an exact group |
| `gains` | `GAINS`: estimates, from counts to log2 priors and gains in bits |
| `base` | `BayesClassifier`: reading, ``classes_``, probabilities, files; a subclass says how it learns and scores |
| `model` | `Model`: what counts and parameters amount to, and the terms of a row |
| `fuzzy` | fuzzy and reliable intervals of numeric attributes |
| `leave_one_out` | leaving each row out, in closed form |
| `streamed` | what files mean to a naive classifier, and its counts of them, chunk by chunk |
| `naive` | `NaiveBayesClassifier` |
| `readout` | what a network's class neurons hear; the scale of a field |
| `settling` | letting a network settle from a row of evidence |
| `network_classifier` | `NetworkClassifier` |
| `head` | `BayesHead`, a torch layer; the delta rule |
| `explanation` | `Explanation`: gains for and against each class; how all put it together |
| `showing` | rows that between them show every value, for nomograms |
| `registry` | `CLASSIFIERS`: those that are compared, one line each |
| `references` | scikit-learn's own classifiers, as outside references |
| `comparison`, `scores`, `paired` | `compare` on random splits; what it found; intervals of differences |
| `joins`, `joined_model`, `semi_naive` | joined values, their gains, `SemiNaiveBayesClassifier` |
| `dependence`, `tree` | conditional mutual information, `TreeBayesClassifier` |
| `meta`, `successive`, `combiner` | classifiers over others: `SuccessiveBayesClassifier`, `NaiveBayesCombiner` |
| `storing` | all of ours in files, one inside the other; `load_classifier` |
| `parameters` | checks of numbers that users give |

A new classifier subclasses `base.BayesClassifier`: its `fit` calls ``self._read_training(X, y, sample_weight)``, which
sets ``classes_`` and ``codebook_`` and returns records, target and class codes; its ``_log2_scores(X)`` begins with
``self.read_codes(X)`` and returns log2 scores that need not be normalised. Probabilities and answers
follow. ``learned`` and ``learn_again`` let files keep it, see `storing`.
"""
