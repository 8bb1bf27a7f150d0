"""What is downloaded as one file, and restored from it."""
