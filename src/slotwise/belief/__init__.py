"""What is believed of items and slots, given a tally."""
