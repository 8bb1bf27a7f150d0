"""Files, memory, disk space, connections, logs and outages of this machine."""
