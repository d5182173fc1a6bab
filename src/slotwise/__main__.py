"""`python -m slotwise`: the command line, where the folder of scripts is not on the path."""

from slotwise.cli import main

if __name__ == "__main__":
    main()
