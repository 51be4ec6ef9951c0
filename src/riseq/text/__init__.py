"""Words, word pieces and the user's own string, and the ways between them."""
