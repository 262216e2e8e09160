// The package of clients/ts as users get it: packed, installed into an empty project without a network, imported and
// type-checked there. The programs of its README run against a server.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { directory, missing, root } from './harness.mjs';
import { start } from './server.mjs';

const skip = missing('npm');
const source = join(root, 'clients/ts');
const project = join(directory, 'project');
const env = { PATH: process.env.PATH, HOME: directory, npm_config_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false', npm_config_update_notifier: 'false' };
let packed;
before(() => {
  if (skip) return;
  // `make page` has compiled it; npm's own script would compile again.
  [packed] = JSON.parse(execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', directory], { cwd: source, env, encoding: 'utf8' }));
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'empty', private: true, type: 'module' }));
  execFileSync('npm', ['install', '--no-save', join(directory, packed.filename)], { cwd: project, env, stdio: 'pipe' });
});

test('the package has what it needs and no more', { skip }, () => {
  const names = packed.files.map(({ path }) => path);
  for (const name of ['README.md', 'package.json', 'dist/index.js', 'dist/index.d.ts', 'dist/live.js', 'src/index.ts']) assert.ok(names.includes(name), name);
  assert.deepEqual(names.filter((name) => !/^(README\.md|package\.json|dist\/[a-z]+\.(js|d\.ts)|src\/[a-z]+\.ts)$/.test(name)), []);
  const { dependencies, version } = JSON.parse(readFileSync(join(project, 'node_modules/@parley/client/package.json'), 'utf8'));
  assert.equal(dependencies, undefined);
  assert.match(readFileSync(join(root, 'meson.build'), 'utf8'), new RegExp(`version: '${version}'`), 'the version of the program');
});

// The code of the README as one program: its blocks in order, with the server of the test.
function readmeProgram(server) {
  const blocks = [...readFileSync(join(source, 'README.md'), 'utf8').matchAll(/^```js\n([^]*?)^```$/gm)].map(([, text]) => text);
  assert.ok(blocks.length >= 5);
  return blocks.join('\n').replace('http://127.0.0.1:8787', server.url).replace('sk-parley-v1-…', server.key)
    .replace('new Parley({', `new Parley({ WebSocket: globalThis.SocketOfTest,`);
}

test('an empty project imports it, and the README works', { skip }, async () => {
  const server = await start();
  const ws = createRequire(join(root, 'tests/sdk/package.json')).resolve('ws');
  writeFileSync(join(project, 'main.mjs'), `import { createRequire } from 'node:module';
globalThis.SocketOfTest = createRequire(import.meta.url)(${JSON.stringify(ws)});
const { default: undefinedDefault, ...all } = await import('@parley/client');
if (!all.Live || !all.SessionView || !all.applyPatch || undefinedDefault) throw new Error('exports');
${readmeProgram(server)}
while (view.session.status !== 'completed') await new Promise((resolve) => setTimeout(resolve, 5));
live.close();
`);
  const { status, stdout, stderr } = spawnSync('node', ['main.mjs'], { cwd: project, env, encoding: 'utf8' });
  assert.deepEqual([status, stderr], [0, '']);
  assert.match(stdout, /hello world/);
  assert.match(stdout, /turn:end/);
  await server.stop();
});

test('its types check in a strict project, as a bundler and as Node read them', { skip }, () => {
  writeFileSync(join(project, 'main.ts'), `import { Parley, ProblemError, SessionView, type Schemas, type Session, type Turn } from '@parley/client';
const parley = new Parley({ url: 'http://localhost', key: 'k' });
const session: Session = await parley.createSession({ intent: 'x' });
for await (const { event, data } of parley.stream(session.id, { message: 'hello' })) console.log(event, data);
const turns: Turn[] = (await parley.messages(session.id)).turns;
const problem: Schemas['Problem'] | undefined = new ProblemError({ type: '', title: '', status: 400, code: 'x', retryable: false }).problem as Schemas['Problem'];
// @ts-expect-error: there is no such mode
await parley.chat(session.id, { message: 'x', mode: 'dreaming' });
console.log(turns, problem, new SessionView().ordered);
`);
  const tsc = join(root, 'web/node_modules/.bin/tsc');
  for (const [module, resolution] of [['ES2022', 'Bundler'], ['NodeNext', 'NodeNext']]) {
    const { status, stdout } = spawnSync(tsc, ['--noEmit', '--strict', '--target', 'ES2022', '--module', module, '--moduleResolution', resolution,
      '--lib', 'ES2022,DOM,DOM.Iterable', 'main.ts'], { cwd: project, env, encoding: 'utf8' });
    assert.deepEqual([status, stdout], [0, ''], module);
  }
});
