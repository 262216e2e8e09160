// The client of clients/python against a real server; client_python.py has the cases.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { missing, root } from './harness.mjs';
import { endsWell, serve } from './live.mjs';

const skip = missing('python3');
const cases = join(root, 'tests/e2e/client_python.py');
const env = { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1', LC_ALL: 'C.UTF-8' };
let server;
before(async () => { server = await serve(); });

const run = (args, more = {}) => new Promise((resolve) => {
  const child = spawn('python3', args, { env: { ...env, ...more } });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => { said += text; });
  child.on('close', (code) => resolve({ code, said }));
});

for (const name of skip ? [] : spawnSync('python3', [cases, '--list'], { encoding: 'utf8', env }).stdout.split('\n').filter(Boolean))
  test(`python: ${name.replaceAll('_', ' ')}`, async () => {
    assert.deepEqual(await run([cases, name], { PARLEY_URL: server.url, PARLEY_KEY: server.key }), { code: 0, said: '' });
  });

test('the python client has every function of the other one', { skip }, () => {
  const text = readFileSync(join(root, 'clients/python/parley.py'), 'utf8');
  const own = new Set([...text.matchAll(/^ {4}def ([a-z]\w*)|^ {4}(\w+) = /gm)].map(([, name]) => name));
  const renamed = { import: 'import_files' };
  const names = ['index.ts', 'library.ts', 'live.ts', 'view.ts'].flatMap((file) => [
    ...readFileSync(join(root, 'clients/ts/src', file), 'utf8').matchAll(/^ {2}(?:async )?(?:get )?\*?([a-z]\w*)(?:<[^>]*>)?\(/gm)].map(([, name]) => name))
    .filter((name) => !['constructor', 'counts', 'if', 'switch'].includes(name));
  assert.ok(names.length > 50, `${names.length} functions`);
  for (const name of names) {
    const spelled = renamed[name] ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    assert.ok(own.has(spelled), `${spelled} is missing`);
  }
});

test('it needs nothing but the standard library, and Python 3.9', { skip }, async () => {
  const check = `import ast, sys
tree = ast.parse(open(sys.argv[1]).read(), feature_version=(3, 9))
names = {a.name.split('.')[0] for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
assert not [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
assert names <= set(sys.stdlib_module_names), names`;
  assert.deepEqual(await run(['-c', check, join(root, 'clients/python/parley.py')]), { code: 0, said: '' });
});

test('the server ends in good order', () => endsWell(server));
