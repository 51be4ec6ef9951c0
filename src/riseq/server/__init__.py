"""The engine behind HTTP: the API, dynamic batching, the playground."""
