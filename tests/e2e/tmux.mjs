// A terminal as people use it: tmux draws it, the test sends keys, and reads the screen as text.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from './waiting.mjs';

const screens = join(dirname(fileURLToPath(import.meta.url)), 'screens');
const quoted = (word) => `'${word.replaceAll("'", "'\\''")}'`;

export class Tmux {
  // Runs `words` in a terminal of this size, with no environment but `env`.
  constructor(t, words, { env, columns = 80, rows = 24 }) {
    this.directory = mkdtempSync(join(tmpdir(), 'parley-tmux-'));
    this.socket = join(this.directory, 'socket');
    t.after(() => { this.tmux('kill-server'); rmSync(this.directory, { recursive: true, force: true }); });
    const given = Object.entries(env).map(([name, value]) => quoted(`${name}=${value}`)).join(' ');
    const line = `env -i ${given} ${words.map(quoted).join(' ')}; echo "exit $?"; exec cat`;
    const made = this.tmux('-f', '/dev/null', 'new-session', '-d', '-s', 'a', '-x', `${columns}`, '-y', `${rows}`, line);
    assert.equal(made.status, 0, made.stderr);
    this.tmux('set-option', '-g', 'escape-time', '0');
  }

  tmux(...words) {
    return spawnSync('tmux', ['-S', this.socket, ...words], { encoding: 'utf8', env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', TERM: 'xterm-256color' } });
  }

  type(text) { assert.equal(this.tmux('send-keys', '-t', 'a', '-l', '--', text).status, 0); }

  press(...keys) { assert.equal(this.tmux('send-keys', '-t', 'a', ...keys).status, 0); }

  // Pastes as a terminal does: bracketed, because the program requested it.
  paste(text) {
    const file = join(this.directory, 'paste');
    writeFileSync(file, text);
    assert.equal(this.tmux('load-buffer', file).status, 0);
    assert.equal(this.tmux('paste-buffer', '-p', '-t', 'a').status, 0);
  }

  resize(columns, rows) { assert.equal(this.tmux('resize-window', '-t', 'a', '-x', `${columns}`, '-y', `${rows}`).status, 0); }

  screen() { return this.tmux('capture-pane', '-p', '-t', 'a').stdout.trimEnd(); }

  cursor() { return this.tmux('display-message', '-p', '-t', 'a', '#{cursor_x},#{cursor_y}').stdout.trim(); }

  // Waits until the screen matches.
  async shows(pattern) {
    return until(() => this.screen().match(pattern), () => `the screen does not say ${pattern}:\n${this.screen()}`);
  }

  async lacks(pattern) {
    await until(() => !pattern.test(this.screen()), () => `the screen still says ${pattern}:\n${this.screen()}`);
  }

  // Compares the screen with screens/NAME.txt, except times and ids. PARLEY_KEEP_SCREENS=1 writes the file.
  async looksLike(name) {
    const file = join(screens, `${name}.txt`);
    const now = () => `${this.screen().replace(/\d+\.\d s/g, 'N s').replace(/sess_[0-9a-f-]+/g, 'SESSION')}\n`;
    if (process.env.PARLEY_KEEP_SCREENS) writeFileSync(file, now());
    const kept = readFileSync(file, 'utf8');
    await until(() => now() === kept, () => `the screen is not ${name}:\n${now()}`);
  }
}
