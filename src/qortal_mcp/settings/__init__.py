"""What an operator can change: options in groups, which each command combines.

An option is spelt once, as a field. Its flag, its variable, the `--help` text and docs/settings.md are derived
from the field's name, type, default and description. What only some commands take is imported from its own file: a client
waits for `stdio` to start. A flag beats a variable, a variable the settings file, that the default.

WrongSetting: a setting cannot be used. Its text names the setting and never its value.
"""

from .file import NO_FILE, ConfigOptions, SettingsFile
from .option import Option, Options, WrongSetting, options_of
from .reading import (
    known_variables,
    old_variables,
    read,
    read_settings_file,
    refuse_unknown_variables,
    wrong_variables,
)
from .secrets import cache_password, model_key, server_token, token
from .serving import (
    RATE_BEYOND_LOOPBACK,
    ListenOptions,
    LogOptions,
    NodeOptions,
    SampleNodeOptions,
    WorkerOptions,
    host_and_port,
    seconds,
)
from .sharing import ShareOptions
from .variables import (
    BASE_URL_VARIABLE,
    CACHE_PASSWORD_VARIABLE,
    KEY_VARIABLE,
    MODEL_VARIABLE,
    OLD_VARIABLES,
    PREFIX,
    SERVER_TOKEN_VARIABLE,
    TEST_VARIABLES,
    TOKEN_VARIABLE,
)
from .watching import WatchOptions

__all__ = [
    "BASE_URL_VARIABLE",
    "CACHE_PASSWORD_VARIABLE",
    "KEY_VARIABLE",
    "MODEL_VARIABLE",
    "NO_FILE",
    "OLD_VARIABLES",
    "PREFIX",
    "RATE_BEYOND_LOOPBACK",
    "SERVER_TOKEN_VARIABLE",
    "TEST_VARIABLES",
    "TOKEN_VARIABLE",
    "ConfigOptions",
    "ListenOptions",
    "LogOptions",
    "NodeOptions",
    "Option",
    "Options",
    "SampleNodeOptions",
    "SettingsFile",
    "ShareOptions",
    "WatchOptions",
    "WorkerOptions",
    "WrongSetting",
    "cache_password",
    "host_and_port",
    "known_variables",
    "model_key",
    "old_variables",
    "options_of",
    "read",
    "read_settings_file",
    "refuse_unknown_variables",
    "seconds",
    "server_token",
    "token",
    "wrong_variables",
]
