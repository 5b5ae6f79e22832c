"""How big, how long, how many, on the client's side. Servers are not trusted: nothing they send is unbounded."""

from msgspec import Struct

from ..limits import Positive, Seconds


class ClientLimits(Struct, frozen=True, kw_only=True):
    """Limits that hold whatever a server sends, or fails to send."""

    # One message from a server. Embedded images and long texts of 10 MB have been seen; 16 MiB leaves room.
    message_bytes: Positive = 16 * 1024 * 1024
    # The part of an odd message that an error keeps as evidence.
    evidence_bytes: Positive = 4096
    evidence_items: Positive = 8
    # Standard error of a child: its last lines usually say why it exited.
    stderr_bytes: Positive = 64 * 1024
    # Session ids of real servers have 32 to 200 characters.
    session_id_chars: Positive = 1024

    # Pages and items of one listing. The largest real catalogues have some 1,000 tools.
    list_pages: Positive = 200
    list_items: Positive = 20_000
    list_bytes: Positive = 64 * 1024 * 1024
    # Questions from a server handled at once, and rounds of questions in one modern request.
    questions: Positive = 16
    input_rounds: Positive = 10
    # A person may need minutes to answer.
    answer_seconds: Seconds = 600.0
    # Notifications queued for a slow subscriber; one more ends the subscription.
    backlog_messages: Positive = 256

    # A child may have to install itself first; a TCP or TLS handshake does not.
    connect_seconds: Seconds = 10.0
    # A server of the modern era answers the probe at once; a silent one is legacy or still starting.
    probe_seconds: Seconds = 5.0
    # The handshake and lists. `npx` and `uvx` take tens of seconds the first time.
    handshake_seconds: Seconds = 60.0
    request_seconds: Seconds = 60.0
    # Progress restarts the clock of a request, but never beyond this.
    longest_seconds: Seconds = 3600.0
    # How long a message may wait for a server that has stopped reading.
    send_seconds: Seconds = 30.0
    # How long to wait for the end of a stream once its answer has arrived.
    linger_seconds: Seconds = 0.5
    # Parting messages: a cancellation, the DELETE of a session.
    goodbye_seconds: Seconds = 2.0
    # How long a child has to exit by itself, and again after SIGTERM.
    exit_seconds: Seconds = 2.0

    # WebSocket: a ping after this much silence. A server that does not answer within half of it counts as gone.
    heartbeat_seconds: Seconds = 30.0

    # Waits between attempts to resume a stream, if the server named none or an absurd one.
    resume_seconds: Seconds = 1.0
    longest_resume_seconds: Seconds = 30.0
    # A server that closes at once and says "retry: 0" would keep a client busy with nothing else.
    shortest_resume_seconds: Seconds = 0.05
    # Resumptions of one stream. A server that lets its clients poll closes every few seconds.
    resumptions: Positive = 100
    # Attempts in a row to open the standing stream of a session.
    stream_attempts: Positive = 5


DEFAULT = ClientLimits()
