// Extensions that run elsewhere with the SDKs for Python and C: a process of the test, the real host, and a WebSocket between them.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { before } from 'node:test';
import { called, hashOf } from './extending.mjs';
import { directory, has, root } from './harness.mjs';
import { serve, until } from './live.mjs';

let server;
before(async () => { server = await serve({ args: ['--ext-sandbox', 'none'] }); });

const capabilities = ['session', 'events', 'log', 'read'].map((capability) => ({ capability }));
const manifestOf = (id) => ({ schema: 'pi.ext.manifest.v1', extension_id: id, name: id, version: '1.0.0', api_version: '1.0', runtime: 'remote', capability_manifest: { schema: 'pi.ext.cap.v1', capabilities } });
async function added(id, to = server) {
  const manifest = manifestOf(id);
  const answer = await to.ask('POST', '/api/extensions', { body: { files: [{ path: 'extension.json', content: JSON.stringify(manifest) }], accepts: hashOf(manifest), profile: 'permissive' } });
  assert.equal(answer.status, 201, answer.text);
  return (await to.ask('POST', '/api/user/api-keys', { body: { name: id, scope: `extension:${id}` } })).json.plaintext;
}
const gone = (id) => server.ask('DELETE', `/api/extensions/${id}`);

const sources = {
  python: `
import sys, parley_ext, parley_ext_socket
ext = parley_ext.Extension()
text = {"type": "object", "properties": {"text": {"type": "string"}}}
@ext.tool("@ID@_repeat", "Repeats.", text)
def repeat(call, input):
    call.host("log", {"level": "info", "message": "repeating"})
    return f"{len(input['text'])} {input['text'][-3:]}"
@ext.tool("@ID@_long", "Gives much.", text)
def long(call, input):
    return "ab" * 100000
@ext.tool("@ID@_read", "Reads.", text)
def read(call, input):
    try:
        call.fs("read", "x")
    except parley_ext.HostError as error:
        return error.reason
try:
    code, reason = ext.run(parley_ext_socket.connect())
except parley_ext_socket.Refused as error:
    print(error, file=sys.stderr)
    sys.exit(3)
print(f"closed {code} {reason}")
`,
  c: `
#define _GNU_SOURCE
#define PARLEY_EXT_IMPLEMENTATION
#include "parley_ext.h"
#include "parley_ext_socket.h"
static void repeat(struct pext_call *call)
{
    static char text[1 << 20];
    struct pext_json output;
    size_t n = pext_text(pext_get(call->input, "text"), text, sizeof text);
    if (pext_host(call, "log", "log", "{\\"level\\":\\"info\\",\\"message\\":\\"repeating\\"}", &output))
        pext_reply_text(call, "%zu %s", n, n > 3 ? text + n - 3 : text);
}
static void give(struct pext_call *call)
{
    static char json[200100] = "{\\"text\\":\\"";
    for (size_t i = 0; i < 100000; i++)
        memcpy(json + 9 + 2 * i, "ab", 2);
    memcpy(json + 200009, "\\"}", 3);
    pext_reply_json(call, json, false);
}
static void read_file(struct pext_call *call)
{
    struct pext_json output;
    char reason[100];
    pext_host(call, "read", "fs", "{\\"op\\":\\"read\\",\\"path\\":\\"x\\"}", &output);
    pext_text(pext_get(output, "details.reason"), reason, sizeof reason);
    pext_reply_text(call, "%s", reason);
}
int main(int argc, char **argv)
{
    static const char schema[] = "{\\"type\\":\\"object\\",\\"properties\\":{\\"text\\":{\\"type\\":\\"string\\"}}}";
    static const struct pext_tool tools[] = {{"@ID@_repeat", "Repeats.", schema, repeat}, {"@ID@_long", "Gives much.", schema, give}, {"@ID@_read", "Reads.", schema, read_file}, {0}};
    char why[PEXT_SOCKET_WHY];
    if (!pext_socket_open(NULL, NULL, why))
        return fprintf(stderr, "%s\\n", why), 3;
    int code = pext_run(argc, argv, tools, NULL, NULL);
    if (code || !(code = pext_socket_end(why)))
        return code;
    fprintf(stderr, "closed %d %s\\n", code, why);
    return 0;
}
`,
};
const files = { python: ['parley_ext.py', 'parley_ext_socket.py'], c: ['parley_ext.h', 'parley_ext_socket.h'] };
const programs = { python: 'python3', c: 'cc' };

