"""The worker over HTTP: routes, bodies, problem documents, pages."""
