"""Remote extensions for Parley in Python: a WebSocket for parley_ext.py. Copy both to the directory of your program.

    import parley_ext, parley_ext_socket
    ext = parley_ext.Extension()              # extension.json has "runtime": "remote"
    …
    code, reason = ext.run(parley_ext_socket.connect("wss://parley.example.com", key))

Without arguments the address is PARLEY_EXT_URL and the key PARLEY_EXT_KEY. Without an address connect() returns
None, and ext.run(None) uses the standard streams, so one program can run in both ways.
"""
import base64
import hashlib
import json
import os
import socket
import ssl
import struct
import threading
from urllib.parse import urlsplit

PATH = "/api/extensions/connect"
PROTOCOL = "pi.ext.v1"
MOST_BYTES = 8 << 20  # of a frame
TEXT, CLOSE, PING, PONG = 1, 8, 9, 10


class Refused(Exception):
    """The server refused the connection: status, and retry_after in seconds if a later attempt may succeed."""

    def __init__(self, status, message, retry_after=None):
        super().__init__(message)
        self.status, self.retry_after = status, retry_after


class Closed(Exception):
    """The connection ended in the middle of a frame."""


def connect(url=None, key=None, context=None):
    """Returns an open socket. context: an ssl.SSLContext, for your own certificate authority."""
    url, key = url or os.environ.get("PARLEY_EXT_URL"), key or os.environ.get("PARLEY_EXT_KEY", "")
    if not url:
        return None
    parts = urlsplit(url)
    if parts.scheme not in ("ws", "wss", "http", "https") or not parts.hostname:
        raise ValueError(f"{url}: not an address of a server, such as wss://parley.example.com")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ValueError("the key has characters that no key has")
    is_tls = parts.scheme in ("wss", "https")
    path = parts.path if parts.path not in ("", "/") else PATH
    stream = socket.create_connection((parts.hostname, parts.port or (443 if is_tls else 80)), timeout=30)
    try:
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if is_tls:
            stream = (context or ssl.create_default_context()).wrap_socket(stream, server_hostname=parts.hostname)
        reader = stream.makefile("rb")
        _shake_hands(stream, reader, parts.netloc.rpartition("@")[2], path, key)
        stream.settimeout(None)
        return Socket(stream, reader)
    except BaseException:
        stream.close()
        raise


def _shake_hands(stream, reader, host, path, key):
    nonce = base64.b64encode(os.urandom(16)).decode()
    wanted = base64.b64encode(hashlib.sha1((nonce + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()
    stream.sendall((f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                    f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {nonce}\r\nSec-WebSocket-Protocol: {PROTOCOL}\r\n"
                    f"Authorization: Bearer {key}\r\n\r\n").encode())
    words = reader.readline(8192).split(None, 2)
    status = int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
    headers = {}
    for line in iter(lambda: reader.readline(8192).strip(), b""):
        name, _, value = line.partition(b":")
        headers[name.strip().lower().decode("latin-1")] = value.strip().decode("latin-1")
        if len(headers) > 100:
            break
    if status != 101:
        raise _refusal(status, headers, reader)
    if headers.get("sec-websocket-accept") != wanted or headers.get("sec-websocket-protocol") != PROTOCOL:
        raise Refused(status, "this is no server of Parley: its handshake is wrong")


def _refusal(status, headers, reader):
    size, wait = headers.get("content-length", ""), headers.get("retry-after", "")
    body = reader.read(min(int(size), 65536)) if size.isdigit() else b""
    try:
        message = json.loads(body)["detail"]
    except (ValueError, KeyError, TypeError):
        message = "the answer is no WebSocket"
    return Refused(status, f"{status}: {message}", int(wait) if wait.isdigit() else None)


class Socket:
    """The interface that parley_ext.py needs: write() like a file, and iteration over received frames."""

    def __init__(self, stream, reader):
        self.stream, self.reader, self.lock = stream, reader, threading.Lock()
        self.is_closing = False
        self.code, self.reason = 1006, "the connection was cut"  # until a close frame arrives

    def write(self, line):
        self._send(TEXT, line.rstrip(b"\n"))

    def flush(self):
        pass

    def close(self, code=1000, reason=""):
        """Sends a close frame; the iteration ends when the server has answered."""
        try:
            self._send(CLOSE, struct.pack("!H", code) + reason.encode()[:123])
        except OSError:
            pass  # the connection is cut already

    def _send(self, kind, data):
        n, mask = len(data), os.urandom(4)
        size = (struct.pack("!B", 0x80 | n) if n < 126 else
                struct.pack("!BH", 0xFE, n) if n < 65536 else struct.pack("!BQ", 0xFF, n))
        key = (mask * (n // 4 + 1))[:n]
        masked = (int.from_bytes(data, "big") ^ int.from_bytes(key, "big")).to_bytes(n, "big")
        with self.lock:
            if self.is_closing:
                return  # after a close no frame may be sent
            self.is_closing = kind == CLOSE
            self.stream.sendall(bytes([0x80 | kind]) + size + mask + masked)

    def _take(self, n):
        data = self.reader.read(n)
        if len(data) < n:
            raise Closed()
        return data

    def _frame(self):
        """Reads a frame: whether it is the last of its message, its kind, its bytes."""
        head, n = self._take(2)
        if head & 0x70 or n & 0x80:
            raise Closed()  # no extension was negotiated, and a server must not mask
        n = n if n < 126 else int.from_bytes(self._take(2 if n == 126 else 8), "big")
        if n > MOST_BYTES:
            self.close(1009, "a frame has at most 8 MiB")
            raise Closed()
        return bool(head & 0x80), head & 0x0F, self._take(n)

    def __iter__(self):
        message = b""
        try:
            while True:
                is_last, kind, data = self._frame()
                if kind == CLOSE:
                    self.code = int.from_bytes(data[:2], "big") or 1005
                    self.reason = data[2:].decode("utf-8", "replace")
                    self.close(1000)
                    return
                if kind == PING:
                    self._send(PONG, data)
                elif kind <= TEXT:
                    message += data
                    if len(message) > MOST_BYTES:
                        self.close(1009, "a frame has at most 8 MiB")
                        return
                    if is_last:
                        yield message
                        message = b""
        except (OSError, Closed):
            return
        finally:
            self.stream.close()