// The command that runs the program in a language.
function made(language, id) {
  const dir = join(directory, id);
  mkdirSync(dir, { recursive: true });
  for (const name of files[language]) cpSync(join(root, 'sdk', language, name), join(dir, name));
  writeFileSync(join(dir, 'extension.json'), JSON.stringify(manifestOf(id), null, 2));
  const source = sources[language].replaceAll('@ID@', id);
  writeFileSync(join(dir, language === 'c' ? 'far.c' : 'far.py'), source);
  if (language !== 'c') return ['python3', join(dir, 'far.py')];
  execFileSync('cc', ['-std=gnu11', '-Wall', '-Wextra', '-Werror', '-O1', '-fsanitize=address,undefined', '-pthread', '-o', join(dir, 'far'), join(dir, 'far.c')], { stdio: 'inherit' });
  return [join(dir, 'far')];
}
function started(t, [command, ...args], env) {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
  const one = { child, said: '', over: new Promise((resolve) => { child.on('close', (code) => resolve(code)); }) };
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => { one.said += data; });
  t.after(() => { child.kill('SIGKILL'); });
  return one;
}
// A server with a certificate for these names, and its certificate authority.
async function served(t, names) {
  const to = (name) => join(directory, `${names.replace(/\W/g, '_')}.${name}`);
  const made = spawnSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', to('key'), '-out', to('cert'), '-days', '2', '-subj', '/CN=parley', '-addext', `subjectAltName=${names}`]);
  assert.equal(made.status, 0, String(made.stderr));
  const secure = await serve({ args: ['--ext-sandbox', 'none', '--tls-cert', to('cert'), '--tls-key', to('key')] });
  t.after(() => secure.stop());
  const ca = readFileSync(to('cert'));
  // Only the test's own requests get the authority here; the test proves which servers the SDKs trust.
  for (const way of ['ask', 'raw']) {
    const plain = secure[way].bind(secure);
    secure[way] = (method, path, options = {}) => plain(method, path, { ca, ...options });
  }
  return { secure, cert: to('cert') };
}
const whereOf = (key, more = '') => ({ PARLEY_EXT_URL: `${server.url.replace(/^http/, 'ws')}${more}`, PARLEY_EXT_KEY: key });
const ready = (id, one) => until(async () => (await server.ask('GET', '/api/audit?limit=500')).json.items.some(({ action, object }) => action === 'extension.ready' && object === id), () => `${id} is not ready: ${one.said}`);

