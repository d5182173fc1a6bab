"""The seven policies that Grant and Leslie compare, one a file."""
