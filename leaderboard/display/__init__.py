"""Values as text and as drawings."""
