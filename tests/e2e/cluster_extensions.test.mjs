// A change to extensions on one node reaches the others: they fetch the files, and stop extensions that were disabled, changed or removed.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { cluster, skip } from './cluster.mjs';
import { hasNats, natsDoes } from './cluster_watch.mjs';
import { called, calls, extend, hashOf, play, rested, tool } from './extending.mjs';
import { until } from './waiting.mjs';

// Counts its calls, so that the count identifies an instance.
const counting = (word) => `
n = [0]
def on(f):
    if f["type"] != "tool_call": return
    n[0] += 1
    result(f, {"n": n[0], "word": "${word}"})
`;
const script = (name) => `call ${name} {}\n---\nsay done`;
const one = async (node, name) => (await called(node, script(name)))[0];
const shown = async (node, id) => (await node.ask('GET', `/api/extensions/${id}`)).json;
const copies = (node, id) => join(node.data, 'extensions', id);
const change = async (node, id, body) => {
  const { status, text } = await node.ask('PATCH', `/api/extensions/${id}`, { body });
  assert.equal(status, 200, text);
};
const everywhere = async (made, is, what) => {
  for (const node of made.nodes) await until(() => is(node), `${node.name}: ${what}`);
};
const installed = (made, id) => everywhere(made, async (node) => (await shown(node, id)).is_installed === true, `it has ${id}`);
const stopped = (made, id) => everywhere(made, async (node) => !(await shown(node, id)).is_running, `${id} does not run`);

async function live(made) {
  const [a, b, c] = made.nodes;
  const ext = await extend(a, 'counts', { tools: [tool('counts')], code: counting('first') });
  await installed(made, 'counts');
  for (const node of made.nodes) {
    assert.deepEqual((await one(node, 'counts')).result, { n: 1, word: 'first' });
    assert.deepEqual((await one(node, 'counts')).result, { n: 2, word: 'first' }, 'it runs on');
  }
  // Restarted on one node: a new instance on all.
  assert.equal((await c.ask('POST', '/api/extensions/counts/restart')).status, 200);
  await everywhere(made, async (node) => (await one(node, 'counts')).result.n === 1, 'it began anew');
  // Disabled on one node: stopped on all, and no longer offered.
  await change(b, 'counts', { state: 'disabled' });
  await stopped(made, 'counts');
  for (const node of made.nodes) assert.match(JSON.stringify((await one(node, 'counts')).result), /UnknownTool/);
  await change(c, 'counts', { state: 'enabled' });
  await everywhere(made, async (node) => (await one(node, 'counts')).result.word === 'first', 'it is back');
  // Another version.
  await extend(b, 'counts', { tools: [tool('counts')], code: counting('second'), update: true });
  await everywhere(made, async (node) => (await one(node, 'counts')).result.word === 'second', 'it is the new one');
  await ext.remove();
  await everywhere(made, async (node) => (await node.ask('GET', '/api/user/extensions')).json.items.length === 0, 'it is gone');
  for (const node of made.nodes) assert.match(JSON.stringify((await one(node, 'counts')).result), /UnknownTool/);
  await everywhere(made, (node) => !existsSync(copies(node, 'counts')), 'its files are gone');
}

test('an extension that is added, restarted, disabled, changed or removed on one node is so on all', { skip }, async (t) => {
  const made = await cluster(t, 3);
  await live(made);
  if (!hasNats) return;
  natsDoes('--kill');
  t.after(() => natsDoes('--start'));
  for (const node of made.nodes) await node.logged('letters go by the database');
  await live(made);
});

test('an extension that was disabled stops also where every letter about it is lost', { skip }, async (t) => {
  const made = await cluster(t, 2);
  await extend(made.nodes[0], 'counts', { tools: [tool('counts')], code: counting('first') });
  await installed(made, 'counts');
  for (const node of made.nodes) assert.equal((await one(node, 'counts')).result.n, 1);
  // No node is notified: the row changes directly, as if another program changed it.
  made.sql("UPDATE extensions SET state = 'disabled' WHERE id = 'counts'; UPDATE counters SET number = number + 1 WHERE name = 'ext_version'");
  await stopped(made, 'counts');
});

test('a user for whom it crashed too often on one node is kept from it on all', { skip }, async (t) => {
  const made = await cluster(t, 2);
  const [a, b] = made.nodes;
  await extend(a, 'crashes', { tools: [tool('crashes')], code: 'def on(f):\n    if f["type"] == "tool_call": os._exit(3)' });
  await installed(made, 'crashes');
  await until(async () => {
    await one(a, 'crashes');
    return (await shown(a, 'crashes')).state === 'quarantined';
  }, 'it is quarantined');
  await until(async () => (await shown(b, 'crashes')).state === 'quarantined', 'it is quarantined there');
  assert.match(JSON.stringify((await one(b, 'crashes')).result), /quarantined|UnknownTool/);
  assert.equal((await b.ask('POST', '/api/extensions/crashes/restart')).json.state, 'enabled');
  await until(async () => (await shown(a, 'crashes')).state === 'enabled', 'it is let go there');
});

