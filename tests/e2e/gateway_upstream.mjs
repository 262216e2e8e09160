// The vendors of upstreams.mjs for tests of the gateway: the name of the model selects the behaviour, and a server
// has one provider for each dialect, up-DIALECT.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { directory } from './harness.mjs';
import { start } from './server.mjs';
import { dialectNames, openUpstream } from './upstreams.mjs';

// The vendors' key; it must not appear anywhere.
export const UPSTREAM_KEY = 'sk-upstream-0123456789abcdef';

const scripts = {
  text: { say: 'Good day to you.' },
  tools: { say: 'Let me look.', calls: [{ name: 'weather', args: { city: 'Oslo' } }, { name: 'weather', args: { city: 'Rome' } }] },
  thinking: { think: 'Seven times six.', say: 'It is 42.' },
  json: { say: '{"city":"Oslo","degrees":7}' },
  long: { say: 'word '.repeat(40_000) },
  chapter: { think: 'Hm.', say: 'word '.repeat(4_000) }, // more than a loop handles itself, less than the limit for reporting losses
  drip: { say: 'Good day to you.', bytes: 1, drip: 0 },
  hang: { hang: 'head' },
  stall: { say: 'Good day to you.', hang: 'body' },
  drop: { say: 'Good day to you.', drop: 'body' },
  leak: { status: 400, error: `your key is ${UPSTREAM_KEY}` },
};

function answer({ model, isStream }) {
  const status = Number(model.match(/^status-(\d+)$/)?.[1]);
  if (status) return { status, error: `told to say ${status}`, headers: status === 429 ? { 'retry-after': '77' } : {} };
  if (model === 'garbage') return { raw: isStream ? 'data: {"choi\n\n' : '{"id": oops' };
  return scripts[model] ?? scripts.text;
}

export const openModels = () => openUpstream({ key: UPSTREAM_KEY, answer });

// Starts a server with these providers. `more` are further settings.
export function serve(up, { aliases = {}, more = '', ...options } = {}) {
  const providers = dialectNames.map((name) => `  up-${name}:\n    dialect: ${name}\n    base_url: ${up.url}\n    key_env: UPSTREAM_KEY\n`);
  const lines = Object.entries(aliases).map(([name, targets]) => `  ${name}: [${targets.map((target) => JSON.stringify(target)).join(', ')}]\n`);
  const home = mkdtempSync(join(directory, 'config-'));
  mkdirSync(join(home, 'parley'));
  writeFileSync(join(home, 'parley', 'config.yaml'), `probe: false\n${more}providers:\n${providers.join('')}${lines.length ? `aliases:\n${lines.join('')}` : ''}`);
  return start({ ...options, env: { UPSTREAM_KEY, XDG_CONFIG_HOME: home, ...options.env } });
}

export { until } from './waiting.mjs';
