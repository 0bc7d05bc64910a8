"""Simulations run when asked for (`pytest -m calibration`): minutes of processor time."""


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "calibration: simulates whether tests and intervals keep their word"
    )


def pytest_collection_modifyitems(config, items):
    if "calibration" in config.getoption("markexpr"):
        return
    asked_not = [item for item in items if item.get_closest_marker("calibration")]
    if asked_not:
        config.hook.pytest_deselected(items=asked_not)
        items[:] = [item for item in items if item not in set(asked_not)]
