"""A shop that is made up, on a real service, for whoever wants to watch it learn."""
