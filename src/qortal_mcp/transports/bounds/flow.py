"""When a connection is read and written: nothing is read from a client that does not read."""

from typing import Any

from uvicorn.protocols.http.flow_control import FlowControl


class Flow(FlowControl):
    """uvicorn's flow control, but reading stops as long as writing has to wait."""

    def __init__(self, transport: Any) -> None:
        super().__init__(transport)
        # Whether to read once the client reads again.
        self._wants_to_read = True

    def pause_reading(self) -> None:
        self._wants_to_read = False
        super().pause_reading()

    def resume_reading(self) -> None:
        self._wants_to_read = True
        if not self.write_paused:
            super().resume_reading()

    def pause_writing(self) -> None:
        super().pause_writing()
        super().pause_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._wants_to_read:
            super().resume_reading()
