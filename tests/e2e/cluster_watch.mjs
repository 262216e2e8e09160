// Users of a cluster while its parts fail: readers that detect every missing or duplicate event, and speakers that repeat
// unacknowledged messages at any node that is up.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { SessionView, Socket, sleep, until } from './live.mjs';

const control = (program) => (word) => assert.equal(spawnSync(process.env[program], [word], { stdio: 'inherit' }).status, 0);
// --crash | --stop | --start | --pause | --resume, and for NATS --kill | --start | --pause | --resume.
export const postgresDoes = control('PARLEY_TEST_POSTGRES_CONTROL');
export const natsDoes = control('PARLEY_TEST_NATS_CONTROL');
export const hasNats = Boolean(process.env.PARLEY_TEST_NATS);

// The same numbers for the same seed; the test prints the seed.
export function randomOf(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6D2B79F5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return { next, below: (n) => Math.floor(next() * n), of: (list) => list[Math.floor(next() * list.length)] };
}

export const seedOf = (t) => {
  const seed = Number(process.env.PARLEY_CLUSTER_SEED ?? Date.now() % 2 ** 31);
  t.diagnostic(`PARLEY_CLUSTER_SEED=${seed}`);
  return randomOf(seed);
};

// Checks that a text reveals nothing about the database, its address or its queries.
export function tellsNothing(text) {
  for (const secret of ['postgres', 'parley-pg', 'SELECT', 'INSERT', 'UPDATE ', 'SQL', 'duplicate key', 'deadlock', 'libpq', 'server closed'])
    assert.ok(!text.includes(secret), text);
}

// A reader on one node. It reconnects to the same node, or to another while that node is down, and resumes from its
// position. Each event must be the next one; a snapshot may begin anew, but never goes back.
export class Reader {
  constructor(cluster, id, node, { content } = {}) {
    Object.assign(this, { cluster, id, node, content, view: new SessionView(), faults: [], epochs: [], snapshots: 0, events: 0, isOver: false });
    this.running = this.#run();
  }

  get where() { return this.view.position ?? { epoch: 0, sequence: -1 }; }

  #fault(what) { this.faults.push(`${this.id} on ${this.node.name}: ${what}`); }

  #take({ event, data }) {
    if (event === 'session:snapshot' && data.session_id === this.id) {
      const { epoch, sequence } = this.where;
      this.snapshots++;
      if (data.epoch < epoch || (data.epoch === epoch && data.sequence < sequence))
        this.#fault(`a snapshot of ${data.epoch}:${data.sequence} after ${epoch}:${sequence}`);
      this.view.apply({ event, data });
      return;
    }
    if (data?.session_id !== this.id || typeof data.sequence !== 'number') return;
    this.events++;
    if (this.view.apply({ event, data }) !== 'applied')
      this.#fault(`${event} ${data.sequence} after ${this.where.epoch}:${this.where.sequence}`);
  }

  async #listen(node) {
    const socket = new Socket(node, { key: this.cluster.key });
    this.socket = socket;
    try {
      await socket.opened;
      let at = 0;
      socket.ws.on('message', () => {
        for (; at < socket.frames.length; at++) if (socket.frames[at].event) this.#take(socket.frames[at]);
      });
      const since = this.view.position;
      socket.send({ id: 1, event: 'session:subscribe', data: { session_id: this.id, ...(since ? { since } : {}), ...(this.content ? { content: this.content } : {}) } });
      await Promise.race([socket.closed, new Promise((resolve) => socket.ws.on('message', () => {
        const ack = socket.frames.find((frame) => frame.ack === 1);
        if (ack && !ack.ok) resolve(this.refusal = ack);
      }))]);
    } catch {
      // The node is down, or accepts no sockets at present.
    } finally {
      socket.close();
    }
  }

  async #run() {
    while (!this.isOver) {
      await this.#listen(this.cluster.isThere(this.node) ? this.node : this.cluster.any() ?? this.node);
      if (!this.isOver) await sleep(20);
    }
  }

  async close() {
    this.isOver = true;
    this.socket?.close();
    await this.running;
  }
}

// Reads all stored messages.
export async function stored(node, id) {
  const turns = [];
  for (let query = '?limit=100'; ;) {
    const { status, json, headers, text } = await node.raw('GET', `/api/sessions/${id}/messages${query}`);
    if (status !== 200) {
      assert.ok([429, 503].includes(status), text);
      await sleep(50);
      continue;
    }
    turns.unshift(...json);
    if (headers['x-has-more'] !== 'true') return { turns, position: headers['x-stream-position'] };
    query = `?limit=100&before=${json[0].sequence}`;
  }
}

// Repeats a request until an answer is final. A temporary refusal or a broken connection leads to a repetition, at any
// node.
export async function insist(cluster, method, path, options, isDone = ({ status }) => status < 300, random) {
  for (let nTries = 0; ; nTries++) {
    const node = random ? random.of(cluster.there) : cluster.any();
    let answer = null;
    try {
      answer = node && await node.raw(method, path, options);
    } catch { /* connection broken */ }
    if (answer) {
      tellsNothing(answer.text);
      if (isDone(answer)) return answer;
      assert.ok([429, 503].includes(answer.status) || (answer.status === 409 && answer.json.retryable), `${method} ${path}: ${answer.status} ${answer.text}`);
    }
    if (cluster.isOver || nTries > 8000) throw new Error(`${method} ${path} is not done: ${answer?.status} ${answer?.text}`);
    await sleep(30);
  }
}

// Checks that every reader has the stored bytes and missed no event.
export async function checkReaders(cluster, readers) {
  for (const reader of readers) {
    const node = cluster.isThere(reader.node) ? reader.node : cluster.any();
    const { turns, position } = await stored(node, reader.id);
    const [epoch, sequence] = position.split(':').map(Number);
    await until(() => reader.where.epoch === epoch && reader.where.sequence >= sequence,
      () => `${reader.id} on ${reader.node.name} comes to ${position}, is at ${JSON.stringify(reader.where)}, ${JSON.stringify(reader.refusal)}`, 60_000);
    const seen = reader.view.ordered;
    assert.equal(JSON.stringify(seen), JSON.stringify(turns.slice(-seen.length)), `what ${reader.id} shows on ${reader.node.name}`);
    assert.ok(seen.length === turns.length || seen.length >= 50, 'the newest turns at least');
  }
  assert.deepEqual(readers.flatMap(({ faults }) => faults), []);
}

