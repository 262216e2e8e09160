// The inputs of the packages, without building them: the unit's hardening, files that belong together, the
// definition of the image. `make test-deb` installs the packages in a fresh Debian.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { missing, parley, root, run } from './harness.mjs';

const text = (name) => readFileSync(join(root, name), 'utf8');
const unit = text('deploy/parley.service');

test('systemd finds the service well hardened', { skip: missing('systemd-analyze') }, (t) => {
  const said = spawnSync('systemd-analyze', ['security', '--offline=yes', '--threshold=25', join(root, 'deploy/parley.service')], { encoding: 'utf8' });
  if (/unrecognized option/.test(said.stderr)) return t.skip('this systemd-analyze does not know --offline');
  const level = Number(said.stdout.match(/Overall exposure level for parley\.service: ([\d.]+)/)?.[1]);
  assert.ok(level < 2.5, said.stdout + said.stderr);
  assert.equal(said.status, 0);
});

test('the service, its user, its directories and its configuration agree', (t) => {
  const command = unit.match(/^ExecStart=\/usr\/bin\/parley (.*)$/m)[1].split(' ');
  assert.deepEqual(command, ['serve', '--config', '/etc/parley/config.yaml', '--data', '/var/lib/parley']);
  assert.match(text('deploy/parley.sysusers'), /^u parley - ".*" \/var\/lib\/parley$/m);
  assert.match(text('deploy/parley.tmpfiles'), /^d \/var\/lib\/parley 0700 parley parley$/m);
  assert.match(unit, /^User=parley$/m);
  const data = mkdtempSync(join(tmpdir(), 'parley-deploy-'));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  const config = join(root, 'deploy/config.yaml');
  const { code, out, err } = run(['serve', '--config', config, '--data', data, '--check-config']);
  assert.deepEqual([code, out, err], [0, 'The configuration is valid.\n', '']);
  // The commented-out lines are exactly the available settings.
  const settings = run(['serve', '--print-config']).out.split('\n').map((line) => line.split(':')[0]);
  for (const [, name] of text('deploy/config.yaml').matchAll(/^#([a-z_]+):/gm)) assert.ok([...settings, 'providers', 'aliases'].includes(name), name);
});

test('the image is built from Debian packages alone', () => {
  const file = text('deploy/Containerfile');
  for (const [, base] of file.matchAll(/^FROM (\S+)/gm)) assert.equal(base, 'debian:bookworm-slim');
  for (const [, sources] of file.matchAll(/^COPY (.+) \S+$/gm)) {
    for (const source of sources.split(' ')) assert.ok(existsSync(join(root, source)), source);
  }
  assert.doesNotMatch(file, /\b(curl|wget|pip|ADD)\b/);
  assert.match(file, /^USER parley$/m);
  assert.match(file, /^CMD \["serve", "--config", "\/etc\/parley\/config.yaml", "--data", "\/var\/lib\/parley"\]$/m);
});

test('scripts of the packages are sound', { skip: missing('shellcheck') }, () => {
  const scripts = ['tools/deb', 'tools/test-deb', 'tools/image', 'tools/abi', ...['postinst', 'prerm', 'postrm'].map((name) => `deploy/debian/parley.${name}`)];
  const { status, stdout } = spawnSync('shellcheck', scripts, { cwd: root, encoding: 'utf8' });
  assert.equal(status, 0, stdout);
});

// The types of the functions need a build with debug information: `make abi`.
test('the library exports what src/lib/parley.abi says, under a versioned name', { skip: missing('readelf') }, () => {
  const library = readdirSync(join(dirname(parley), 'src/lib')).find((name) => /^libparley\.so\.\d+\.\d+\.\d+$/.test(name));
  const path = join(dirname(parley), 'src/lib', library);
  const read = (...args) => spawnSync('readelf', ['--wide', ...args, path], { encoding: 'utf8' }).stdout;
  const soname = read('--dynamic').match(/SONAME.*\[(.*)\]/)[1];
  assert.equal(soname, text('src/lib/parley.abi').match(/soname='(.*?)'/)[1]);
  const exported = [...read('--dyn-syms').matchAll(/ FUNC +GLOBAL +DEFAULT +\d+ (parley_\w+)/g)].map((match) => match[1]);
  const stored = [...text('src/lib/parley.abi').matchAll(/<elf-symbol name='(parley_\w+)'/g)].map((match) => match[1]);
  assert.ok(stored.length > 40);
  for (const name of stored) assert.ok(exported.includes(name), `${name} is gone: an incompatible change needs another soversion`);
  for (const name of exported) assert.ok(stored.includes(name), `${name} is new: tools/abi build-abi --update`);
});

test('where no builder of images runs, make image says so', () => {
  const { status, stderr } = spawnSync('/bin/sh', ['-c', 'dirname() { /usr/bin/dirname "$@"; }; set -- ; PATH=/nowhere; . "$0"', join(root, 'tools/image')], { encoding: 'utf8' });
  assert.equal(status, 1);
  assert.match(stderr, /no builder runs here \(podman, buildah or docker\), so no image was built/);
});
