"""The paper's tables and figures next to ours, from saved outputs."""
