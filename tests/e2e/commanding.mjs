// Runs the program against a server over its control socket: for tests of commands.
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { directory, run } from './harness.mjs';
import { start } from './server.mjs';

export const lines = (text) => text.split('\n').filter(Boolean);

// { server, any, ok, json, made } of a command: its output with any exit code; the same with exit code 0 required; its
// output as JSON; and the one word it prints.
export async function commanding(command, options) {
  const server = await start(options);
  const any = (args, { input, env } = {}) => run([command, ...args, '--data', server.data], { input, env });
  const ok = (args, more) => {
    const said = any(args, more);
    assert.equal(said.code, 0, `parley ${command} ${args.join(' ')}: ${said.err}`);
    return said;
  };
  const json = (args, more) => JSON.parse(ok([...args, '--json'], more).out);
  const made = (args, more) => ok(args, more).out.trim();
  return { server, any, ok, json, made };
}

// An editor: a shell script in which $1 is the file.
let n = 0;
export function editor(script) {
  const path = join(directory, `editor-${n++}.sh`);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return { EDITOR: path };
}
