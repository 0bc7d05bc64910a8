"""A remedy names the same option in both forms, and each form is taken as it is written."""

import inspect
import shlex
from typing import Any

import pytest

import metassay
from metassay.cli.commands import COMMANDS
from metassay.cli.main import parser
from metassay.cli.parsing import spread
from metassay.tabular.option_words import Caller, Option

# Of each kind of option: what the terminal prints, and what Python prints.
BOTH_FORMS = [
    (Option(name="lower"), "--lower", "lower="),
    (Option(name="lower", values=("errors",)), "--lower errors", "lower='errors'"),
    (
        Option(name="higher", values=("a b", "c")),
        "--higher 'a b,c'",
        "higher=['a b', 'c']",
    ),
    (
        Option(name="missing", values=("-9",)),
        "--missing=-9",
        "missing='-9'",
    ),
    (
        Option(name="missing", values=("n/a, no", "it's")),
        "--missing '\"n/a, no\",it'\"'\"'s'",
        "missing=['n/a, no', \"it's\"]",
    ),
    (
        Option(name="rows", key="Status", values=("OK", "not yet")),
        "--rows 'Status=OK,not yet'",
        "rows={'Status': ['OK', 'not yet']}",
    ),
    (
        Option(name="rows", key="Status", values=("OK",)),
        "--rows Status=OK",
        "rows={'Status': ['OK']}",
    ),
    (
        Option(name="scale", key="tone", values=("poor<good",)),
        "--scale 'tone=poor<good'",
        "scale={'tone': 'poor<good'}",
    ),
    (
        Option(name="columns", key="doc", values=("visit id",)),
        "--columns 'doc=visit id'",
        "doc='visit id'",
    ),
    (
        Option(name="columns", key="claim", values=("text",)),
        "--columns claim=text",
        "claim='text'",
    ),
    (
        Option(name="columns", key="ratings.raters", values=("ann", "ben")),
        "--columns ratings.raters=ann,ben",
        "columns='ratings.raters=ann,ben'",
    ),
    (
        Option(name="columns", key="scores.wide", values=("{metric}_{system}",)),
        "--columns 'scores.wide={metric}_{system}'",
        "columns='scores.wide={metric}_{system}'",
    ),
    (Option(name="by", values=("ward",)), "--by ward", "by='ward'"),
    (Option(name="compared", values=("f1",)), "--compared f1", "compared='f1'"),
    (Option(name="confound", values=("n",)), "--confound n", "confounds='n'"),
    (
        Option(name="primary-criterion", values=("tone",)),
        "--primary-criterion tone",
        "primary_criterion='tone'",
    ),
    (
        Option(name="pass", values=("ok", "b c")),
        "--pass ok 'b c'",
        "passes=['ok', 'b c']",
    ),
    (Option(name="class", values=("unsure",)), "--class unsure", "classes='unsure'"),
    (Option(name="judge", values=("j1", "j2")), "--judge j1 j2", "judge=['j1', 'j2']"),
    (Option(name="pass-from", blank="3"), "--pass-from 3", "pass_from=3"),
]


@pytest.mark.parametrize(("option", "terminal", "python"), BOTH_FORMS)
def test_an_option_in_both_forms(option: Option, terminal: str, python: str) -> None:
    assert option.terminal == terminal
    assert option.python == python


def command_of(option: Option) -> str:
    names = COMMANDS["meta-eval"].arguments
    if option.key == "claim":
        return "judge-check"
    return "meta-eval" if f"--{option.name}" in names else "judge-check"


@pytest.mark.parametrize("option", [o for o, _, _ in BOTH_FORMS if o.values or o.blank])
def test_the_command_reads_what_the_terminal_prints(option: Option) -> None:
    words = [command_of(option), "x.csv", *shlex.split(option.terminal)]
    read = vars(parser().parse_args(spread(words)))
    argument = COMMANDS[words[0]].arguments[f"--{option.name}"]
    value = read[argument.dest or option.name.replace("-", "_")]
    if option.blank:
        assert value == float(option.blank)
    elif option.key and option.name == "columns":
        assert value == [f"{option.key}={','.join(option.values)}"]
    elif option.key:
        first, *more = option.values
        assert value == [f"{option.key}={first}", *more]
    else:
        assert value in ([*option.values], option.values[0])


@pytest.mark.parametrize("option", [o for o, _, _ in BOTH_FORMS if o.values or o.blank])
def test_the_function_takes_what_python_prints(option: Option) -> None:
    function: Any = {
        "meta-eval": metassay.meta_eval,
        "judge-check": metassay.judge_check,
    }[command_of(option)]
    arguments = eval(f"dict({option.python})")  # as a user would paste it
    assert arguments.keys() <= inspect.signature(function).parameters.keys()


def test_callers_choose_the_form() -> None:
    assert Caller.TERMINAL.column("doc", "id") == "--columns doc=id"
    assert Caller.PYTHON.column("doc", "id") == "doc='id'"
