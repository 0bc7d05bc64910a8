"""All commands, in the order of `metassay --help`."""

from collections.abc import Mapping

from metassay.cli.arguments import Command
from metassay.cli.file_commands import FILES
from metassay.cli.judge_commands import JUDGES
from metassay.cli.project_commands import PROJECT
from metassay.cli.tracking_commands import TRACKING

COMMANDS: Mapping[str, Command] = {**PROJECT, **TRACKING, **JUDGES, **FILES}