test('an answer for ever that is taken back on one node is asked for again on all', { skip }, async (t) => {
  const made = await cluster(t, 2);
  const [a, b] = made.nodes;
  await extend(a, 'asks', {
    tools: [tool('asks')], profile: 'balanced', capabilities: [{ capability: 'exec' }, { capability: 'log' }],
    code: 'def on(f):\n    if f["type"] == "tool_call": call("exec", "exec", {"cmd": "true", "args": []}, lambda p: result(f, {"said": p.get("error", {}).get("details", {}).get("reason", "ran")}))',
  });
  await installed(made, 'asks');
  const asked = async (node) => {
    const id = await play(node, script('asks'));
    const question = await until(async () => (await node.ask('GET', `/api/sessions/${id}/questions`)).json.items[0], 'a question');
    const said = await node.ask('POST', `/api/sessions/${id}/questions/${question.tool_call_id}/answer`, { body: { answer: { approve: true, remember: 'always' } } });
    assert.ok(said.status < 300, said.text);
    await rested(node, id);
  };
  await asked(b);
  assert.equal((await one(b, 'asks')).status, 'done', 'it is asked once');
  await change(a, 'asks', { forget_answers: true });
  await stopped(made, 'asks');
  await asked(b);
});

test('files of every kind come as they are: empty, large, executable, in directories', { skip }, async (t) => {
  const made = await cluster(t, 2);
  const [a, b] = made.nodes;
  const manifest = {
    schema: 'pi.ext.manifest.v1', extension_id: 'large', name: 'large', version: '1.0.0', api_version: '1.0', runtime: 'process', entrypoint: 'bin/run',
    capability_manifest: { schema: 'pi.ext.cap.v1', capabilities: [{ capability: 'log' }] },
  };
  const bytes = Buffer.alloc(3 * 1024 * 1024 + 7, 'large\0');
  const files = [
    { path: 'extension.json', content: JSON.stringify(manifest) }, { path: 'bin/run', content: '#!/bin/sh\n', executable: true },
    { path: 'empty', content: '' }, { path: 'data/large', content_base64: bytes.toString('base64') },
    ...Array.from({ length: 1200 }, (_, i) => ({ path: `many/${i}`, content: `${i}` })),
  ];
  const added = await a.ask('POST', '/api/extensions', { body: { files, accepts: hashOf(manifest) } });
  assert.equal(added.status, 201, added.text);
  await installed(made, 'large');
  assert.deepEqual(readdirSync(copies(b, 'large')), readdirSync(copies(a, 'large')), 'the hash is the name');
});

test('a node without the files says so, without a path, and has them when they are added again', { skip }, async (t) => {
  const made = await cluster(t, 1);
  const [a] = made.nodes;
  const add = (more) => extend(a, 'counts', { tools: [tool('counts')], code: counting('first'), ...more });
  await add();
  assert.equal((await one(a, 'counts')).result.n, 1);
  // As if an older program had added the extension without storing its package, and the copy had been lost with its machine.
  made.sql('DELETE FROM extension_packages');
  rmSync(copies(a, 'counts'), { recursive: true, force: true });
  const b = await made.add('b');
  const seen = await shown(b, 'counts');
  assert.equal(seen.is_installed, false);
  assert.match(seen.last_error, /not installed on this node/);
  const mine = (await b.ask('GET', '/api/user/extensions')).json.items[0];
  assert.deepEqual([mine.is_installed, mine.state], [false, 'enabled']);
  const { status, result } = await one(b, 'counts');
  assert.equal(status, 'error', JSON.stringify(result));
  assert.match(result.message, /The extension counts does not run: it is not installed on this node/);
  for (const text of [JSON.stringify(result), JSON.stringify(seen), JSON.stringify(mine)]) assert.ok(!text.includes(b.data) && !text.includes('/extensions/'), text);
  for (let i = 0; i < 6; i++) await one(b, 'counts');
  assert.equal((await shown(b, 'counts')).state, 'enabled', 'that is no crash');
  await add({ update: true });
  await installed(made, 'counts');
  assert.equal((await one(b, 'counts')).result.word, 'first');
});

test('files that only one node has are shared when it starts', { skip }, async (t) => {
  const made = await cluster(t, 2);
  const [a, b] = made.nodes;
  await extend(a, 'counts', { tools: [tool('counts')], code: counting('first') });
  await installed(made, 'counts');
  await made.kill(b);
  await made.kill(a);
  made.sql('DELETE FROM extension_packages');
  const fresh = await made.again(b, {});
  assert.equal((await shown(fresh, 'counts')).is_installed, false);
  await made.again(a);
  await installed(made, 'counts');
  assert.equal((await one(fresh, 'counts')).result.n, 1);
});
