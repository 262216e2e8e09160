// The types with which client and page are checked match this server.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { root } from '../e2e/harness.mjs';
import { start } from '../e2e/server.mjs';

const skip = !existsSync(join(root, 'web/node_modules/openapi-typescript')) && 'the packages of web/ are not installed';

test('clients/ts/src/schema.ts is what /openapi.json says', { skip }, async () => {
  const { file, typesOf } = await import('../../web/build/types.mjs');
  const server = await start({ login: false });
  const openapi = await (await fetch(new URL('/openapi.json', server.url))).json();
  const made = await typesOf(openapi);
  assert.ok(made.length > 10_000 && made.includes('PromptVersion'));
  assert.ok(made === readFileSync(file, 'utf8'), 'the types are stale: start a server, then run node web/build/types.mjs URL');
  // and the comparison notices an additional member
  openapi.components.schemas.Blob.properties.more = { type: 'string' };
  assert.notEqual(await typesOf(openapi), made);
  await server.stop();
});
