// The shipped proxies in front of three real nodes: after a node is killed, requests, event streams and sockets continue.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { cluster, skip } from './cluster.mjs';
import { missing, root } from './harness.mjs';
import { clientOf, closing, sameAsServer, settled, SessionView, textOf, until } from './live.mjs';

const PROXIES = {
  nginx: { config: 'nginx.conf', listen: 'listen 8080', command: (path) => ['nginx', '-c', path, '-g', 'daemon off;'], check: (path) => ['nginx', '-t', '-c', path] },
  haproxy: { config: 'haproxy.cfg', listen: 'bind :8080', command: (path) => ['haproxy', '-db', '-f', path], check: (path) => ['haproxy', '-c', '-f', path] },
};

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.on('listening', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

// The shipped file with changed addresses of nodes, port, and paths of its own files.
function shipped(proxy, nodes, port, dir) {
  let text = readFileSync(join(root, 'deploy', proxy.config), 'utf8');
  nodes.forEach((node, i) => {
    const name = new RegExp(`\\bnode${i + 1}:8787\\b`, 'g');
    assert.equal(text.match(name).length, 1);
    text = text.replace(name, new URL(node.url).host);
  });
  assert.ok(text.includes(proxy.listen));
  return text.replace(proxy.listen, proxy.listen.replace(/:?8080/, `127.0.0.1:${port}`)).replaceAll('/tmp/', `${dir}/`);
}

async function start(t, proxy, nodes) {
  const dir = mkdtempSync(join(tmpdir(), 'parley-proxy-'));
  chmodSync(dir, 0o755);
  const port = await freePort(), path = join(dir, proxy.config);
  writeFileSync(path, shipped(proxy, nodes, port, dir));
  const checked = spawnSync(proxy.check(path)[0], proxy.check(path).slice(1), { encoding: 'utf8' });
  assert.equal(checked.status, 0, checked.stderr);
  const [program, ...args] = proxy.command(path);
  const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  t.after(async () => {
    const ended = new Promise((resolve) => child.on('exit', resolve));
    child.kill('SIGTERM');
    await ended;
    rmSync(dir, { recursive: true, force: true });
  });
  const url = `http://127.0.0.1:${port}`;
  await until(() => child.exitCode !== null || fetch(`${url}/readyz`).then((answer) => answer.status === 200, () => false), 'the proxy answers');
  assert.equal(child.exitCode, null);
  return url;
}

// An event stream that resumes at its position whenever it ends, as EventSource does.
function follow(t, url, key, id) {
  const view = new SessionView();
  let isOver = false, at, request;
  view.n_begun = 0;
  const connect = () => {
    if (isOver) return;
    request = http.get(`${url}/api/sessions/${id}/events`, { headers: { authorization: `Bearer ${key}`, ...(at && { 'last-event-id': at }) } }, (response) => {
      let text = '';
      if (response.statusCode === 200) view.n_begun++;
      response.setEncoding('utf8');
      response.on('data', (piece) => {
        text += piece;
        for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
          const fields = Object.fromEntries(text.slice(0, end).split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]));
          if (response.statusCode !== 200 || !fields.event) continue;
          if (fields.id) at = fields.id;
          view.apply({ event: fields.event, data: JSON.parse(fields.data) });
        }
      });
      response.on('error', () => {});
      response.on('close', () => setTimeout(connect, 20));
    });
    request.on('error', () => { if (!request.res) setTimeout(connect, 20); });
  };
  connect();
  t.after(() => { isOver = true; request.destroy(); });
  return view;
}

const words = (n) => Array.from({ length: n }, (_, i) => `w${i}`).join(' ');

for (const [name, proxy] of Object.entries(PROXIES)) {
  test(`behind ${name} a killed node is not missed`, { skip: skip || missing(name) }, async (t) => {
    const { nodes, key } = await cluster(t, 3, { args: ['--behind-proxy', '--allow-host', '127.0.0.1', '--allow-host', 'localhost'] });
    const url = await start(t, proxy, nodes);
    const client = clientOf({ url, key, raw: (...args) => nodes[0].raw(...args) });
    // The client repeats failed requests; client_message_id makes that safe.
    const say = (id, message, mark) => until(async () => {
      try {
        return await client.chat(id, { message, client_message_id: mark });
      } catch (error) {
        assert.ok(!error.problem || error.problem.status >= 500 || error.problem.retryable, String(error));
        return undefined;
      }
    }, `${mark} is accepted`);
    const ids = [], sockets = [], streams = [];
    for (let i = 0; i < 9; i++) {
      const { id } = await client.createSession({ model: 'demo/slow' });
      ids.push(id);
      sockets.push(await closing(t, client.live({ retryMs: 5 })).subscribe(id));
      streams.push(follow(t, url, key, id));
      await say(id, words(40), `first-${i}`);
    }
    await until(() => [...sockets, ...streams].every((view) => view.position?.sequence > 3), 'all of them hear');
    // nginx distributes by a hash of the session, so each node almost certainly has some of the nine; the killed node had readers.
    const begun = streams.map((view) => view.n_begun);
    await nodes[1].stop('SIGKILL');
    for (const [i, id] of ids.entries()) await say(id, `after ${i}`, `second-${i}`);
    for (const [i, id] of ids.entries()) {
      await until(async () => {
        const { turns } = await client.messages(id).catch(() => ({ turns: [] }));
        return turns.some((turn) => turn.role === 'assistant' && textOf(turn) === `after ${i}`);
      }, `session ${i} answers`);
      await settled(nodes[0].client, id);
      for (const view of [sockets[i], streams[i]]) await sameAsServer(nodes[2].client, id, view);
      // The message is stored once, however often it was sent.
      const { turns } = await nodes[0].client.messages(id);
      assert.deepEqual(turns.filter((turn) => turn.role === 'user').map(textOf), [words(40), `after ${i}`]);
    }
    assert.ok(streams.some((view, i) => view.n_begun > begun[i]), 'no reader was on the node that was killed');
  });
}
