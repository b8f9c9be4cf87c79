"""Help as plain text, at once: what draws boxes takes longer to load than the help to read."""

from typing import Any

from typer.core import TyperGroup

SETTINGS = {"max_content_width": 100}


class PlainGroup(TyperGroup):
    """A group of commands whose help needs neither rich nor pydantic."""

    def get_help_option(self, ctx: Any) -> Any:
        """Whether help was asked for; False by itself, or typer would load pydantic to say so."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.default = False
        return option

    def sections(self, ctx: Any) -> dict[str, list[str]]:
        """The names of the commands under their headings."""
        return {"Commands": self.list_commands(ctx)}

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Each command with its whole first sentence."""
        for heading, names in self.sections(ctx).items():
            known = {name: self.get_command(ctx, name) for name in names}
            rows = [
                (name, command.get_short_help_str(limit=200))
                for name, command in known.items()
                if command is not None and not command.hidden
            ]
            with formatter.section(heading):
                formatter.write_dl(rows, col_max=20)
