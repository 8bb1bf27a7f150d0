"""What people do, each act recorded in the activity log."""
