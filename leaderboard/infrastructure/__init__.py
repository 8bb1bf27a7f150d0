"""The machine below the site: files, memory, disk space, connections, logs, outages."""
