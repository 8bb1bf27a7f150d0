"""The commands about runs of generated answers: `answers check`, `answers score` and others."""
