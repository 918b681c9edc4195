# SPDX-License-Identifier: Apache-2.0
"""hostile.py FAULT FOLDER COMMAND: passes requests on to an implementation that is right, and goes wrong once.

Rank 1's answer about a mesh of two ranks is what goes wrong.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import time
from typing import Any, NoReturn

fault, folder, command = sys.argv[1:]
rank = int(os.environ["RANK"])


class Inner:
    """The implementation that is right, with channels of its own."""

    def __init__(self) -> None:
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        environment = dict(os.environ, TP_REQUEST_FD=str(theirs_in), TP_RESPONSE_FD=str(theirs_out))
        self.process = subprocess.Popen([command], env=environment, pass_fds=(theirs_in, theirs_out))
        os.close(theirs_in)
        os.close(theirs_out)
        self.requests = os.fdopen(ours_out, "w")
        self.responses = os.fdopen(ours_in, "r")

    def ask(self, line: str) -> str:
        self.requests.write(line)
        self.requests.flush()
        return self.responses.readline()


def change_file(path: str) -> None:
    with open(path, "rb") as file:
        content = file.read()
    (length,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + length])
    data = bytearray(content[8 + length :])
    entry = header["y"]
    begin, end = entry["data_offsets"]
    if fault == "wrong_dtype":  # twice as many numbers of half the size
        entry["dtype"] = "F32"
        entry["shape"][-1] *= 2
    elif fault == "wrong_shape":
        entry["shape"] = [entry["shape"][1], entry["shape"][0], entry["shape"][2]]
    elif fault == "nan":
        data[begin : begin + 8] = struct.pack("<d", float("nan"))
    elif fault == "lying_header":
        entry["shape"][0] *= 1000
    elif fault == "longer_file":
        data += b"\0" * 4096
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def hang() -> NoReturn:
    with open(os.path.join(folder, "hangs"), "w"):
        pass
    while True:
        time.sleep(60)


def gone_wrong(answer: str, request: dict[str, Any]) -> str:
    if fault == "exit_in_the_middle":
        print("out of cheese", flush=True)
        sys.exit(5)
    if fault == "hang":
        hang()
    if fault == "flood":
        while True:
            print("flood " * 1000)
    if fault == "wrong_json":
        return '{"id": ' + str(request["id"]) + ', "status": "res\n'
    if fault == "wrong_layout":
        return answer.replace('"layout":"replicate","name":"y"', '"layout":{"shard":0},"name":"y"')
    change_file(request["answer"])
    return answer


def main() -> None:
    if fault == "exit_at_start" and rank == 1:
        print("no licence", file=sys.stderr)
        sys.exit(7)
    inner = Inner()
    with os.fdopen(int(os.environ["TP_RESPONSE_FD"]), "w") as responses:
        for line in os.fdopen(int(os.environ["TP_REQUEST_FD"]), "r"):
            request = json.loads(line)
            answer = inner.ask(line)
            if request.get("rank") == 1 and len(request["mesh"]["ranks"]) == 2:
                answer = gone_wrong(answer, request)
            responses.write(answer)
            responses.flush()


main()
