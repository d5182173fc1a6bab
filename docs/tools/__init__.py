"""Tools of the documentation: `python -m docs.tools` lists them."""
