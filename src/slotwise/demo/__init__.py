"""The demo: a simulated shop on a real service."""
