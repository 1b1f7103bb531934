"""Code that changes what a result is can't change without its version, or old results would pass for new ones."""

from __future__ import annotations

import json

import pytest

from tests.code_versions import FILE, today


@pytest.mark.parametrize("name", sorted(today()))
def test_changed_code_has_another_version(name: str):
    stored, now = json.loads(FILE.read_text()).get(name), today()[name]
    hint = (
        f"The code of {name!r} has changed. If results can differ, raise its version ({now['version']!r}); "
        "then run `python -m tests.code_versions`."
    )
    assert stored == now, hint
