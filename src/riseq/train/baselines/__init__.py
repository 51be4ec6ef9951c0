"""Training of the paper's learned baselines: Trans++, QGDiv and QuerySim (needs torch)."""
