#!/usr/bin/env node
// Says something in a session of a Parley server, and prints the answer as it comes.
//
// usage: PARLEY_KEY=sk-parley-v1-... follow.mjs URL SESSION_ID MESSAGE
//
// Node 18 and nothing else. If the connection breaks, it connects again and goes on where it was. Browsers and Node 22 have
// a WebSocket of their own; `Socket` below is what older ones lack.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { connect } from 'node:net';

// As much of a WebSocket as a client needs: text frames, whole messages, pings.
class Socket {
  constructor(url, key, { onframe, onend }) {
    const { hostname, port, host } = new URL(url);
    const nonce = randomBytes(16).toString('base64');
    const accept = createHash('sha1').update(`${nonce}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
    let bytes = Buffer.alloc(0), text = Buffer.alloc(0), isOpen = false;
    this.net = connect(Number(port || 80), hostname);
    this.opened = new Promise((resolve) => { this.onopen = resolve; });
    this.net.write(`GET /api/ws HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n`
      + `Sec-WebSocket-Key: ${nonce}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: parley.v1\r\n`
      + `Authorization: Bearer ${key}\r\n\r\n`);
    this.net.on('error', () => {});
    this.net.on('close', onend);
    this.net.on('data', (piece) => {
      bytes = Buffer.concat([bytes, piece]);
      const end = isOpen ? 0 : bytes.indexOf('\r\n\r\n');
      if (end < 0) return;
      if (!isOpen) {
        const head = String(bytes.subarray(0, end));
        if (!head.startsWith('HTTP/1.1 101 ')) fail(`the server refused the socket: ${head.split('\r\n')[0]}`);
        if (!head.includes(`Sec-WebSocket-Accept: ${accept}`)) fail('this is no WebSocket server');
        isOpen = true;
        bytes = bytes.subarray(end + 4);
        this.onopen();
      }
      for (let frame; (frame = takeFrame(bytes)); bytes = frame.rest) {
        if (frame.opcode === 8) this.net.destroy();
        else if (frame.opcode === 9) this.write(10, frame.payload);
        else if (frame.opcode < 2) {
          text = Buffer.concat([text, frame.payload]);
          if (!frame.isLast) continue;
          onframe(JSON.parse(String(text)));
          text = Buffer.alloc(0);
        }
      }
    });
  }

  write(opcode, payload) {
    const n = payload.length, mask = randomBytes(4);
    const size = n < 126 ? Buffer.from([0x80 | n]) : Buffer.alloc(n < 65536 ? 3 : 9);
    if (n >= 65536) { size[0] = 0xff; size.writeBigUInt64BE(BigInt(n), 1); }
    else if (n >= 126) { size[0] = 0xfe; size.writeUInt16BE(n, 1); }
    this.net.write(Buffer.concat([Buffer.from([0x80 | opcode]), size, mask, payload.map((byte, i) => byte ^ mask[i & 3])]));
  }

  send(frame) {
    this.write(1, Buffer.from(JSON.stringify(frame)));
  }
}

// The first whole frame of what has come, or null.
function takeFrame(bytes) {
  if (bytes.length < 2) return null;
  const short = bytes[1] & 127, at = short < 126 ? 2 : short === 126 ? 4 : 10;
  if (bytes.length < at) return null;
  const n = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  if (bytes.length < at + n) return null;
  return { opcode: bytes[0] & 15, isLast: bytes[0] >= 128, payload: bytes.subarray(at, at + n), rest: bytes.subarray(at + n) };
}

function fail(text) {
  console.error(text);
  process.exit(1);
}

// The position in the session, and how much of each block was printed.
const view = { position: null, printed: new Map() };

const printed = (turnId, index) => view.printed.get(`${turnId} ${index}`) ?? 0;

function add(turnId, index, text) {
  process.stdout.write(text);
  view.printed.set(`${turnId} ${index}`, printed(turnId, index) + text.length);
}

function showTurn(turn) {
  if (turn.role !== 'assistant') return;
  turn.blocks.forEach(({ type, content }, index) => {
    if (type === 'text') add(turn.turn_id, index, content.slice(printed(turn.turn_id, index)));
  });
}

// False: something is missing.
function take(event, data) {
  if (event === 'session:snapshot') {
    view.position = { epoch: data.epoch, sequence: data.sequence };
    data.turns.forEach(showTurn);
    return true;
  }
  if (data.sequence === undefined || !view.position || data.sequence <= view.position.sequence) return true;
  if (data.sequence > view.position.sequence + 1) return false;
  view.position.sequence = data.sequence;
  if (event === 'turn:end') showTurn(data.turn);
  if (event === 'turn:patch' && data.data.type === 'text' && 'text_delta' in data.data)
    add(data.turn_id, data.data.block_index, data.data.text_delta);
  return true;
}

const [url, sessionId, message] = process.argv.slice(2);
if (!message || !process.env.PARLEY_KEY) fail('usage: PARLEY_KEY=... follow.mjs URL SESSION_ID MESSAGE');
const chat = { id: 'say', event: 'chat:send', data: { session_id: sessionId, message, client_message_id: randomUUID() } };
let isSaid = false, wait = 250;

function open() {
  const socket = new Socket(url, process.env.PARLEY_KEY, {
    onend: () => { setTimeout(open, wait); wait = Math.min(wait * 2, 30_000); },
    onframe: ({ ack, ok, error, event, data }) => {
      if (ack && !ok) fail(error.detail);
      if (ack === 'follow' && !isSaid) socket.send(chat); // the same client_message_id again: it is said once
      isSaid ||= ack === 'say';
      if (!event || data.session_id !== sessionId) return;
      wait = 250;
      if (!take(event, data))
        socket.send({ id: 'again', event: 'session:subscribe', data: { session_id: sessionId, since: view.position } });
      const isOver = event === 'chat:end'
        || (event === 'session:snapshot' && isSaid && !['created', 'running'].includes(data.session.status));
      if (isOver) process.stdout.write('\n', () => process.exit((data.status ?? 'completed') === 'completed' ? 0 : 1));
    },
  });
  socket.opened.then(() => socket.send({ id: 'follow', event: 'session:subscribe',
    data: { session_id: sessionId, ...(view.position ? { since: view.position } : {}) } }));
}
open();
