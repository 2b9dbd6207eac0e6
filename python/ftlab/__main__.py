"""``python -m ftlab``: the command ``ftlab`` of this interpreter."""

import sys

from ftlab._command import main

if __name__ == "__main__":
    sys.exit(main())
