"""``python -m bnn``: the command line."""

from bnn.cli import main

if __name__ == "__main__":
    main()
