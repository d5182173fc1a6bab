"""The service without HTTP: it decides, takes outcomes, learns, finalises and estimates."""
