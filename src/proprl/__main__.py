"""`python -m proprl` is the command line."""

from proprl.cli import main

if __name__ == "__main__":
    main()
