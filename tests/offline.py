"""Code in a fresh interpreter that has no network."""

from __future__ import annotations

import subprocess
import sys
import textwrap


def run(code: str, **environment: str) -> str:
    """Output of a fresh interpreter in which every connection raises."""
    guard = """
        import socket
        def refuse(*args, **kwargs):
            raise AssertionError(f"network request: {args}")
        socket.socket.connect = socket.socket.connect_ex = refuse
        socket.getaddrinfo = socket.create_connection = refuse
    """
    program = textwrap.dedent(guard) + textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
