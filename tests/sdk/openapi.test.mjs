// An independent generator reads /openapi.json: openapi-typescript makes types of it, TypeScript compiles them strictly,
// and code written with them has the right types.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { start } from '../e2e/server.mjs';

const here = createRequire(import.meta.url);
const isThere = existsSync(new URL('./node_modules/openapi-typescript', import.meta.url));

// Each line must compile; @ts-expect-error marks lines that must not.
const client = `
import type { components, operations, paths } from './api.js';
type Schemas = components['schemas'];
const lint: Schemas['LintRequest'] = { document: {}, for: 'anthropic' };
// @ts-expect-error a member that is not there
const wrong: Schemas['LintRequest'] = { document: {}, form: 'anthropic' };
const finding = (linted: Schemas['Linted']): string | undefined => linted.findings[0]?.fix?.[0]?.pointer;
const kinds: Schemas['DeletedList']['items'][number]['kind'][] = ['session', 'prompt', 'task', 'memory'];
const settings: Schemas['PageSettings'] = { theme: 'dark', single_keys: true };
// @ts-expect-error no such theme
const pink: Schemas['PageSettings'] = { theme: 'pink' };
const plan = (status: Schemas['turns.PlanStatus']): string | undefined => status.steps?.[0]?.status;
const mode = (change: Schemas['turns.ModeChange']): string | undefined => change.from ?? change.to;
const given = (answer: Schemas['turns.GivenAnswer']): unknown => answer.answer ?? answer.answers;
const content = (block: Schemas['turns.Block']): unknown => block.content;
const risk = (question: Schemas['AskedQuestion']): 'low' | 'medium' | 'high' | undefined => question.risk;
type Body = NonNullable<paths['/api/convert']['post']['requestBody']>['content']['application/json'];
const body: Body = { document: 'x', to: 'claude', append: true, map: true };
type Got = operations['session_get']['responses'][200]['content']['application/json'];
const status = (session: Got): string => session.status;
export { lint, wrong, finding, kinds, settings, pink, plan, mode, given, content, risk, body, status };
`;

test('types are generated from /openapi.json without an error, and compile', { skip: !isThere && 'openapi-typescript is not installed (tools/install-deps)' }, async () => {
  const { default: openapiTS, astToString } = await import('openapi-typescript');
  const ts = here('typescript');
  const server = await start();
  const dir = mkdtempSync(join(tmpdir(), 'parley-openapi-'));
  try {
    const { json } = await server.ask('GET', '/openapi.json', { key: null });
    assert.ok(!JSON.stringify(json).includes('parley.local'), 'a reference leads out of the document');
    const made = astToString(await openapiTS(structuredClone(json), { defaultNonNullable: false }));
    const names = Object.keys(json.paths);
    for (const path of names) assert.ok(made.includes(`"${path}"`), path);
    writeFileSync(join(dir, 'api.ts'), made);
    writeFileSync(join(dir, 'client.ts'), client);
    const program = ts.createProgram([join(dir, 'client.ts')], { strict: true, noEmit: true, skipLibCheck: false, types: [], module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, target: ts.ScriptTarget.ES2022, exactOptionalPropertyTypes: true });
    const found = ts.getPreEmitDiagnostics(program).map(({ file, start: at, messageText }) => `${file?.fileName.split('/').pop()}:${file && at !== undefined ? file.getLineAndCharacterOfPosition(at).line + 1 : ''}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`);
    assert.deepEqual(found, []);
  } finally {
    rmSync(dir, { recursive: true });
    await server.stop();
  }
});
