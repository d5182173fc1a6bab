"""The study of click logs: coverage of intervals, and which click model predicts a log best."""
