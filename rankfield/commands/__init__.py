"""The commands of `rankfield` beside those of the evaluation, and what they share."""
