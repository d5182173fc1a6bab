"""ASGI middleware: authentication, CORS, metrics and the proxy's root path."""
