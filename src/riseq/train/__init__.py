"""Training by iterative reinforcement (needs torch)."""
