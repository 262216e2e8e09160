// Checks that hold for every session, whatever a test did with it: the token count of …/context is that of the model's request, the vendor accepts that
// request, and the harmony export passes lint. server.mjs runs them on the data directories of its tests: it starts a server over each, and sends one more
// message in each session, on one of the four dialects.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { dialectNames, openUpstream, refusals } from './upstreams.mjs';
import { SAFETY_MS, until } from './waiting.mjs';

const models = {
  anthropic: 'anthropic/claude-sonnet-4-5', 'openai-chat': 'openai-chat/gpt-5', 'openai-responses': 'openai/gpt-5',
  gemini: 'gemini/gemini-2.5-pro',
};
const MOST = Number(process.env.PARLEY_PROVE_MOST ?? 24); // per directory: the newest. `make soak` checks all.
const MAX_BODY = 30 << 20;

class Inspection {
  constructor(server, upstream) {
    this.server = server;
    this.upstream = upstream;
    this.wrong = [];
  }

  // Uses the control socket, where the owner of the server needs no key.
  ask(method, path, body) {
    return this.server.raw(method, path, { body, key: null, socketPath: join(this.server.data, 'parley.sock'), headers: { host: 'local' } });
  }

  async json(method, path, body) {
    const answer = await this.ask(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.json;
  }

  async sessions() {
    const all = [];
    let query = '';
    do {
      const { items, next_cursor: cursor } = await this.json('GET', `/api/sessions?limit=${Math.min(MOST - all.length, 100)}${query}`);
      all.push(...items);
      query = cursor && `&cursor=${encodeURIComponent(cursor)}`;
    } while (query && all.length < MOST);
    return all;
  }

  async settle(id) {
    await this.ask('POST', `/api/sessions/${id}/stop`, {});
    await until(async () => {
      const { status } = await this.json('GET', `/api/sessions/${id}`);
      return !['created', 'running', 'waiting_for_input', 'paused'].includes(status) || status === 'created';
    }, `session ${id} comes to rest`);
  }

  async lint(id) {
    const document = await this.json('GET', `/api/sessions/${id}/export?format=harmony`);
    if (JSON.stringify(document).length > MAX_BODY) return; // media as base64: more than the lint route accepts
    const { findings } = await this.json('POST', '/api/lint', { document, as: 'harmony' });
    const errors = findings.filter(({ severity }) => severity === 'error');
    if (errors.length) this.wrong.push(`the harmony export of ${id}: ${JSON.stringify(errors)}\n${JSON.stringify(document).slice(0, 4000)}`);
  }

  // Checks that the vendor accepts the request.
  async take(id, request) {
    const { valid, errors } = await this.json('POST', '/api/validate', { document: request.body, as: request.dialect });
    const all = [...(valid ? [] : errors), ...refusals(request)];
    if (all.length) this.wrong.push(`${request.dialect} refuses the request of ${id}: ${JSON.stringify(all)}\n${request.text.slice(0, 4000)}`);
  }

  // Uses the session's own model if it belongs to a vendor, and otherwise one of `dialect`.
  async count({ id, model }, dialect) {
    const mark = `The last word to ${id}.`;
    if (!/^(anthropic|openai|openai-chat|gemini)\//.test(model)) await this.json('PATCH', `/api/sessions/${id}`, { model: models[dialect] });
    await this.json('POST', `/api/sessions/${id}/chat`, { message: mark });
    const sent = () => this.upstream.requests.find(({ text }) => text.includes(mark));
    await until(async () => sent() || (await this.json('GET', `/api/sessions/${id}`)).status === 'failed', `the request of ${id}`, SAFETY_MS / 5);
    const request = sent();
    if (!request) {
      const [turn] = (await this.json('GET', `/api/sessions/${id}/messages?limit=1`)).slice(-1);
      this.wrong.push(`${id} cannot be asked: ${JSON.stringify(turn).slice(0, 2000)}`);
      return;
    }
    await this.take(id, request);
    const context = await this.json('GET', `/api/sessions/${id}/context`);
    // Counts the exact bytes that were sent: the count depends on the spelling of JSON.
    const { tokens } = await this.json('POST', '/api/tokens', `{"document":${request.text},"as":${JSON.stringify(request.dialect)},"model":${JSON.stringify(request.model)}}`);
    if (context.tokens !== tokens) this.wrong.push(`the context of ${id} has ${context.tokens} tokens, its request to ${request.dialect} ${tokens}:\n${JSON.stringify(context)}\n${request.text.slice(0, 6000)}`);
  }
}

// Throws unless every session in the directory passes. `open` starts a server there. A directory without a store has
// nothing to check.
export async function prove(data, open, hasPostgres) {
  if (!hasPostgres && !existsSync(join(data, 'parley.db'))) return;
  const upstream = await openUpstream({ isLenient: true, answer: ({ text }) => (text.includes('The last word to ') ? { hang: 'head' } : { say: 'Hello.' }) });
  const server = await open({ data, login: false, env: upstream.env(), args: ['--shards', '1'] });
  try {
    const inspection = new Inspection(server, upstream);
    for (const [i, session] of (await inspection.sessions()).entries()) {
      await inspection.settle(session.id);
      await inspection.lint(session.id);
      await inspection.count(session, dialectNames[i % dialectNames.length]);
      await inspection.settle(session.id); // the number of concurrent turns is limited
    }
    assert.deepEqual(inspection.wrong, []);
  } finally {
    await server.stop('SIGKILL');
    await upstream.close();
  }
}
