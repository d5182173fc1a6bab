"""Faults at every read, write, sync and lock of SQLite, and after every message to and from PostgreSQL."""
