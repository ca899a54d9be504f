"""`python -m sirocco` is the `sirocco` command."""

from sirocco.cli.main import main

main()
