// The PROXY protocol: accepted only from configured proxies.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { directory, run } from './harness.mjs';
import { start } from './server.mjs';
import { until } from './waiting.mjs';

const SIGNATURE = '\r\n\r\n\0\r\nQUIT\n';
const v1 = (address = '203.0.113.7') => `PROXY TCP4 ${address} 10.0.0.1 56324 443\r\n`;
const v2 = '\x21\x11\0\x0c\xcb\0\x71\x08\x0a\0\0\x01\xdc\x04\x01\xbb';
const get = (server, id, more = '') => `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nX-Request-Id: ${id}\r\n${more}Connection: close\r\n\r\n`;

async function serve(settings) {
  const dir = mkdtempSync(join(directory, 'proxy-')), path = join(dir, 'access.log');
  writeFileSync(join(dir, 'config.yaml'), JSON.stringify({ probe: false, access_log: path, ...settings }));
  const server = await start({ args: ['--config', join(dir, 'config.yaml')], login: false });
  const told = (id) => (existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line)).find(({ request_id }) => request_id === id) : undefined);
  server.from = async (id) => { await until(() => told(id), `${id} is told`); return told(id).address; };
  server.dir = dir;
  return server;
}

test('a named proxy says whose connection it is, in both versions, in any pieces', async () => {
  const server = await serve({ proxy_protocol: ['127.0.0.0/8'] });
  const cases = {
    one: [v1(), '203.0.113.7'], two: [SIGNATURE + v2, '203.0.113.8'], six: ['PROXY TCP6 2001:db8::9 ::1 1 2\r\n', '2001:db8::9'],
    unknown: ['PROXY UNKNOWN\r\n', '127.0.0.1'], local: [`${SIGNATURE}\x20\0\0\0`, '127.0.0.1'],
    extended: [`${SIGNATURE}\x21\x11\0\x13${v2.slice(4)}\x04\0\x04abcd`, '203.0.113.8'],
  };
  for (const [id, [header, address]] of Object.entries(cases)) {
    const { said } = await server.bytes(header + get(server, `${id}-whole`));
    assert.match(said, /^HTTP\/1\.1 200/, id);
    assert.equal(await server.from(`${id}-whole`), address, id);
    // Byte by byte; both requests on one connection have the same client address.
    const socket = net.connect(server.port, '127.0.0.1');
    socket.setNoDelay(true);
    const text = header + get(server, `${id}-a`).replace('Connection: close\r\n', '') + get(server, `${id}-b`);
    for (const byte of Buffer.from(text, 'latin1')) await new Promise((resolve) => { socket.write(Buffer.from([byte]), resolve); });
    await new Promise((resolve) => { socket.on('close', resolve); socket.resume(); });
    for (const end of ['a', 'b']) assert.equal(await server.from(`${id}-${end}`), address, id);
  }
  // X-Forwarded-For comes from the client, which is not trusted.
  await server.bytes(v1() + get(server, 'forwarded', 'X-Forwarded-For: 198.51.100.1\r\n'));
  assert.equal(await server.from('forwarded'), '203.0.113.7');
  await server.stop();
});

test('what is no header ends the connection; from everybody else a header is no HTTP', async () => {
  const server = await serve({ proxy_protocol: ['127.0.0.1'] });
  const wrong = ['GET / HTTP/1.1\r\n\r\n', 'PROXY TCP4 999.1.1.1 1.1.1.1 1 1\r\n', 'PROXY TCP4 1.1.1.1 1.1.1.1 1 99999\r\n', `PROXY UNKNOWN ${'x'.repeat(200)}\r\n`, `${SIGNATURE}\x31\x11\0\x0c............`,
    `${SIGNATURE}\x21\x11\xff\xff`, `${SIGNATURE}\x21\x12\0\x0c............`, '\x16\x03\x01\x02\0\x01', '\0'.repeat(64)];
  for (const header of wrong) {
    const { said, closed } = await server.bytes(header + get(server, 'never'), { enough: () => false });
    assert.ok(closed, JSON.stringify(header));
    assert.match(said, /^HTTP\/1\.1 400[^]*must begin with a PROXY header/);
  }
  await server.logged('sent no PROXY header');
  assert.ok(!(await server.bytes(v1() + v1() + get(server, 'x'))).said.startsWith('HTTP/1.1 200'), 'one header, not two');
  // The control socket does not use the PROXY protocol.
  assert.equal(run(['session', 'list', '--data', server.data]).code, 0);
  await server.stop();
  const other = await serve({ proxy_protocol: ['10.0.0.1', 'unix'] });
  for (const header of [v1(), SIGNATURE + v2]) assert.match((await other.bytes(header + get(other, 'x'))).said, /^HTTP\/1\.1 400/);
  assert.match((await other.bytes(get(other, 'plain'))).said, /^HTTP\/1\.1 200/);
  await other.stop();
});

test('connections are counted for the client, not for the proxy', async () => {
  const server = await serve({ proxy_protocol: ['127.0.0.1'], max_connections_per_address: 3 });
  const open = [];
  for (let i = 0; i < 8; i++) {
    const socket = net.connect(server.port, '127.0.0.1');
    open.push(socket);
    socket.write(v1(`203.0.113.${i}`));
    socket.write(get(server, `n-${i}`).replace('Connection: close\r\n', ''));
    const said = await new Promise((resolve) => { socket.once('data', (piece) => resolve(String(piece))); });
    assert.match(said, /^HTTP\/1\.1 200/, `${i}`);
  }
  const same = [];
  for (let i = 0; i < 4; i++) {
    const socket = net.connect(server.port, '127.0.0.1');
    open.push(socket);
    socket.write(v1('198.51.100.1') + get(server, `s-${i}`).replace('Connection: close\r\n', ''));
    same.push(await new Promise((resolve) => { socket.once('data', (piece) => resolve(String(piece).slice(9, 12))); }));
  }
  assert.deepEqual(same, ['200', '200', '200', '429']);
  for (const socket of open) socket.destroy();
  await server.stop();
});

test('a list that cannot be, and TLS of our own, are refused', () => {
  const dir = mkdtempSync(join(directory, 'proxy-'));
  const check = (settings) => { writeFileSync(join(dir, 'c.yaml'), JSON.stringify({ probe: false, ...settings })); return run(['serve', '--config', join(dir, 'c.yaml'), '--print-config']); };
  assert.match(check({ proxy_protocol: ['proxy.example'] }).err, /proxy_protocol "proxy\.example" is not an address/);
  assert.match(check({ proxy_protocol: ['10.0.0.0/33'] }).err, /is not an address/);
  assert.match(check({ proxy_protocol: ['10.0.0.1'], tls_cert: '/a', tls_key: '/b' }).err, /is for a proxy that does TLS/);
});
