"""What people read: the grid and its page."""
