"""What a viewer may see of tracks, runs and judgments; in which form, boards decide."""
