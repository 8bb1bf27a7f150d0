"""How fast, how small, against what: every table that this project claims, made again here."""
