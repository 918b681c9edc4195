# SPDX-License-Identifier: Apache-2.0
"""Times a step where a request asks for it."""

from __future__ import annotations

import time
from typing import Any
from collections.abc import Callable

import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh


def seconds(step: Callable[[], None], request: dict[str, Any], mesh: DeviceMesh) -> list[float]:
    """This rank's own time of each sample, which begins behind a barrier of the mesh; none where none is asked for."""
    timing = request.get("timing", {"warm_up": 0, "samples": 0})
    for _ in range(timing["warm_up"]):
        step()
    taken = []
    for _ in range(timing["samples"]):
        dist.barrier(mesh.get_group())
        start = time.perf_counter()
        step()
        taken.append(time.perf_counter() - start)
    return taken
