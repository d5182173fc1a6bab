"""From estimates to a page that someone reads."""
