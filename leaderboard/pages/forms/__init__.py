"""Forms check the shape of what people send; actions check whether it is allowed."""
