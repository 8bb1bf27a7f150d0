"""The version of Rankfield, here alone."""

VERSION = "0.1.0"
