"""Installs what a sandbox needs from Debian's or Ubuntu's packages, without starting the services that they bring."""

from __future__ import annotations

import contextlib
import fcntl
import getpass
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path


class PackageError(Exception):
    """Said to the user as it stands."""


def install(missing: Callable[[], list[str]]) -> None:
    """missing: the packages that are not there; asked under a lock, as several sandboxes may be booted at a time.

    Raises:
        PackageError: there is no apt-get, no right to use it, or it failed.
    """
    with (Path(tempfile.gettempdir()) / f"sandbox-packages-{getpass.getuser()}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        packages = missing()
        if packages:
            _install(packages)


def _install(packages: list[str]) -> None:
    if shutil.which("apt-get") is None or (os.geteuid() != 0 and shutil.which("sudo") is None):
        raise PackageError(f"please install {' '.join(packages)}, or your system's equivalent")
    print(f"installing {' '.join(packages)}", file=sys.stderr)
    sudo = [] if os.geteuid() == 0 else ["sudo"]
    with _no_services(sudo):
        subprocess.run([*sudo, "apt-get", "update", "-qq"], check=True, stdout=subprocess.DEVNULL)
        quiet = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq", "--no-install-recommends"]
        done = subprocess.run([*sudo, *quiet, *packages], capture_output=True, text=True)
    if done.returncode:
        raise PackageError(f"apt-get could not install {' '.join(packages)}:\n{done.stderr[-1000:]}")


@contextlib.contextmanager
def _no_services(sudo: list[str]) -> Iterator[None]:
    """Keeps the packages from starting daemons of their own: a sandbox starts its own."""
    policy = Path("/usr/sbin/policy-rc.d")
    ours = not policy.exists()
    if ours:
        script = "printf '#!/bin/sh\\nexit 101\\n' > /usr/sbin/policy-rc.d && chmod 755 /usr/sbin/policy-rc.d"
        subprocess.run([*sudo, "sh", "-c", script], check=True)
    try:
        yield
    finally:
        if ours:
            subprocess.run([*sudo, "rm", "-f", str(policy)], check=True)
