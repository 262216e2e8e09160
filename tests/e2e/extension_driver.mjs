// The host's side of the extension protocol, over the standard streams of a child: small, scripted, and strict. It
// answers as the test says, records every frame, and checks all of them with the seed's schema at the end.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { file, root, run } from './harness.mjs';
import { until } from './waiting.mjs';

// The seed's schema, for a list of frames.
const schema = file('frames.json', JSON.stringify({ type: 'array', items: { ...JSON.parse(readFileSync(join(root, 'schemas/pi.json'), 'utf8')), $id: 'https://parley.local/frame' } }));

export class Driver {
  // hostCall(payload) returns the output, or throws { code, message, details }; an array is a stream of chunks.
  constructor(command, args, { cwd, env = {}, hostCall = () => ({}) } = {}) {
    this.frames = []; // { from: 'host' | 'child', frame }
    this.hostCall = hostCall;
    this.nSent = 0;
    this.stderr = '';
    this.child = spawn(command, args, { cwd, env: { PATH: process.env.PATH, HOME: '/nonexistent', LC_ALL: 'C.UTF-8', ...env }, stdio: 'pipe' });
    this.exited = new Promise((resolve) => { this.child.on('exit', (code, signal) => resolve({ code, signal })); });
    this.child.stdin.on('error', () => {});
    this.child.stderr.on('data', (bytes) => { this.stderr += bytes; });
    createInterface({ input: this.child.stdout }).on('line', (line) => this.#hear(JSON.parse(line)));
  }

  #hear(frame) {
    this.frames.push({ from: 'child', frame });
    if (frame.type === 'host_call') this.#serve(frame);
  }

  async #serve({ id, payload }) {
    const result = (more) => this.send('host_result', { call_id: payload.call_id, output: {}, is_error: false, ...more }, id);
    try {
      const output = await this.hostCall(payload, this);
      if (Array.isArray(output)) output.forEach((part, index) => result({ output: part, chunk: { index, is_last: index === output.length - 1 } }));
      else if (output) result({ output });
    } catch (error) {
      if (!error.code) throw error;
      result({ is_error: true, error: { code: error.code, message: error.message, details: error.details ?? {}, retryable: false } });
    }
  }

  send(type, payload, id = `host-${++this.nSent}`) {
    const frame = { id, version: '1.0', type, payload };
    this.frames.push({ from: 'host', frame });
    this.child.stdin.write(`${JSON.stringify(frame)}\n`);
    return id;
  }

  // The first frame of the child for which `look` is true.
  heard(look, what) {
    return until(() => this.frames.find(({ from, frame }) => from === 'child' && look(frame))?.frame
      ?? (this.child.exitCode === null ? undefined : assert.fail(`the extension ended: ${this.stderr}`)), what);
  }

  async registered() {
    const { id, payload } = await this.heard(({ type }) => type === 'register', 'a register');
    this.send('log', {
      schema: 'pi.ext.log.v1', ts: new Date().toISOString(), level: 'info', event: 'extension.ready', message: 'ready',
      correlation: { extension_id: 'x', scenario_id: 'runtime' }, data: { extension_id: 'x', tools: {} },
    }, id);
    return payload;
  }

  async tool(name, input, { callId = `call-${this.nSent}`, context = { session_id: 's', has_person: true } } = {}) {
    this.send('tool_call', { call_id: callId, name, input, context });
    const { payload } = await this.heard((frame) => frame.type === 'tool_result' && frame.payload.call_id === callId, `the result of ${name}`);
    return payload;
  }

  async command(name, args = []) {
    const id = this.send('slash_command', { name, args, input: { text: args.join(' ') } });
    return (await this.heard((frame) => frame.type === 'slash_result' && frame.id === id, `the result of /${name}`)).payload;
  }

  async hook(event, data) {
    const id = this.send('event_hook', { event, data });
    return (await this.heard((frame) => frame.id === id, `an answer to ${event}`)).payload;
  }

  cancel(callId) { this.send('event_hook', { event: 'cancel', data: { call_id: callId } }); }

  // Closes as the host does, and checks every frame with the schema.
  async end() {
    this.child.stdin.end();
    const how = await this.exited;
    const { code, out, err } = run(['validate', '--schema', schema, '-'], { input: JSON.stringify(this.frames.map(({ frame }) => frame)) });
    assert.equal(code, 0, `${out}${err}`);
    return how;
  }
}

export const textOf = (output) => output.text ?? output.content?.map((block) => block.text ?? '').join('') ?? '';
