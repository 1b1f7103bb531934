# MuJoCo's bindings are compiled and ship no stubs: all of its names are Any to the type checker.
from typing import Any

def __getattr__(name: str) -> Any: ...
