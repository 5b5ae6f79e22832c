"""Settings as command-line options: flags and help come from the fields of the groups that a command combines."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import click
from click.core import ParameterSource

from ... import settings
from ...settings import ConfigOptions, LogOptions, Option, Options
from ..running.start import begin
from . import completion

_COMPLETING = {"toolsets": completion.toolsets}
_FLAGS = f"{__name__}.flags"
_LOG = f"{__name__}.log"


def flags_given() -> Mapping[str, Any]:
    """The settings that the running command was given as flags: they also beat a file that is read again."""
    flags: Mapping[str, Any] = click.get_current_context().meta[_FLAGS]
    return flags


def log_options() -> LogOptions:
    """How the running command logs."""
    found: LogOptions = click.get_current_context().meta[_LOG]
    return found


class SettingOption(click.Option):
    """One setting as a flag. Its variable is read by `settings.read`, so click does not know about it."""

    def __init__(self, option: Option, section: str) -> None:
        super().__init__(
            [option.flag, option.field],
            multiple=option.repeatable,
            is_flag=option.is_switch or None,  # False would make the value optional
            metavar=option.metavar or None,
            type=click.Choice(option.choices, case_sensitive=False) if option.choices else None,
            help=option.description,
            shell_complete=_COMPLETING.get(option.field),
        )
        self.setting = option
        self.section = section

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        option = self.setting
        remarks = [option.variable]
        if option.repeatable:
            remarks.append("repeatable")
        if option.default_text:
            remarks.append(f"default: {option.default_text}")
        flag = f"{option.flag} {option.metavar}" if option.metavar else option.flag
        return flag, f"{option.description}  [{'; '.join(remarks)}]"


class SettingsCommand(click.Command):
    """A command that takes groups of settings: its function gets them first, in the order given.

    Logging is part of every such command; one that `asks_once` logs only errors unless it is told otherwise. `environ`
    gives the variables that it reads, if those are not all.
    """

    def __init__(
        self,
        *args: Any,
        groups: Sequence[type[Options]] = (),
        asks_once: bool = False,
        environ: Callable[[], Mapping[str, str]] = lambda: os.environ,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._asks_once = asks_once
        self._environ = environ
        self.groups: tuple[type[Options], ...] = (*groups, ConfigOptions, LogOptions)
        self.params += [
            SettingOption(option, group.title)
            for group in self.groups
            for option in settings.options_of(group)
        ]

    def invoke(self, ctx: click.Context) -> Any:
        flags = {
            parameter.name: value
            for parameter in self.params
            if isinstance(parameter, SettingOption)
            and (value := ctx.params.pop(parameter.name or "")) is not None
            and ctx.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        }
        ctx.meta[_FLAGS] = flags
        from ..program import COMMANDS

        environ = self._environ()
        file = settings.read_settings_file(flags, environ, ctx.info_name or "", COMMANDS)
        ctx.meta[_LOG] = settings.read(LogOptions, flags, environ, file)
        values = begin(self.groups, flags, environ, asks_once=self._asks_once, file=file)
        assert self.callback is not None, "every command has a function"
        return ctx.invoke(self.callback, *values, **ctx.params)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        # Arguments are explained in the usage and the text; here they would be bare names.
        own = [p for p in self.get_params(ctx) if not isinstance(p, SettingOption | click.Argument)]
        _write_section(ctx, formatter, "Options", own)
        chosen = [p for p in self.params if isinstance(p, SettingOption)]
        for section in dict.fromkeys(p.section for p in chosen):
            _write_section(ctx, formatter, section, [p for p in chosen if p.section == section])


def _write_section(
    ctx: click.Context, formatter: click.HelpFormatter, title: str, parameters: Iterable[click.Parameter]
) -> None:
    records = [record for p in parameters if (record := p.get_help_record(ctx)) is not None]
    if records:
        with formatter.section(title):
            formatter.write_dl(records)
