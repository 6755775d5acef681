#!/usr/bin/env python3
"""Shows that each check finds what it is for, and passes what is right."""

import sys
import unittest
from pathlib import Path

if __name__ == "__main__":
    here = Path(__file__).resolve().parent
    sys.path.insert(0, str(here))
    sys.dont_write_bytecode = True
    found = unittest.defaultTestLoader.discover(str(here), pattern="selftest_*.py")
    sys.exit(not unittest.TextTestRunner().run(found).wasSuccessful())
