"""What this machine gives and takes away: files, memory, disk space, logs, outages."""
