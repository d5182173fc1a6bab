"""Published policies to compare with, one a file."""
