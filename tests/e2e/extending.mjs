// Extensions for tests, written without any SDK: a few lines of Python that read and write frames. The extension's
// behaviour is a Python function `on(frame)`, which may use send(type, payload, id), call(method, capability, params) and
// the list `frames` of all received frames. It writes every received frame to standard error, in hexadecimal pieces, so
// that the test can read them in the extension's log: the sandbox allows no other output.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { run } from './harness.mjs';
import { until } from './waiting.mjs';

const head = `
import json, sys, os, time, threading
frames, waiting, seq = [], {}, [0]
lock = threading.Lock()
def write(text):
    with lock:
        sys.stdout.write(text + "\\n"); sys.stdout.flush()
def send(type, payload, id=None):
    seq[0] += 1
    id = id or "x%d" % seq[0]
    write(json.dumps({"id": id, "version": "1.0", "type": type, "payload": payload}))
    return id
def call(method, capability, params, then=None, **more):
    seq[0] += 1
    cid = more.pop("call_id", "c%d" % seq[0])
    waiting[cid] = then
    send("host_call", dict({"call_id": cid, "capability": capability, "method": method, "params": params}, **more))
    return cid
def result(frame, output, is_error=False):
    send("tool_result", {"call_id": frame["payload"]["call_id"], "output": output, "is_error": is_error}, frame["id"])
def answer(frame, data):
    send("event_hook", {"event": frame["payload"]["event"], "data": data}, frame["id"])
def hear(frame):
    frames.append(frame)
    p = frame["payload"]
    if frame["type"] == "host_result" and waiting.get(p["call_id"]):
        waiting[p["call_id"]](p)
    else:
        on(frame)
def main(register):
    if register: send("register", register, "r1")
    for line in sys.stdin:
        text = line.encode().hex()
        n = len(frames)
        pieces = [text[i:i + 2000] for i in range(0, len(text), 2000)]
        for i, piece in enumerate(pieces):
            sys.stderr.write("F %d %d %d %s\\n" % (n, i, len(pieces), "-".join(piece[k:k + 6] for k in range(0, len(piece), 6))))
        sys.stderr.flush()
        hear(json.loads(line))
`;

export const hashOf = (json) => createHash('sha256').update(run(['json', '--canonical', '-'], { input: JSON.stringify(json) }).out.trimEnd()).digest('hex');
const all = ['read', 'write', 'http', 'events', 'session', 'ui', 'exec', 'env', 'tool', 'log'].map((capability) => ({ capability }));
export const tool = (name, more = {}) => ({ name, description: `The tool ${name}`, parameters: { type: 'object' }, ...more });

// Adds an extension; `code` is the Python of on(frame) and other definitions; `register` is its registration, or null.
export async function extend(server, id, { code = '', tools = [], hooks = [], commands = [], capabilities = all, register = {}, raw, ...body } = {}) {
  const manifest = {
    schema: 'pi.ext.manifest.v1', extension_id: id, name: id, version: '1.0.0', api_version: '1.0', runtime: 'python', entrypoint: 'main.py',
    capability_manifest: { schema: 'pi.ext.cap.v1', capabilities },
  };
  const payload = register && {
    name: id, version: '1.0.0', api_version: '1.0', capability_manifest: manifest.capability_manifest, tools, event_hooks: hooks, slash_commands: commands, ...register,
  };
  const main = raw ?? `${head}\ndef on(frame):\n    pass\n${code}\nmain(json.loads(${JSON.stringify(JSON.stringify(payload))}))\n`;
  const answer = await server.ask('POST', '/api/extensions', {
    body: { files: [{ path: 'extension.json', content: JSON.stringify(manifest) }, { path: 'main.py', content: main }], accepts: hashOf(manifest), profile: 'permissive', ...body },
  });
  assert.equal(answer.status, 201, answer.text);
  const log = async () => (await server.ask('GET', `/api/extensions/${id}/log`)).json.items;
  // Frames by instance and number, without those that are still incomplete.
  const read = async () => {
    const found = new Map();
    for (const { message, correlation, event } of await log()) {
      const piece = event === 'extension.stderr' && message.match(/^F (\d+) (\d+) (\d+) ([0-9a-f-]+)$/);
      if (!piece) continue;
      const key = `${correlation.scenario_id} ${piece[1]}`;
      if (!found.has(key)) found.set(key, { n: Number(piece[3]), pieces: [] });
      found.get(key).pieces[Number(piece[2])] = piece[4].replaceAll('-', '');
    }
    return [...found.values()].filter(({ n, pieces }) => pieces.filter(Boolean).length === n).map(({ pieces }) => JSON.parse(Buffer.from(pieces.join(''), 'hex').toString('utf8')));
  };
  return {
    id,
    frames: read,
    // Waits for a frame that the extension received.
    async sent(is, what = 'a frame') {
      let found, seen;
      await until(async () => { seen = await read(); found = seen.find(is); return found; }, () => `the extension was never sent ${what}: ${JSON.stringify(seen).slice(-1500)}`);
      return found;
    },
    // Checks every received frame with the seed's schema.
    async prove() {
      const frames = await read();
      assert.ok(frames.length, 'it was sent nothing');
      for (const frame of frames) {
        const { code, out, err } = run(['validate', '--as', 'pi', '-'], { input: JSON.stringify(frame) });
        assert.equal(code, 0, `${out}${err}\n${JSON.stringify(frame).slice(0, 500)}`);
      }
    },
    log,
    remove: () => server.ask('DELETE', `/api/extensions/${id}`),
  };
}

// Sends a script to a new session of demo/agent, and waits until the session is idle.
export async function play(server, script, { user, ...more } = {}) {
  const session = await server.ask('POST', '/api/sessions', { body: { model: 'demo/agent', ...more } });
  assert.equal(session.status, 201, session.text);
  const id = session.json.id;
  const said = await server.ask('POST', `/api/sessions/${id}/chat`, { body: { message: `#!demo\n${script}` } });
  assert.equal(said.status, 202, said.text);
  return id;
}

export async function rested(server, id) {
  let session;
  await until(async () => {
    session = (await server.ask('GET', `/api/sessions/${id}`)).json;
    return ['completed', 'failed', 'interrupted'].includes(session.status);
  }, () => `the session is still ${session?.status}`);
  return session;
}

// The calls of all turns.
export async function calls(server, id) {
  const { json } = await server.ask('GET', `/api/sessions/${id}/messages`);
  return json.flatMap((turn) => turn.tool_calls ?? []);
}

export async function called(server, script, more) {
  const id = await play(server, script, more);
  await rested(server, id);
  return calls(server, id);
}
