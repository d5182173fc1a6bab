"""The study of click logs: simulated logs, and which click model predicts a log best."""
