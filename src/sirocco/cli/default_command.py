"""A group of commands of which one is meant when none is named: `sirocco claim RUN` is `sirocco claim make RUN`."""

import click


class DefaultGroup(click.Group):
    """Takes the first argument for that of its first command, unless it names a command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments with the command named."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [next(iter(self.commands)), *args]
        return super().parse_args(ctx, args)
