"""The way to an endpoint, which is made with the first request."""

from __future__ import annotations

import threading
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from sqlwright.llm.endpoint import Endpoint, EndpointError
from sqlwright.llm.sending.engine import Engine
from sqlwright.messages import Capabilities
from sqlwright.protocols import Run

E_co = TypeVar("E_co", bound=Endpoint, covariant=True)


class Connection(Generic[E_co]):
    """The way to an endpoint: the endpoint, made when the first one is, and who calls it.

    A vendor's package takes a third of a second to load, which stored replies needn't wait for.
    """

    def __init__(
        self,
        connect: Callable[[], E_co],
        engine: Engine,
        *,
        address: str = "",
        context: Callable[[], Coroutine[Any, Any, int]] | None = None,
    ) -> None:
        """`address` is where the endpoint is, without secrets: the same name elsewhere is another
        model. `context` asks it for the model's context size; None where that is known."""
        self.engine = engine
        self._context = context
        self.address = address
        self._connect = connect
        self._lock = threading.Lock()
        self._endpoint: E_co | None = None

    @property
    def endpoint(self) -> E_co:
        """Made now if it isn't yet. Raises ConfigError, as for a package that isn't installed."""
        with self._lock:
            if self._endpoint is None:
                self._endpoint = self._connect()
            return self._endpoint

    def context_tokens(self, run: Run) -> int | None:
        """Tokens of prompt and reply together as the server tells; 0 where it doesn't, None where
        it didn't answer this time. Raises EndpointError where nobody is there."""
        if self._context is None:
            return 0
        try:
            return self.engine.fetch(self._context, run)
        except EndpointError as error:
            if error.kind == "gone":
                raise
            return None

    @property
    def capabilities(self) -> Capabilities | None:
        """Capabilities of the endpoint; None before it is made."""
        return None if self._endpoint is None else self._endpoint.capabilities
