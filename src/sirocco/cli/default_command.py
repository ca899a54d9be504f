"""A group of commands with a default command: `sirocco claim RUN` is short for `sirocco claim make RUN`."""

import click


class DefaultGroup(click.Group):
    """Passes the first argument to its first command, unless that argument names a command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments with the command named."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [next(iter(self.commands)), *args]
        return super().parse_args(ctx, args)
