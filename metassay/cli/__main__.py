"""`python -m metassay.cli`, for who has no script on the path."""

import sys

from metassay.cli.main import main

sys.exit(main())
