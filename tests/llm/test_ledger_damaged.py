"""Whatever is wrong with a ledger's file: one line that names it and the remedy, no
word of a text, and the file stays as it is.
"""

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from metassay.cli.main import main
from metassay.core import database
from metassay.core.errors import BadInput
from metassay.llm.budget import estimate
from metassay.llm.ledger import Entry, Failure, Ledger, export
from tests.llm.batch_setup import asking, budget_of, model, request, requests
from tests.llm.scripted_server import answer_with

SECRET = "réponse confidentielle"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with something in each of its tables, as one file."""
    path = tmp_path_factory.mktemp("sound") / "ledger.sqlite"
    with Ledger(path) as ledger:
        budget = budget_of(ledger, 1.0)
        for number in range(40):
            question = request(number)
            attempt = budget.reserve(question, question.key, "me")
            assert isinstance(attempt, int)
            entry = Entry(question.key, "ok", "stop", 12, 3, f"{SECRET} {number}")
            ledger.store(question.canonical, entry, model="m-1", endpoint_kind="openai")
            budget.settle(attempt, "ok", "yes", 12, 3)
        ledger.claim(request(50).key, "dead", 60)
        ledger.note_failures(
            [Failure(request(51).key, "http_500", request(51).canonical)]
        )
    alone(path)
    return path


def alone(path: Path) -> None:
    """One file, nothing beside it."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()


def use_all(path: Path) -> None:
    """What the commands and the stages do with a ledger."""
    with Ledger(path) as ledger:
        questions = requests(60)
        ledger.lookup(question.key for question in questions)
        ledger.holdings()
        estimate(questions, ledger, model(), structured=False, completion_tokens=10)
        export(ledger, path.with_name("r.parquet"))


