"""Everything that is HTML: views, forms, sentences and charts of pages."""
