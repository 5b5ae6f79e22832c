"""Why a connection failed, in plain words instead of those of the HTTP library, which is imported only then."""

import errno
import socket
import ssl

REFUSED = "connection refused"
NO_ANSWER = "the server closed the connection without an answer"
NOT_TLS = "TLS failed: the server does not speak TLS at this address"
_BY_NUMBER = {
    errno.ECONNREFUSED: REFUSED,
    errno.ECONNRESET: "connection reset",
    errno.EPIPE: "connection closed",
    errno.ECONNABORTED: "connection closed",
    errno.ETIMEDOUT: "connection timed out",
    errno.EHOSTUNREACH: "host unreachable",
    errno.ENETUNREACH: "network unreachable",
}
# What OpenSSL says about bytes that are not TLS. The names depend on its version.
_NOT_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "UNEXPECTED_EOF_WHILE_READING")


def reason(error: Exception) -> str:
    """One clause without a full stop."""
    import aiohttp

    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return f"the proxy cannot be reached: {_of_system(error.os_error)}"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return _of_system(error.certificate_error)
    if isinstance(error, aiohttp.ClientConnectorError):
        found = error.os_error
        # A connection that is reset before anything was sent has no number if that happened within TLS.
        is_silent = isinstance(found, ConnectionResetError) and found.errno is None
        return NOT_TLS if is_silent else _of_system(found)
    if isinstance(error, TimeoutError):
        return "connection timed out"
    if isinstance(error, aiohttp.WSServerHandshakeError):
        return f"no WebSocket opened (HTTP status {error.status}): {error.message}"
    if isinstance(error, aiohttp.ClientResponseError):
        return f"the answer is not HTTP: {' '.join(error.message.split())}"
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return NO_ANSWER
    if isinstance(error, aiohttp.ClientPayloadError):
        return "the answer ended too early"
    return _of_system(error)


def _of_system(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"TLS failed: the certificate is not accepted ({error.verify_message})"
    if isinstance(error, ssl.SSLError):
        is_plain = any(word in (error.reason or "") for word in _NOT_TLS)
        return NOT_TLS if is_plain else f"TLS failed: {error.reason or error}"
    if isinstance(error, socket.gaierror):
        return f"host not found ({error.strerror})" if error.errno == socket.EAI_AGAIN else "host not found"
    if isinstance(error, OSError) and error.errno in _BY_NUMBER:
        return _BY_NUMBER[error.errno]
    return f"{type(error).__name__}: {error}".removesuffix(": ")
