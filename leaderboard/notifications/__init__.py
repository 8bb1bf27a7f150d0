"""Who is notified of what: notices on the site, email and webhooks."""
