"""Imports torchvision beside a torch that its compiled operators were not built for.

transformers prepares videos with torchvision's transforms, which are plain torch. PyPI's torchvision holds operators
for the CUDA build of torch and refuses to be imported beside a CPU build, because two of them are unknown there. It is
content when they are declared, and no transform uses them.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

from sbench_dag.errors import SetupError

_UNKNOWN = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
)


@cache  # what it returns is forgotten by torch when it is collected
def import_torchvision() -> Any:
    """Returns the declarations that were needed, or None.

    Raises:
        SetupError: torchvision is not installed.
    """
    try:
        importlib.import_module("torchvision")
    except ImportError:
        raise SetupError("this reward model needs more packages: pip install 'sbench-dag[vlm]'") from None
    except RuntimeError as error:
        if "torchvision::" not in str(error):
            raise
        return _declared()
    return None


def _declared() -> Any:
    import torch

    library = torch.library.Library("torchvision", "DEF")
    for schema in _UNKNOWN:
        library.define(schema)
    importlib.import_module("torchvision")
    return library
