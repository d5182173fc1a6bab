"""Types of everything that is read or written as JSON: definitions, requests, reports."""
