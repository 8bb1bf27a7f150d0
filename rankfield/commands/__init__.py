"""The commands of `rankfield` that call a site, one module each, and what they share."""
