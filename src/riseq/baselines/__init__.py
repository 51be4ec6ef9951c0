"""The paper's learned baselines: Trans++, QGDiv and QuerySim (needs torch)."""
