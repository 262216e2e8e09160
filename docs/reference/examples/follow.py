#!/usr/bin/env python3
"""Says something in a session of a Parley server, and prints the answer as it comes.

usage: PARLEY_KEY=sk-parley-v1-... follow.py URL SESSION_ID MESSAGE

Python 3.9 and its standard library. If the connection breaks, it connects again and goes on where it was.
"""
import base64
import hashlib
import json
import os
import socket
import struct
import sys
import time
import urllib.parse
import uuid

MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455 4.2.2


class Socket:
    """As much of a WebSocket as a client needs: text frames, whole messages, pings."""

    def __init__(self, url, key):
        parts = urllib.parse.urlsplit(url)
        nonce = base64.b64encode(os.urandom(16)).decode()
        self.conn = socket.create_connection((parts.hostname, parts.port or 80))
        self.conn.sendall((
            "GET /api/ws HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: %s\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: parley.v1\r\n"
            "Authorization: Bearer %s\r\n\r\n" % (parts.netloc, nonce, key)).encode())
        self.reader = self.conn.makefile("rb")
        status = self.reader.readline().decode()
        headers = {}
        for line in iter(self.reader.readline, b"\r\n"):
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
            if not line:
                raise ConnectionError("the connection broke during the handshake")
        if " 101 " not in status:
            sys.exit("the server refused the socket: " + status.strip())
        if headers["sec-websocket-accept"] != base64.b64encode(hashlib.sha1((nonce + MAGIC).encode()).digest()).decode():
            sys.exit("this is no WebSocket server")

    def write(self, opcode, payload):
        mask = os.urandom(4)
        n = len(payload)
        size = struct.pack("!B", 0x80 | n) if n < 126 else (
            struct.pack("!BH", 0xFE, n) if n < 65536 else struct.pack("!BQ", 0xFF, n))
        hidden = bytes(byte ^ mask[i & 3] for i, byte in enumerate(payload))
        self.conn.sendall(bytes([0x80 | opcode]) + size + mask + hidden)

    def send(self, frame):
        self.write(1, json.dumps(frame).encode())

    def exactly(self, n):
        data = self.reader.read(n)
        if len(data) < n:
            raise ConnectionError("the connection broke")
        return data

    def next(self):
        """The next frame of the server, as an object."""
        text = b""
        while True:
            first, second = self.exactly(2)
            n = second & 127
            if n == 126:
                n, = struct.unpack("!H", self.exactly(2))
            elif n == 127:
                n, = struct.unpack("!Q", self.exactly(8))
            payload, opcode = self.exactly(n), first & 15
            if opcode == 8:
                raise ConnectionError("the server closed the socket (%d)" % struct.unpack("!H", payload[:2]))
            if opcode == 9:
                self.write(10, payload)
            elif opcode in (0, 1):
                text += payload
                if first & 0x80:
                    return json.loads(text)


class View:
    """The position in the session, and how much of each block was printed."""

    def __init__(self):
        self.position = None  # {"epoch", "sequence"}
        self.printed = {}     # (turn_id, block) -> characters

    def add(self, turn_id, index, text):
        sys.stdout.write(text)
        sys.stdout.flush()
        self.printed[turn_id, index] = self.printed.get((turn_id, index), 0) + len(text)

    def show_turn(self, turn):
        if turn["role"] == "assistant":
            for index, block in enumerate(turn["blocks"]):
                if block["type"] == "text":
                    done = self.printed.get((turn["turn_id"], index), 0)
                    self.add(turn["turn_id"], index, block["content"][done:])

    def take(self, event, data):
        """False: something is missing."""
        if event == "session:snapshot":
            self.position = {"epoch": data["epoch"], "sequence": data["sequence"]}
            for turn in data["turns"]:
                self.show_turn(turn)
            return True
        sequence = data.get("sequence")
        if sequence is None or self.position is None or sequence <= self.position["sequence"]:
            return True
        if sequence > self.position["sequence"] + 1:
            return False
        self.position["sequence"] = sequence
        patch = data.get("data", {})
        if event == "turn:end":
            self.show_turn(data["turn"])
        elif event == "turn:patch" and "text_delta" in patch and patch["type"] == "text":
            self.add(data["turn_id"], patch["block_index"], patch["text_delta"])
        return True


def chat(url, key, session_id, message):
    view, said, wait = View(), False, 0.25
    frame = {"id": "say", "event": "chat:send", "data": {
        "session_id": session_id, "message": message, "client_message_id": str(uuid.uuid4())}}
    while True:
        try:
            ws = Socket(url, key)
            subscribe = {"session_id": session_id}
            if view.position:
                subscribe["since"] = view.position
            ws.send({"id": "follow", "event": "session:subscribe", "data": subscribe})
            while True:
                got = ws.next()
                if got.get("ack") and not got["ok"]:
                    sys.exit(got["error"]["detail"])
                if got.get("ack") == "follow" and not said:
                    ws.send(frame)  # the same client_message_id again: it is said once
                said = said or got.get("ack") == "say"
                if "event" not in got or got["data"].get("session_id") != session_id:
                    continue
                if not view.take(got["event"], got["data"]):
                    ws.send({"id": "again", "event": "session:subscribe",
                             "data": {"session_id": session_id, "since": view.position}})
                over = got["event"] == "chat:end" or (
                    got["event"] == "session:snapshot" and said
                    and got["data"]["session"]["status"] not in ("created", "running"))
                if over:
                    print()
                    return got["data"].get("status", "completed")
                wait = 0.25
        except OSError:
            time.sleep(wait)
            wait = min(wait * 2, 30)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    status = chat(sys.argv[1], os.environ["PARLEY_KEY"], sys.argv[2], sys.argv[3])
    sys.exit(0 if status == "completed" else 1)