for (const language of Object.keys(sources)) {
  const skip = !has(programs[language]) && `${programs[language]} is not installed`;
  const id = `far${language}`;

  test(`${language}: the file for sockets is shorter than 300 lines`, () => {
    assert.ok(readFileSync(join(root, 'sdk', language, files[language][1]), 'utf8').split('\n').length <= 300);
  });

  test(`${language}: it connects, answers, calls the host, and ends with the server's word`, { skip }, async (t) => {
    const key = await added(id);
    const command = made(language, id);
    const one = started(t, command, whereOf(key));
    await ready(id, one);
    for (const text of ['short', 'x'.repeat(300), `${'y'.repeat(70000)}é`]) {
      const [{ result }] = await called(server, `call ${id}_repeat ${JSON.stringify({ text })}\n---\nsay done`);
      assert.equal(result, `${language === 'c' ? Buffer.byteLength(text) : text.length} ${language === 'c' ? Buffer.from(text).subarray(-3) : text.slice(-3)}`);
    }
    assert.match((await called(server, `call ${id}_long {}\n---\nsay done`))[0].result, /^(ab)+/);
    assert.equal((await called(server, `call ${id}_read {}\n---\nsay done`))[0].result, 'remote');
    await gone(id);
    assert.equal(await one.over, 0, one.said);
    assert.match(one.said, /closed 100[01]/);
  });

  test(`${language}: a refusal says what is wrong`, { skip }, async (t) => {
    const key = await added(id);
    const command = made(language, id);
    for (const [env, says] of [
      [whereOf(`${key}x`), /401/],
      [whereOf(server.key), /403.*extension/],
      [whereOf(key, '/api/nothing'), /404/],
      [whereOf('a\nb'), /key/],
      [{ PARLEY_EXT_URL: 'ftp://127.0.0.1', PARLEY_EXT_KEY: key }, /not an address of a server/],
    ]) {
      const one = started(t, command, env);
      assert.notEqual(await one.over, 0);
      assert.match(one.said, says);
    }
    await gone(id);
  });

  test(`${language}: a connection that is cut ends the program, and it may come back`, { skip }, async (t) => {
    const key = await added(id);
    const command = made(language, id);
    const first = started(t, command, whereOf(key));
    await ready(id, first);
    first.child.kill('SIGKILL');
    await first.over;
    const second = started(t, command, whereOf(key));
    await until(async () => !second.said && (await called(server, `call ${id}_repeat {"text":"back"}\n---\nsay done`))[0].result === '4 ack', () => second.said);
    await gone(id);
    assert.equal(await second.over, 0, second.said);
  });

  test(`${language}: over TLS it connects to a name and to an address that the certificate has`, { skip: skip || (!has('openssl') && 'no openssl') }, async (t) => {
    const { secure, cert } = await served(t, 'DNS:localhost,IP:127.0.0.1');
    secure.key = (await secure.ask('POST', '/api/login', { key: null, body: { code: secure.code } })).json.plaintext;
    const key = await added(id, secure);
    const command = made(language, id);
    let n_gone = 0;
    for (const host of ['localhost', '127.0.0.1']) {
      const env = { PARLEY_EXT_URL: `wss://${host}:${secure.port}`, PARLEY_EXT_KEY: key, SSL_CERT_FILE: cert };
      const one = started(t, command, env);
      const text = `${'z'.repeat(40000)}end`;
      await until(async () => (await called(secure, `call ${id}_repeat ${JSON.stringify({ text })}\n---\nsay done`))[0].result === `${text.length} end`, () => one.said);
      assert.match((await called(secure, `call ${id}_long {}\n---\nsay done`))[0].result, /^(ab)+/);
      one.child.kill('SIGKILL');
      await one.over;
      // The SDK's TLS process has ended, too, so the host sees the disconnect.
      await until(async () => (await secure.ask('GET', '/api/audit?limit=500')).json.items.filter(({ action, object }) => action === 'extension.exit' && object === id).length > n_gone, () => 'the host still waits for one that was killed');
      n_gone++;
      // The same program with only the machine's default authorities: it refuses the certificate.
      const stranger = started(t, command, { ...env, SSL_CERT_FILE: join(directory, 'no-such-file') });
      assert.equal(await stranger.over, language === 'c' ? 3 : 1, stranger.said);
      assert.match(stranger.said, /certificate/);
    }
    const last = started(t, command, { PARLEY_EXT_URL: `wss://localhost:${secure.port}`, PARLEY_EXT_KEY: key, SSL_CERT_FILE: cert });
    await until(async () => (await called(secure, `call ${id}_repeat {"text":"last"}\n---\nsay done`))[0].result === '4 ast', () => last.said);
    await secure.ask('DELETE', `/api/extensions/${id}`);
    assert.equal(await last.over, 0, last.said);
    assert.match(last.said, /closed 100[01]/);
  });

  test(`${language}: over TLS a certificate for another name is refused`, { skip: skip || (!has('openssl') && 'no openssl') }, async (t) => {
    const { secure, cert } = await served(t, 'DNS:other.example,IP:127.0.0.9');
    const command = made(language, id);
    for (const host of ['localhost', '127.0.0.1']) {
      const one = started(t, command, { PARLEY_EXT_URL: `wss://${host}:${secure.port}`, PARLEY_EXT_KEY: 'k', SSL_CERT_FILE: cert });
      assert.equal(await one.over, language === 'c' ? 3 : 1, one.said);
      assert.match(one.said, /mismatch|is not valid for|doesn't match/i);
    }
  });

  test(`${language}: without an address it works on standard streams`, { skip }, async (t) => {
    const one = started(t, made(language, id), { PARLEY_EXT_URL: '', PARLEY_EXT_KEY: '' });
    await until(() => one.said.includes('\n'), () => one.said);
    assert.equal(JSON.parse(one.said.split('\n')[0]).type, 'register');
    one.child.stdin.end();
    assert.equal(await one.over, 0);
  });
}
