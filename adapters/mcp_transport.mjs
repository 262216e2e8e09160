// The two transports to an MCP server: its standard streams, and streamable HTTP. Both send one JSON-RPC message and pass
// on every received message.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const LINE_MOST = 16 << 20;

export class StdioTransport {
  constructor([program, ...args], { env, cwd, onMessage, onEnd }) {
    this.child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'inherit'] });
    this.child.on('error', (error) => onEnd(error.message));
    this.child.on('exit', (code, signal) => onEnd(signal ?? `exit code ${code}`));
    this.child.stdin.on('error', () => {});
    createInterface({ input: this.child.stdout, crlfDelay: Infinity }).on('line', (line) => {
      if (!line.trim() || line.length > LINE_MOST) return;
      let message;
      try {
        message = JSON.parse(line);
      } catch {
        console.error(`no JSON from the server: ${line.slice(0, 200)}`); // many servers print a greeting
        return;
      }
      for (const one of [message].flat()) onMessage(one);
    });
  }

  async send(message) { this.child.stdin.write(`${JSON.stringify(message)}\n`); }
}

// Yields the data of each event of a text/event-stream.
async function* eventsOf(body) {
  const decoder = new TextDecoder();
  let rest = '', data = [];
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop();
    for (const line of lines) {
      if (line === '') {
        if (data.join('')) yield data.join('\n'); // an event without data only has an id
        data = [];
      } else if (line.startsWith('data:')) {
        data.push(line.slice(line[5] === ' ' ? 6 : 5));
      }
    }
    if (rest.length > LINE_MOST) throw new Error('an event of the server is longer than 16 MiB');
  }
}

export class HttpTransport {
  constructor(url, { bearer } = {}) {
    this.url = url;
    this.bearer = bearer;
    this.session = undefined;
  }

  async send(message, { version, onMessage }) {
    const name = message.params?.name ?? message.params?.uri;
    const headers = {
      'content-type': 'application/json', accept: 'application/json, text/event-stream',
      ...(version ? { 'mcp-protocol-version': version } : {}), ...(this.session ? { 'mcp-session-id': this.session } : {}),
      ...(this.bearer ? { authorization: `Bearer ${this.bearer}` } : {}),
      ...(message.method ? { 'mcp-method': message.method } : {}), ...(name && /^[\x20-\x7e]+$/.test(name) ? { 'mcp-name': name } : {}),
    };
    const answer = await fetch(this.url, { method: 'POST', headers, body: JSON.stringify(message), redirect: 'error' });
    this.session = answer.headers.get('mcp-session-id') ?? this.session;
    const type = answer.headers.get('content-type') ?? '';
    if (type.startsWith('text/event-stream') && answer.body) {
      // Messages arrive while the stream is open; a wait for one of them does not wait for the stream's end.
      this.#follow(answer.body, message, onMessage);
      return;
    }
    const text = await answer.text();
    if (type.startsWith('application/json') && text) {
      for (const one of [JSON.parse(text)].flat()) onMessage(one.id === null && one.error ? { ...one, id: message.id } : one);
      return;
    }
    if (!answer.ok) onMessage({ id: message.id, error: { code: -32000 - answer.status, message: `HTTP ${answer.status}${text ? `: ${text.slice(0, 200)}` : ''}` } });
  }

  async #follow(body, message, onMessage) {
    try {
      for await (const data of eventsOf(body)) for (const one of [JSON.parse(data)].flat()) onMessage(one);
    } catch (error) {
      if (message.id !== undefined) onMessage({ id: message.id, error: { code: -32000, message: `the stream broke: ${error.message}` } });
    }
  }
}