def by_sql(*statements: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA ignore_check_constraints = 1")
        for statement in statements:
            connection.execute(statement)
        connection.close()

    return change


def by_bytes(old: bytes, new: bytes) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        assert old in path.read_bytes()
        path.write_bytes(path.read_bytes().replace(old, new, 1))

    return change


def overwritten(path: Path) -> None:
    content = bytearray(path.read_bytes())
    start = len(content) // 2 // 4096 * 4096
    content[start : start + 3 * 4096] = b"\x5a" * (3 * 4096)
    path.write_bytes(content)


DAMAGES = {
    "a status that is none": (by_sql("UPDATE answers SET status = 'fine'"), "answers"),
    "a number of letters": (by_sql("UPDATE answers SET completion_tokens = 'x'"), "answers"),
    "fewer than no tokens": (by_sql("UPDATE answers SET prompt_tokens = -1"), "answers"),
    "bytes for a text": (by_sql("UPDATE answers SET text = x'ff00'"), "answers"),
    "a question of another": (by_sql("UPDATE answers SET request = '[]'"), "is not its own"),
    "no text": (by_sql("UPDATE answers SET text = CAST(x'ff41' AS TEXT)"), "no UTF-8"),
    "no currency": (by_sql("UPDATE accounts SET currency = 'caf' || char(0)"), "accounts"),
    "no money": (by_sql("UPDATE accounts SET spent = 'much'"), "accounts"),
    "negative money": (by_sql("UPDATE accounts SET uncertain = -5"), "accounts"),
    "no cost": (by_sql("UPDATE attempts SET cost = 1.5"), "attempts"),
    "a claim that never ends": (by_sql("UPDATE claims SET expires = 'never'"), "claims"),
    "no code": (by_sql("UPDATE failures SET code = x'00'"), "failures"),
    "no table": (by_sql("DROP TABLE failures"), "its tables do not"),
    "another table": (by_sql("DROP TABLE claims", "CREATE TABLE claims (a)"), "its tables do not"),
    "another name": (by_sql("ALTER TABLE answers RENAME text TO said"), "its tables do not"),
    "one more column": (by_sql("ALTER TABLE answers ADD more TEXT"), "its tables do not"),
    "no index": (by_sql("DROP INDEX open_attempts"), "its tables do not"),
    "a trigger": (
        by_sql("CREATE TRIGGER t BEFORE INSERT ON answers BEGIN SELECT RAISE(IGNORE); END"),
        "its tables do not",
    ),
    "an older form": (by_sql("PRAGMA user_version = 1"), "its tables do not"),
    "no form": (by_sql("PRAGMA user_version = -5"), "its tables do not"),
    "a schema in bytes": (by_bytes(b"TABLE claims", b"TAB\x9b\xff claims"), "no UTF-8"),
    "a changed question": (by_bytes(b'"max_tokens":40', b'"max_tokens":41'), "is not its own"),
    "half a file": (lambda path: os.truncate(path, path.stat().st_size // 2), "damaged"),
    "overwritten pages": (overwritten, "damaged"),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_ledger_is_named_and_left_as_it_is(
    name: str, sound, tmp_path, capfd
) -> None:
    damage, words = DAMAGES[name]
    path = tmp_path / "ledger.sqlite"
    shutil.copy(sound, path)
    damage(path)
    before = path.read_bytes()
    with pytest.raises(BadInput) as caught:
        use_all(path)
    (problem,) = caught.value.problems
    assert problem.startswith(f"{path}: a damaged ledger (")
    assert words in problem
    assert problem.endswith("then import the tables of responses of your finished runs"
                            " (`metassay ledger import`)")  # fmt: skip
    assert problem.isprintable()
    assert SECRET[3:] not in problem
    if path.read_bytes() != before:  # it was opened, and is a WAL file now
        alone(path)
        assert path.read_bytes()[100:] == before[100:]
    assert capfd.readouterr() == ("", "")


def in_project(sound: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The ledger as the one of a project, in which commands run."""
    monkeypatch.chdir(folder)
    (folder / ".work").mkdir()
    return shutil.copy(sound, folder / ".work" / "ledger.sqlite")


@pytest.mark.parametrize(
    "command", [["stats"], ["export", "r.parquet"], ["import", "i.parquet"]]
)
def test_each_command_says_it_alike(
    command, sound, tmp_path, monkeypatch, capsys
) -> None:
    with Ledger(shutil.copy(sound, tmp_path / "other.sqlite")) as ledger:
        export(ledger, tmp_path / "i.parquet")
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".work").mkdir()
    path = shutil.copy(sound, tmp_path / ".work" / "ledger.sqlite")
    # A model may be called what a terminal would read as markup.
    by_sql("UPDATE answers SET model = '[/b]m'")(path)
    assert main(["ledger", "stats"]) == 0
    assert "[/b]m" in capsys.readouterr().out
    by_sql("UPDATE accounts SET spent = 'much'")(path)
    assert main(["ledger", *command]) == 2
    streams = capsys.readouterr()
    assert streams.out == ""
    (line,) = streams.err.splitlines()
    assert line.startswith(
        ".work/ledger.sqlite: a damaged ledger (1 row(s) of accounts are"
    )


@pytest.mark.parametrize("kind", ["pipe", "elsewhere", "itself", "folder for its log"])
def test_what_is_no_file_is_named(kind: str, tmp_path) -> None:
    path = tmp_path / "ledger.sqlite"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder for its log":
        Ledger(path).close()
        path.with_name("ledger.sqlite-wal").mkdir()
    else:
        path.symlink_to("nowhere/x" if kind == "elsewhere" else path)
    with pytest.raises(BadInput, match=r"ledger\.sqlite: .*; ") as caught:
        Ledger(path)
    assert len(caught.value.problems) == 1


def test_a_file_that_another_program_holds_is_waited_for_and_named(
    sound, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.1)
    path = shutil.copy(sound, tmp_path / "ledger.sqlite")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(
        BadInput, match=r"is locked; make sure .* no other program holds"
    ):
        Ledger(path)
    other.close()
    Ledger(path).close()


def test_a_full_disk_loses_nothing_that_was_kept(server, tmp_path) -> None:
    server.script = lambda call: answer_with("x" * 3000)
    path, questions = tmp_path / "ledger.sqlite", requests(40)
    with Ledger(path) as ledger:
        with ledger.reading() as connection:
            connection.execute("PRAGMA max_page_count = 32")
        with pytest.raises(BadInput, match="is full; make sure that the disk has room"):
            asking(server, ledger)(questions)
    sent = server.requests.total()
    with Ledger(path) as ledger:
        had = sum(row[2] for row in ledger.holdings())
        assert 0 < had <= sent < 40
        assert {reply.status for reply in asking(server, ledger)(questions)} == {"ok"}
    assert server.requests.total() == sent + 40 - had
