"""Which files an MJCF scene is made of."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from posixpath import basename, dirname, join
from xml.etree import ElementTree

from sbench_dag.work.fingerprint import sha256_if_there


def scene_files(xml: Path, sha256: Callable[[str], str | None] = sha256_if_there) -> dict[str, str | None]:
    """Hashes of the scene's file and of all files that it names and that are there, by path from its folder.

    Included files and attached models are followed. A name is relative to the folder of the scene, or of a file on
    the way to the name, and to the compiler's directories: whatever is there counts, so that it does not matter which
    one MuJoCo takes. None: the file is missing or unreadable, which only the scene's own can be here.

    sha256: the hash of a file, or None.
    """
    root = str(xml.parent)
    found: dict[str, str | None] = {xml.name: sha256(str(xml))}
    documents: list[tuple[str, tuple[str, ...]]] = [(xml.name, ("",))]
    assets: set[tuple[str, str]] = set()
    directories, strip = {""}, False

    def add(file: str) -> bool:
        """Whether the file is there and new."""
        content = None if file in found else sha256(join(root, file))
        if content is None:
            return False
        found[file] = content
        return True

    for file, bases in documents:  # grows on the way
        names = _names(join(root, file), found[file])
        directories |= names.directories
        strip |= names.strip
        assets |= {(base, name) for base in bases for name in names.assets}
        for path in (join(base, name) for base in bases for name in names.documents):
            if add(path):
                documents.append((path, tuple(dict.fromkeys((*bases, dirname(path))))))
    for base, name in assets:
        for directory in directories:
            add(join(base, directory, name))
            if strip:
                add(join(base, directory, basename(name)))
    return found


class _Names:
    """What one XML file names. Takes the elements from a parser."""

    def __init__(self):
        self.documents: set[str] = set()
        self.assets: set[str] = set()
        self.directories: set[str] = set()
        self.strip = False

    def start(self, tag: str, attributes: Mapping[str, str | None]) -> None:
        named = {key: sys.intern(text.replace("\\", "/")) for key, text in attributes.items() if text}
        if tag == "compiler":
            self.directories |= {named[key] for key in ("assetdir", "meshdir", "texturedir") if key in named}
            self.strip |= named.get("strippath") == "true"
        files = {text for key, text in named.items() if key.startswith("file")}  # fileup and so on: of a cube
        (self.documents if tag in ("include", "model") else self.assets).update(files)


class _Lenient(HTMLParser):
    """For what MuJoCo reads although it is no XML, such as `--` in a comment."""

    def __init__(self, names: _Names):
        super().__init__()
        self._names = names

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._names.start(tag, dict(attrs))


def _names(file: str, content: str | None) -> _Names:
    """What a file of this content names: nothing, if it can't be read."""
    try:
        return _parsed(file, content) if content else _Names()
    except OSError:
        return _Names()


@cache
def _parsed(file: str, content: str) -> _Names:
    data = Path(file).read_bytes()
    names = _Names()
    try:
        parser = ElementTree.XMLParser(target=names)
        parser.feed(data)
        parser.close()
    except (ElementTree.ParseError, ValueError, LookupError):  # the latter two: of its encoding
        with suppress(AssertionError):  # how it says that it can't go on: MuJoCo can't either
            _Lenient(names).feed(data.decode(errors="replace"))
    return names
