// The pages for authors of clients: they show every event in the code with a current frame, and their example clients
// work, also when the connection breaks.
//
// PARLEY_RECORD=1 writes the frames into the pages again.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import test, { before } from 'node:test';
import { missing, root } from './harness.mjs';
import { difference, lines, plain, record } from './recording.mjs';
import { clientOf, script, serve } from './live.mjs';

const events = join(root, 'docs/reference/events.md');
const protocol = join(root, 'docs/reference/protocol.md');
const source = (...path) => readFileSync(join(root, 'src', ...path), 'utf8');
const block = /^```json ([^\n]+)\n([^]*?)```$/gm;

let frames;
before(async () => {
  frames = plain(await record());
  if (!process.env.PARLEY_RECORD) return;
  for (const page of [events, protocol])
    writeFileSync(page, readFileSync(page, 'utf8').replace(block, (all, name) => `\`\`\`json ${name}\n${lines(frames.get(name) ?? 'not recorded')}\n\`\`\``));
});

test('each frame of the pages has the members of a recorded one', () => {
  let n = 0;
  for (const page of [events, protocol])
    for (const [, name, text] of readFileSync(page, 'utf8').matchAll(block)) {
      assert.ok(frames.has(name), `${name} was not recorded`);
      assert.equal(difference(JSON.parse(text), frames.get(name)), '', `${name}: write the pages again with PARLEY_RECORD=1`);
      n++;
    }
  assert.ok(n >= 40, `${n} frames`);
});

// All C files below a folder.
function sourcesOf(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => entry.isDirectory()
    ? sourcesOf(join(folder, entry.name)) : entry.name.endsWith('.c') ? [readFileSync(join(root, folder, entry.name), 'utf8')] : []);
}

