"""The learner as a service: `http` in front, a `worker` that can do without it, and a durable `store` behind."""
