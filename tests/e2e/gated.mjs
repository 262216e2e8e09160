// A vendor (openai-chat) that answers on command: every request waits at its gate.
import http from 'node:http';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const chunk = (delta, finish = null) => `data: ${JSON.stringify({
  id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'held', choices: [{ index: 0, delta, finish_reason: finish }],
})}\n\n`;

export class Gated {
  constructor() {
    this.waiting = []; // requests at the gate, oldest first: { key, body, release }
    this.keys = [];    // the Authorization of every request so far
    this.most = 0;     // the most that waited at the gate at once
    this.isOpen = false;
  }

  async listen() {
    this.server = http.createServer((request, response) => {
      const pieces = [];
      request.on('data', (piece) => pieces.push(piece));
      request.on('end', () => this.take(request, response, Buffer.concat(pieces).toString()));
    });
    await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${this.server.address().port}`;
    return this;
  }

  take(request, response, body) {
    this.keys.push(request.headers.authorization ?? '');
    const one = { key: request.headers.authorization ?? '', body, release: () => {
      this.waiting = this.waiting.filter((other) => other !== one);
      if (!JSON.parse(body).stream) {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'held', choices: [{ index: 0, message: { role: 'assistant', content: 'done' }, finish_reason: 'stop' }] }));
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(chunk({ role: 'assistant', content: 'done' }) + chunk({}, 'stop') + 'data: [DONE]\n\n');
    } };
    if (this.isOpen) { one.release(); return; }
    this.waiting.push(one);
    this.most = Math.max(this.most, this.waiting.length);
  }

  // From now on every request is answered at once.
  open() {
    this.isOpen = true;
    for (const one of [...this.waiting]) one.release();
  }

  close() {
    this.open();
    this.server.closeAllConnections();
    this.server.close();
  }
}

// Writes DATA/.config/parley/config.yaml, which a server started by start() reads.
export function configure(dir, text) {
  mkdirSync(join(dir, '.config', 'parley'), { recursive: true });
  const path = join(dir, '.config', 'parley', 'config.yaml');
  writeFileSync(path, text);
  return path;
}
