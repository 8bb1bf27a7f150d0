"""Topics, documents and judgments from files, and pools of documents to judge."""
