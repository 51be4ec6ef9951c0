"""Past one machine: a folder of questions, simplified by the workers of a Ray cluster."""
