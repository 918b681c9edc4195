# SPDX-License-Identifier: Apache-2.0
"""The process protocol (../README.md) for implementations in Python, with nothing but the standard library."""

from __future__ import annotations

import json
import os
import struct
import traceback
from dataclasses import dataclass
from typing import Any
from collections.abc import Callable

PROTOCOL = 1


@dataclass
class Raw:
    """A tensor as it lies in the file."""

    dtype: str  # F64, F32, BF16, I64, U8
    shape: list[int]
    data: bytes


class Unsupported(Exception):
    """The feature is missing. The message is the reason."""


class Refused(Exception):
    """The configuration cannot be cut. The message names both numbers."""


def read_tensors(path: str) -> dict[str, Raw]:
    with open(path, "rb") as file:
        content = file.read()
    (length,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + length])
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + at for at in entry["data_offsets"])
        tensors[name] = Raw(entry["dtype"], entry["shape"], content[begin:end])
    return tensors


def write_tensors(path: str, tensors: dict[str, Raw]) -> None:
    header: dict[str, Any] = {}
    at = 0
    for name, raw in tensors.items():
        header[name] = {"dtype": raw.dtype, "shape": raw.shape, "data_offsets": [at, at + len(raw.data)]}
        at += len(raw.data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for raw in tensors.values():
            file.write(raw.data)


def serve(name: str, version: str, answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Answers requests until the channel ends. `answer` returns a response without its id."""
    requests = os.fdopen(int(os.environ["TP_REQUEST_FD"]), "r")
    responses = os.fdopen(int(os.environ["TP_RESPONSE_FD"]), "w")
    for line in requests:
        request = json.loads(line)
        if request["request"] == "capabilities":
            response: dict[str, Any] = {"protocol": PROTOCOL, "name": name, "version": version}
        else:
            response = {"id": request["id"], **guarded(answer, request)}
        responses.write(json.dumps(response) + "\n")
        responses.flush()


def guarded(answer: Callable[[dict[str, Any]], dict[str, Any]], request: dict[str, Any]) -> dict[str, Any]:
    try:
        return answer(request)
    except Unsupported as missing:
        return {"status": "unsupported", "reason": str(missing)}
    except Refused as refusal:
        return {"status": "refused", "reason": str(refusal)}
    except Exception as error:  # whatever it is, it is the answer
        traceback.print_exc()
        text = " ".join(str(error).split())[:600]
        return {"status": "error", "reason": f"{type(error).__name__}: {text}"}
