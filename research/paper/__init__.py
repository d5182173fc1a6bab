"""The experiments and claims of Grant and Leslie, reproduced (`python -m research.paper`)."""