const headings = () => readFileSync(events, 'utf8').match(/^### .*$/gm).map((line) => line.slice(4));

test('every event that the code sends is in the page, and no other', () => {
  const sessions = [...source('core/session/session.h').match(/#define PL_FRAME_TABLE[^]*?\n\n/)[0].matchAll(/"([a-z:]+)"/g)].map(([, name]) => name);
  assert.ok(sessions.length >= 10);
  const host = sourcesOf('src/host').join('\n');
  const told = [...host.matchAll(/(?:\.tells = |pl_socket_say\([&\w>-]+, |pl_encode_event\([^;]*?|pl_hub_tell_user\([^;]*?|pl_lists_tell\([^;]*?)"([a-z:_]+)"/g)].map(([, name]) => name);
  assert.ok(told.includes('prompt:updated') && told.includes('session:snapshot') && told.includes('tool:progress'));
  const drafts = [...host.matchAll(/"(?:event: )?(run:[a-z]+)(?:\\n|")/g)].map(([, name]) => name);
  const all = new Set([...sessions, ...told, ...drafts]);
  const page = readFileSync(events, 'utf8');
  const shown = new Set([...page.matchAll(/^### ([a-z:_]+:[a-z:_]+|pong)$|`([a-z]+:[a-z_:]+)`/gm)].map(([, head, word]) => head ?? word));
  const sent = clientEvents();
  assert.deepEqual([...all].filter((name) => !shown.has(name)), [], 'not in docs/reference/events.md');
  assert.deepEqual([...shown].filter((name) => !all.has(name) && !sent.includes(name)), [], 'in docs/reference/events.md, but not in the code');
  for (const name of sessions) assert.ok(headings().includes(name), `${name} has no section`);
});

function clientEvents() {
  const tables = [source('host/live/socket/socket_messages.c').match(/own_events\[\] = \{[^]*?\n\};/)[0],
    source('host/service/sessions/socket_commands.c').match(/pl_session_socket_events\[\] = \{[^]*?\n\};/)[0]];
  return tables.flatMap((text) => [...text.matchAll(/\{"([a-z:]+)"/g)].map(([, name]) => name));
}

test('every frame that a client may send is in the page', () => {
  const sent = clientEvents();
  assert.ok(sent.length >= 10);
  for (const name of sent) {
    assert.ok(headings().includes(name), `${name} has no section`);
    assert.ok(readFileSync(events, 'utf8').includes(`\`\`\`json > ${name}\n`), `${name} has no example`);
  }
});

test('every kind of patch and every close code is in the pages', () => {
  const kinds = new Set(sourcesOf('src/core/session').join('\n').match(/"(add_content|add_tool_call|tool_result|set_tool_status|set_status)"/g).map((text) => text.slice(1, -1)));
  assert.equal(kinds.size, 5);
  for (const kind of kinds) assert.ok(headings().includes(kind), kind);
  const codes = [...source('core/wire/websocket.h').match(/#define PL_WS_CLOSE_TABLE[^]*?\n\n/)[0].matchAll(/(\d{4})\)/g)].map(([, code]) => code);
  const table = readFileSync(protocol, 'utf8').match(/\| close code[^]*?\n\n/)[0];
  assert.ok(codes.length >= 14);
  for (const code of codes) assert.ok(table.includes(code), `close code ${code}`);
});

test('the page of demo scripts has every verb', () => {
  const verbs = [...source('host/model/builtin/demo_script.c').match(/verbs\[\] = \{[^]*?\n\};/)[0].matchAll(/\{"([a-z]+)", SHAPE_([A-Z_]+)/g)];
  assert.ok(verbs.length >= 13);
  const page = readFileSync(join(root, 'docs/reference/demo-scripts.md'), 'utf8');
  for (const [, verb, kind] of verbs) assert.match(page, new RegExp(`^\\| \`${verb}${kind === 'NONE' ? '`' : ' '}`, 'm'), verb);
});

// A proxy between a client and the server; closes the first connection after n bytes from the server.
async function cutting(port, bytes) {
  let nth = 0;
  const proxy = net.createServer((near) => {
    const far = net.connect(port, '127.0.0.1');
    let left = nth++ ? Infinity : bytes;
    near.pipe(far);
    far.on('data', (piece) => {
      near.write(piece.subarray(0, Math.min(left, piece.length)));
      if ((left -= piece.length) <= 0) { near.destroy(); far.destroy(); }
    });
    for (const [one, other] of [[near, far], [far, near]]) one.on('error', () => other.destroy()).on('close', () => other.destroy());
  });
  await new Promise((resolve) => { proxy.listen(0, '127.0.0.1', resolve); });
  return { url: `http://localhost:${proxy.address().port}`, connections: () => nth, close: () => proxy.close() };
}

const run = (program, args, key) => new Promise((resolve) => {
  const child = spawn(program, args, { env: { PATH: process.env.PATH, PARLEY_KEY: key } });
  let out = '', err = '';
  child.stdout.setEncoding('utf8').on('data', (text) => { out += text; });
  child.stderr.setEncoding('utf8').on('data', (text) => { err += text; });
  child.on('close', (code) => resolve({ code, out, err }));
});

for (const [program, file] of [['node', 'follow.mjs'], ['python3', 'follow.py']]) {
  test(`${file} says something and prints the answer, whole also when it is cut`, { skip: missing(program) }, async () => {
    const server = await serve({ args: ['--allow-host', 'localhost'] });
    const client = clientOf(server);
    const example = join(root, 'docs/reference/examples', file);
    const words = Array.from({ length: 60 }, (_, i) => `wörd${i} `);
    const message = script(...words.map((word) => `say ${word}\nwait 5`));
    for (const bytes of [Infinity, 3000, 9000]) {
      const { id } = await client.createSession();
      const proxy = await cutting(server.port, bytes);
      const { code, out, err } = await run(program, [example, proxy.url, id, message], server.key);
      assert.deepEqual([code, out, err], [0, `${words.join('')}\n`, ''], `cut after ${bytes} bytes`);
      assert.equal(proxy.connections(), bytes === Infinity ? 1 : 2);
      assert.equal((await client.messages(id)).turns.length, 2, 'it was said once');
      proxy.close();
    }
    const { id } = await client.createSession();
    assert.equal((await run(program, [example, server.url, id, script('fail no')], server.key)).code, 1);
    assert.match((await run(program, [example, server.url, 'sess_none', 'x'], server.key)).err, /no such thing/);
    await server.stop();
  });
}
