"""Files become topics, documents and judgments; runs become a pool."""
