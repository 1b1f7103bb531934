"""Times at which Slurm does not answer."""

from __future__ import annotations

import logging
import time

from sbench_dag.cluster.slurm.client import UnreachableError
from sbench_dag.errors import SetupError

log = logging.getLogger(__name__)

SILENCE_UNTIL_ERROR_S = 900.0


class Outage:
    """Says once that Slurm does not answer, and once for how long it did not."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._answered = False

    def begin(self, error: UnreachableError, is_hopeless: bool) -> None:
        """is_hopeless: nothing that was submitted can come back.

        Raises:
            SetupError: it never did answer, for so long that it will not.
        """
        if self._since is None:
            self._since = time.monotonic()
            log.warning(f"Slurm does not answer ({error}). What runs goes on, and results come in as they are stored")
        if is_hopeless and not self._answered and time.monotonic() - self._since > SILENCE_UNTIL_ERROR_S:
            raise SetupError(f"Slurm has not answered for {SILENCE_UNTIL_ERROR_S:g} s: {error}") from None

    def end(self) -> None:
        self._answered = True
        if self._since is not None:
            log.warning(f"Slurm answers again, after {time.monotonic() - self._since:.0f} s")
            self._since = None

    def outlived(self) -> None:
        """All results have come while Slurm did not answer."""
        if self._since is not None:
            log.warning(
                f"Slurm has not answered for {time.monotonic() - self._since:.0f} s, and is not needed any more"
            )
