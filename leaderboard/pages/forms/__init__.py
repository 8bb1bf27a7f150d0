"""Forms, by what they edit; actions check whether a change is allowed."""
