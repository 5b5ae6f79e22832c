"""`python -m qortal_mcp` is `qortal-mcp`."""

from .cli.main import main

raise SystemExit(main())
