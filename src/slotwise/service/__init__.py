"""The learner as a service: HTTP in front, a durable store behind."""
