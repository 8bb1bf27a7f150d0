"""What people do: each act is recorded in the activity log."""
