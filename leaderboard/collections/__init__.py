"""Import of collections from files, and pools of documents to judge."""
