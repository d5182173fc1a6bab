"""Reports on a placement: estimates, uplift, history, health checks."""
