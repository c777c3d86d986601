"""A real server on a real port, for tests: `with served(app) as address`."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from tests.waiting import until
from unspool.app.context import AppContext
from unspool.app.server import create_app


@contextmanager
def served(context: AppContext) -> Iterator[str]:
    """The address of an app without its guard."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(create_app(context), log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    until(lambda: server.started)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()
