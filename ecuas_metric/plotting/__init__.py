"""What plots need as plain arrays, and the plots."""
