"""What people see on the terminal: tables, results with their edits, progress."""
