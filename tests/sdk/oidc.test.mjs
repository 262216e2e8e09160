// People sign in through a real OpenID provider (npm oidc-provider); error cases modify its answers in transit.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const HERE = path.dirname(fileURLToPath(import.meta.url));
process.env.PARLEY ??= path.join(HERE, '../../build/parley');
const { start } = await import('../e2e/server.mjs');
const { run } = await import('../e2e/harness.mjs');
const { until } = await import('../e2e/waiting.mjs');

const skip = !existsSync(path.join(HERE, 'node_modules/oidc-provider')) && 'oidc-provider is not installed: npm ci in tests/sdk (tools/install-deps test does it)';
const log = console.warn;
console.warn = () => {}; // warnings about features that a production provider should have
const Provider = skip ? undefined : (await import('oidc-provider')).default;

const SECRET = 'the secret of the client: +&=%/';
const PATH = '/api/login/oidc';
const rsa = () => crypto.generateKeyPairSync('rsa', { modulusLength: 2048 });
const jwk = ({ privateKey }, kid, alg) => ({ ...privateKey.export({ format: 'jwk' }), kid, alg, use: 'sig' });
const [first, second, third, curve] = [rsa(), rsa(), rsa(), crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' })];

const people = {
  ada: { preferred_username: 'ada', email: 'ada@example.org', email_verified: true, groups: ['staff', 'admins'] },
  bob: { preferred_username: 'bob', email: 'bob@example.org', email_verified: false, groups: ['staff'] },
  eve: { preferred_username: 'eve', groups: ['strangers'] },
  one: { preferred_username: 'one\nline', groups: 'staff' }, // a string instead of a list
  nobody: { groups: [] },
};

let issuer, front, handler, change, redirect_uris = [];
const dir = mkdtempSync(path.join(tmpdir(), 'parley-oidc-'));

function provide(keys, more = {}) {
  const client = (client_id, rest) => ({ client_id, client_secret: SECRET, redirect_uris, ...rest });
  const provider = new Provider(issuer, {
    clients: [
      client('parley', {}), client('parley-es', { id_token_signed_response_alg: 'ES256' }), client('parley-post', { token_endpoint_auth_method: 'client_secret_post' }),
      { client_id: 'parley-public', token_endpoint_auth_method: 'none', redirect_uris },
    ],
    jwks: { keys }, scopes: ['openid', 'profile', 'email', 'groups'], cookies: { keys: ['cookie'] }, features: { devInteractions: { enabled: false } },
    claims: { openid: ['sub'], profile: ['preferred_username'], email: ['email', 'email_verified'], groups: ['groups'] }, conformIdTokenClaims: false,
    findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
    interactions: { url: (ctx, { uid }) => `/interaction/${uid}` },
    enabledJWA: { idTokenSigningAlgValues: ['RS256', 'ES256'] },
    async loadExistingGrant(ctx) {
      const grant = new ctx.oidc.provider.Grant({ clientId: ctx.oidc.client.clientId, accountId: ctx.oidc.session.accountId });
      grant.addOIDCScope('openid profile email groups');
      await grant.save();
      return grant;
    },
    ...more,
  });
  provider.use(async (ctx, next) => {
    await next();
    if (ctx.oidc?.route === 'token' && ctx.body?.id_token && change) ctx.body = change(ctx.body);
    if (ctx.oidc?.route === 'discovery' && provider.describe) ctx.body = provider.describe(ctx.body);
  });
  const answer = provider.callback();
  handler = async (req, res) => {
    if (!req.url.startsWith('/interaction/')) return answer(req, res);
    const who = req.headers['x-person'];
    const result = who === 'refuses' ? { error: 'access_denied', error_description: 'said <no>' } : { login: { accountId: who } };
    return provider.interactionFinished(req, res, result, { mergeWithLastSubmission: false });
  };
  return provider;
}

// A browser: cookies by origin, redirects one at a time.
class Browser {
  constructor(person) { this.person = person; this.jars = new Map(); }

  cookies(origin) { return this.jars.get(origin) ?? this.jars.set(origin, new Map()).get(origin); }

  get(url, headers = {}) {
    const { origin } = new URL(url);
    const jar = this.cookies(origin);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    return new Promise((resolve, reject) => {
      http.get(url, { headers: { ...(cookie ? { cookie } : {}), 'x-person': this.person, accept: 'text/html', ...headers }, agent: false }, (res) => {
        let text = '';
        for (const line of res.headers['set-cookie'] ?? []) {
          const [, name, value] = line.match(/^([^=]+)=([^;]*)/);
          if (value && !/max-age=0/i.test(line) && !/expires=Thu, 01 Jan 1970/i.test(line)) jar.set(name, value);
          else jar.delete(name);
        }
        res.setEncoding('utf8').on('data', (piece) => { text += piece; });
        res.on('end', () => resolve({ status: res.statusCode, headers: res.headers, text, location: res.headers.location && new URL(res.headers.location, url).href }));
      }).on('error', reject);
    });
  }

  // Follows the flow up to the callback, which is not requested.
  async toCallback(server, query = '') {
    const begun = await this.get(`${server.url}${PATH}${query}`);
    assert.equal(begun.status, 303, begun.text);
    let url = begun.location;
    while (!url.startsWith(server.url)) {
      const answer = await this.get(url);
      assert.ok(answer.location, `${answer.status} ${answer.text.match(/<pre>[^]*/)?.[0] ?? answer.text}`);
      url = answer.location;
    }
    return url;
  }

  async signIn(server, { query = '', headers = {} } = {}) { return this.get(await this.toCallback(server, query), headers); }

  async me(server) { return JSON.parse((await this.get(`${server.url}/api/me`)).text); }
}

let config, server;
const write = (oidc, rest = {}) => writeFileSync(config, JSON.stringify({ probe: false, log_level: 'info', drain_ms: 200, oidc, ...rest }));
const settings = (more = {}) => ({ issuer, client_id: 'parley', client_secret_file: path.join(dir, 'secret'), scopes: 'openid profile email groups', ...more });
const reload = async (oidc) => {
  write(oidc);
  const { code, err } = run(['reload', '--data', server.data]);
  assert.equal(code, 0, err);
};
const ask = (...args) => server.ask(...args);
const audited = () => JSON.parse(run(['audit', 'list', '--json', '--data', server.data]).out).items;

before(async () => {
  if (skip) return;
  front = http.createServer((req, res) => handler(req, res));
  await new Promise((resolve) => { front.listen(0, '127.0.0.1', resolve); });
  issuer = `http://127.0.0.1:${front.address().port}`;
  writeFileSync(path.join(dir, 'secret'), `${SECRET}\n`, { mode: 0o600 });
  writeFileSync(path.join(dir, 'open-secret'), SECRET);
  chmodSync(path.join(dir, 'open-secret'), 0o644);
  config = path.join(dir, 'config.yaml');
  write(settings());
  server = await start({ args: ['--config', config], env: { OIDC_SECRET: SECRET } });
  redirect_uris = [`${server.url}${PATH}/callback`];
  provide([jwk(first, 'one', 'RS256'), jwk(curve, 'curve', 'ES256')]);
});
after(async () => {
  console.warn = log;
  await new Promise((resolve) => { front ? front.close(resolve) : resolve(); front?.closeAllConnections(); });
  rmSync(dir, { recursive: true, force: true });
});

describe('signing in', { skip }, () => {
  test('the first time makes a member, the second time finds it; the cookie is that of a sign-in', async () => {
    assert.deepEqual((await ask('GET', '/api/login', { key: null })).json, { key: true, code: false, oidc: { url: PATH, issuer } });
    const browser = new Browser('bob');
    const begun = await browser.get(`${server.url}${PATH}`);
    const sent = new URL(begun.location).searchParams;
    assert.deepEqual([sent.get('response_type'), sent.get('client_id'), sent.get('code_challenge_method'), sent.get('redirect_uri')], ['code', 'parley', 'S256', redirect_uris[0]]);
    for (const name of ['state', 'nonce', 'code_challenge']) assert.equal(sent.get(name).length, 43, name);
    assert.equal(new Set(['state', 'nonce', 'code_challenge'].map((name) => sent.get(name))).size, 3);
    assert.match(begun.headers['set-cookie'][0], /HttpOnly; SameSite=Lax; Max-Age=600$/);
    const done = await browser.signIn(server, { query: '?return_to=/sessions%3Fx%3D1' });
    assert.equal(done.status, 303, done.text);
    assert.equal(done.headers.location, '/sessions?x=1');
    assert.equal(done.text, '');
    const [over, set] = done.headers['set-cookie'];
    assert.match(over, /-oidc=; .*Max-Age=0/);
    assert.match(set, new RegExp(`^parley-${server.port}=sk-parley-.*; Path=/; HttpOnly; SameSite=Strict`));
    const me = await browser.me(server);
    assert.deepEqual([me.name, me.is_admin, me.acts_as_admin, me.csrf.length], ['bob', false, false, 43]);
    const cookie = set.split(';')[0];
    const post = (headers) => ask('POST', '/api/sessions', { body: {}, key: null, headers: { cookie, ...headers } });
    assert.equal((await post({})).status, 403);
    assert.equal((await post({ 'x-parley-csrf': me.csrf })).status, 201);
    const again = new Browser('bob');
    assert.equal((await again.signIn(server)).status, 303);
    assert.equal((await again.me(server)).id, me.id);
    const rows = audited();
    const made = rows.find(({ action, object }) => action === 'user.create' && object === me.id);
    assert.deepEqual(made.detail, { issuer, subject: 'bob', is_admin: false });
    assert.equal(rows.filter(({ action, user_id }) => action === 'sign_in' && user_id === me.id).length, 2);
    assert.equal(rows.filter(({ action }) => action === 'user.create').length, 1);
    assert.equal(run(['audit', 'verify', '--data', server.data]).code, 0);
    assert.equal(run(['doctor', '--data', server.data]).code, 0);
  });

  test('ES256, the secret in the body, no secret, a variable of the environment', async () => {
    const { client_secret_file, ...bare } = settings();
    for (const more of [{ ...settings(), client_id: 'parley-es' }, { ...settings(), client_id: 'parley-post' }, { ...bare, client_id: 'parley-public' }, { ...bare, client_secret_env: 'OIDC_SECRET' }]) {
      const provider = provide([jwk(first, 'one', 'RS256'), jwk(curve, 'curve', 'ES256')]);
      if (more.client_id === 'parley-post') provider.describe = (body) => ({ ...body, token_endpoint_auth_methods_supported: ['client_secret_post'] });
      await reload(more);
      const done = await new Browser('bob').signIn(server);
      assert.equal(done.status, 303, `${more.client_id}: ${done.text}`);
    }
    provide([jwk(first, 'one', 'RS256'), jwk(curve, 'curve', 'ES256')]);
    await reload(settings());
  });

  test('groups decide who comes in and who is an administrator, each time anew', async () => {
    await reload(settings({ allowed_groups: ['staff'], admin_groups: ['admins'] }));
    const refused = await new Browser('eve').signIn(server);
    assert.equal(refused.status, 403);
    assert.match(refused.text, /none of the groups that may sign in/);
    assert.match(refused.headers['content-type'], /^text\/html/);
    assert.equal((await new Browser('nobody').signIn(server)).status, 403);
    assert.ok(!(await ask('GET', '/api/users')).json.items.some(({ name }) => ['eve', 'nobody'].includes(name)));
    const one = new Browser('one');
    await one.signIn(server);
    assert.equal((await one.me(server)).name, 'one');
    const ada = new Browser('ada');
    await ada.signIn(server);
    assert.deepEqual([(await ada.me(server)).is_admin, (await ada.me(server)).acts_as_admin], [true, true]);
    people.ada.groups = ['staff'];
    const later = new Browser('ada');
    await later.signIn(server);
    assert.equal((await later.me(server)).is_admin, false);
    assert.equal((await ada.me(server)).acts_as_admin, false, 'the earlier sign-in, too');
    people.ada.groups = ['staff', 'admins'];
    await later.signIn(server);
    assert.equal((await later.me(server)).is_admin, true);
    // The claim may be nested.
    people.ada.realm = { roles: ['r'] };
    provide([jwk(first, 'one', 'RS256')], { claims: { openid: ['sub', 'realm'], profile: ['preferred_username'], email: ['email'], groups: ['groups'] } });
    await reload(settings({ allowed_groups: 'r', groups_claim: '/realm/roles' }));
    assert.equal((await new Browser('ada').signIn(server)).status, 303);
    assert.equal((await new Browser('bob').signIn(server)).status, 403);
    provide([jwk(first, 'one', 'RS256'), jwk(curve, 'curve', 'ES256')]);
    await reload(settings());
  });

  test('what the ID token does not say, userinfo says', async () => {
    provide([jwk(first, 'one', 'RS256')], { conformIdTokenClaims: true });
    await reload(settings({ allowed_groups: ['staff'] }));
    const browser = new Browser('ada');
    const done = await browser.signIn(server);
    assert.equal(done.status, 303, done.text);
    assert.equal((await new Browser('eve').signIn(server)).status, 403);
    provide([jwk(first, 'one', 'RS256'), jwk(curve, 'curve', 'ES256')]);
    await reload(settings());
  });

  test('a user of the same name is taken over only where the operator says so, and once', async () => {
    const grace = (await ask('POST', '/api/users', { body: { name: 'grace' } })).json;
    people.grace = { preferred_username: 'grace', groups: [] };
    people.grace2 = { preferred_username: 'grace', groups: [] };
    people.mail = { preferred_username: 'mail', email: 'grace', email_verified: false };
    const apart = new Browser('grace2');
    await apart.signIn(server);
    assert.notEqual((await apart.me(server)).id, grace.id);
    assert.equal((await ask('DELETE', `/api/users/${(await apart.me(server)).id}`)).status, 204);
    await reload(settings({ link_existing: true, name_claim: 'email' }));
    const mail = new Browser('mail');
    await mail.signIn(server);
    assert.notEqual((await mail.me(server)).id, grace.id, 'the address is not verified');
    assert.equal((await ask('DELETE', `/api/users/${(await mail.me(server)).id}`)).status, 204);
    await reload(settings({ link_existing: true }));
    const browser = new Browser('grace');
    await browser.signIn(server);
    assert.equal((await browser.me(server)).id, grace.id);
    assert.ok(audited().some(({ action, object }) => action === 'user.link' && object === grace.id));
    const other = new Browser('grace2');
    await other.signIn(server);
    assert.notEqual((await other.me(server)).id, grace.id, 'somebody is this one already');
    // A disabled user stays out; an erased one becomes a new user.
    await ask('PATCH', `/api/users/${grace.id}`, { body: { is_disabled: true } });
    const closed = await new Browser('grace').signIn(server);
    assert.equal(closed.status, 403);
    assert.match(closed.text, /is disabled/);
    await ask('DELETE', `/api/users/${grace.id}`);
    const anew = new Browser('grace');
    await anew.signIn(server);
    assert.notEqual((await anew.me(server)).id, grace.id);
    await reload(settings());
  });

  test('a new key of the provider is found, and a wrong client is the operator\'s matter', async () => {
    provide([jwk(second, 'two', 'RS256')]);
    const done = await new Browser('bob').signIn(server);
    assert.equal(done.status, 303, done.text);
    writeFileSync(path.join(dir, 'wrong'), 'no', { mode: 0o600 });
    await reload(settings({ client_secret_file: path.join(dir, 'wrong') }));
    const refused = await new Browser('bob').signIn(server, { headers: { accept: 'application/json' } });
    assert.equal(refused.status, 502);
    assert.match(JSON.parse(refused.text).detail, /invalid_client\); the administrator checks client_id/);
    provide([jwk(first, 'one', 'RS256'), jwk(curve, 'curve', 'ES256')]);
    await reload(settings());
  });
});

const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const claimsOf = (token) => JSON.parse(Buffer.from(token.split('.')[1], 'base64url'));
const sign = (claims, { header = { alg: 'RS256', kid: 'one' }, key = first.privateKey, alg = 'sha256' } = {}) => {
  const text = `${part(header)}.${part(claims)}`;
  return `${text}.${crypto.sign(alg, Buffer.from(text), key).toString('base64url')}`;
};
const now = () => Math.floor(Date.now() / 1000);
const changed = (more, how) => (body) => ({ ...body, id_token: sign({ ...claimsOf(body.id_token), ...more }, how) });

const wrongTokens = {
  'another nonce': [changed({ nonce: 'x' }), /nonce/],
  'no nonce': [changed({ nonce: undefined }), /nonce/],
  'another audience': [changed({ aud: 'other' }), /another client/],
  'an audience of a wrong type': [changed({ aud: { parley: true } }), /another client/],
  'several audiences and no party': [changed({ aud: ['parley', 'other'] }), /another client/],
  'another party': [changed({ aud: ['parley', 'other'], azp: 'other' }), /another client/],
  'another issuer': [changed({ iss: 'https://evil.example' }), /another issuer/],
  expired: [(body) => changed({ exp: now() - 120 })(body), /has expired/],
  'no end': [changed({ exp: undefined }), /expires/],
  'an end that is a text': [changed({ exp: '9999999999' }), /expires/],
  'issued in the future': [(body) => changed({ iat: now() + 3600 })(body), /in the future/],
  'not valid yet': [(body) => changed({ nbf: now() + 3600 })(body), /not valid yet/],
  'about nobody': [changed({ sub: '' }), /who it is about/],
  'a subject that is a number': [changed({ sub: 7 }), /who it is about/],
  'signed with another key': [changed({}, { key: third.privateKey }), /signature of the ID token is wrong/],
  'signed with a key nobody publishes': [changed({}, { header: { alg: 'RS256', kid: 'nine' }, key: third.privateKey }), /does not publish/],
  'an EC key for RS256': [changed({}, { header: { alg: 'RS256', kid: 'curve' } }), /does not publish/],
  'alg none': [(body) => ({ ...body, id_token: `${part({ alg: 'none' })}.${part(claimsOf(body.id_token))}.` }), /not signed with RS256 or ES256 but with "none"/],
  'alg none and a signature': [changed({}, { header: { alg: 'none', kid: 'one' } }), /not signed with/],
  'signed with the client secret': [(body) => {
    const text = `${part({ alg: 'HS256', kid: 'one' })}.${part(claimsOf(body.id_token))}`;
    return { ...body, id_token: `${text}.${crypto.createHmac('sha256', SECRET).update(text).digest('base64url')}` };
  }, /not signed with RS256/],
  'an extension that must be known': [changed({}, { header: { alg: 'RS256', kid: 'one', crit: ['x'], x: 1 } }), /extension/],
  'changed claims': [(body) => { const [header, , signature] = body.id_token.split('.'); return { ...body, id_token: `${header}.${part({ ...claimsOf(body.id_token), sub: 'ada' })}.${signature}` }; }, /signature of the ID token is wrong/],
  'two parts': [(body) => ({ ...body, id_token: 'a.b' }), /three parts/],
  'four parts': [(body) => ({ ...body, id_token: `${body.id_token}.x` }), /three parts/],
  'no base64': [(body) => ({ ...body, id_token: `!${body.id_token}` }), /base64url/],
  'no JSON': [(body) => ({ ...body, id_token: 'YQ.YQ.YQ' }), /JSON object/],
  'no token': [({ id_token, ...body }) => body, /no ID token/, 502],
  'a token that is a number': [(body) => ({ ...body, id_token: 5 }), /no ID token/, 502],
  'an answer that is a list': [() => [], /no tokens/, 502],
};

describe('what is not accepted', { skip }, () => {
  test('wrong ID tokens sign nobody in', async () => {
    const before = (await ask('GET', '/api/users')).json.total;
    for (const [name, [how, sentence, status = 401]] of Object.entries(wrongTokens)) {
      change = how;
      const browser = new Browser('bob');
      const answer = await browser.signIn(server, { headers: { accept: 'application/json' } });
      assert.equal(answer.status, status, `${name}: ${answer.text}`);
      assert.match(JSON.parse(answer.text).detail, sentence, name);
      assert.equal(browser.cookies(server.url).size, 0, name);
    }
    // Within the leeway the token is accepted; so the tests can modify a token without invalidating it.
    change = (body) => changed({ exp: now() - 5, iat: now() + 5 })(body);
    assert.equal((await new Browser('bob').signIn(server)).status, 303);
    change = undefined;
    assert.equal((await ask('GET', '/api/users')).json.total, before);
  });

  test('another browser, another state, a code that was used', async () => {
    const browser = new Browser('bob');
    const url = await browser.toCallback(server);
    const json = { accept: 'application/json' };
    const other = await new Browser('eve').get(url, json);
    assert.equal(other.status, 400);
    assert.match(JSON.parse(other.text).detail, /not begun in this browser/);
    const wrong = new URL(url);
    wrong.searchParams.set('state', 'A'.repeat(43));
    for (const asked of [wrong.href, url.replace(/state=[^&]*&?/, '')]) {
      const answer = await browser.get(asked, json);
      assert.equal(answer.status, 400);
      assert.match(JSON.parse(answer.text).detail, /its state/);
    }
    // An attacker's callback in the browser of a victim who has begun a sign-in of their own.
    const victim = new Browser('ada');
    await victim.get(`${server.url}${PATH}`);
    assert.match(JSON.parse((await victim.get(url, json)).text).detail, /its state/);
    const kept = new Map(browser.cookies(server.url));
    assert.equal((await browser.get(url)).status, 303);
    for (const [name, value] of kept) browser.cookies(server.url).set(name, value);
    const replayed = await browser.get(url, json);
    assert.equal(replayed.status, 401);
    assert.match(JSON.parse(replayed.text).detail, /used before/);
    // A forged cookie, in each of its parts.
    const [name, value] = [...kept].find(([one]) => one.endsWith('-oidc'));
    for (const made of ['', '..', 'x.y.z', value.replace(/^\d+/, '1'), value.replace(/^\d+/, '-1'), `${value}%`, value.slice(0, -3), value.split('.').slice(0, 2).join('.')]) {
      const answer = await new Browser('bob').get(url, { cookie: `${name}=${made}`, ...json });
      assert.equal(answer.status, 400, made);
    }
    for (const [iss, status] of [['https://evil.example', 401], ['', 401]]) {
      const tried = new Browser('bob');
      const at = new URL(await tried.toCallback(server));
      at.searchParams.set('iss', iss);
      const answer = await tried.get(at.href, json);
      assert.equal(answer.status, status);
      assert.match(JSON.parse(answer.text).detail, /another OpenID provider/);
    }
  });

  test('a refusal of the provider is told in its own word only', async () => {
    const answer = await new Browser('refuses').signIn(server);
    assert.equal(answer.status, 401);
    assert.match(answer.text, /did not sign you in \(access_denied\)/);
    assert.doesNotMatch(answer.text, /said/);
    const browser = new Browser('bob');
    const url = new URL(await browser.toCallback(server));
    url.searchParams.delete('code');
    url.searchParams.set('error', '<script>');
    url.searchParams.set('added_by_the_provider', '1');
    const odd = await browser.get(url.href, { 'accept-language': 'zh-CN' });
    assert.match(odd.text, /无法登录/);
    assert.doesNotMatch(odd.text, /<script>/);
    for (const path of ['//evil.example', 'https://evil.example', '/\\evil', '', `/${'x'.repeat(512)}`, '/a b', '/ü']) {
      assert.equal((await new Browser('bob').get(`${server.url}${PATH}?return_to=${encodeURIComponent(path)}`)).status, 400, path);
    }
    assert.equal((await new Browser('bob').get(`${server.url}${PATH}?return=/`)).status, 400);
  });

  test('a provider that is away, lies or talks nonsense', async () => {
    const good = handler;
    const json = { accept: 'application/json' };
    const begin = async () => { const { status, text } = await new Browser('bob').get(`${server.url}${PATH}`, json); return { status, detail: status === 303 ? '' : JSON.parse(text).detail }; };
    const fresh = async (how) => { handler = how; await reload(settings()); };
    const describe = (body, status = 200) => (req, res) => { res.writeHead(status, { 'content-type': 'application/json' }); res.end(typeof body === 'string' ? body : JSON.stringify(body)); };
    const document = JSON.parse((await new Browser('bob').get(`${issuer}/.well-known/openid-configuration`)).text);
    const cases = [
      [describe('{}', 503), /answers with 503/],
      [describe('<html>'), /not a JSON object/], [describe('[]'), /not a JSON object/],
      [describe({ ...document, issuer: 'https://evil.example' }), /another issuer/], [describe({ ...document, issuer: 5 }), /another issuer/],
      [describe({ ...document, token_endpoint: 'http://evil.example/token' }), /token_endpoint must be an https URL/],
      [describe({ ...document, token_endpoint: 'https://user:pass@evil.example/token' }), /token_endpoint must be/],
      [describe({ ...document, authorization_endpoint: 'https://evil.example/\r\nX: y' }), /authorization_endpoint must be/],
      [describe({ ...document, jwks_uri: undefined }), /jwks_uri must be/], [describe({ ...document, jwks_uri: `https://a/${'x'.repeat(1000)}` }), /jwks_uri must be/],
      [describe({ ...document, response_types_supported: ['token'] }), /code flow/],
      [describe({ ...document, id_token_signing_alg_values_supported: ['HS256'] }), /neither with RS256/],
      [describe({ ...document, token_endpoint_auth_methods_supported: ['private_key_jwt'] }), /client_secret_basic nor/],
      [describe('x'.repeat((1 << 20) + 1)), /larger than 1 MiB/],
      [(req, res) => req.socket.destroy(), /cannot be asked/],
    ];
    for (const [how, sentence] of cases) {
      await fresh(how);
      // An unusable result is not cached, so each case leads to a request.
      const { status, detail } = await begin();
      assert.equal(status, 502, detail);
      assert.match(detail, sentence);
    }
    await fresh(good);
    const browser = new Browser('bob');
    const url = await browser.toCallback(server);
    handler = describe({ ...document, keys: 'none' });
    const noToken = await browser.get(url, json);
    assert.equal(noToken.status, 502);
    await reload(settings({ issuer: 'http://127.0.0.1:1' }));
    const away = await begin();
    assert.equal(away.status, 502);
    assert.match(away.detail, /^The OpenID provider http:\/\/127\.0\.0\.1:1 cannot be asked for its configuration/);
    handler = good;
    await reload(settings());
    assert.equal((await begin()).status, 303);
  });

  test('a browser that leaves while the provider thinks ends the question; the server can stop meanwhile', async () => {
    const good = handler;
    const heard = [];
    handler = (req) => { heard.push(req); };
    await reload(settings());
    const leaving = http.get(`${server.url}${PATH}`, { agent: false });
    leaving.on('error', () => {});
    await until(() => heard.length === 1, 'the provider is asked');
    leaving.destroy();
    await until(() => heard[0].destroyed, 'the question ends');
    http.get(`${server.url}${PATH}`, { agent: false }).on('error', () => {});
    await until(() => heard.length === 2, 'the provider is asked again');
    handler = good;
    assert.equal((await ask('GET', '/healthz', { key: null })).status, 200);
  });
});

describe('the configuration', { skip }, () => {
  const check = (oidc) => { write(oidc); return run(['serve', '--config', config, '--data', path.join(dir, 'none'), '--print-config', '--json'], { env: { OIDC_SECRET: SECRET } }); };

  test('each member of the wrong type, name or value is refused, with its line', () => {
    const { issuer: at, client_id, ...rest } = settings();
    const cases = [
      ['x', /oidc must be \{issuer/], [[], /oidc must be/], [{}, /needs an issuer and a client_id/], [{ issuer: at }, /needs an issuer/],
      [settings({ issuer: 'http://login.example' }), /oidc\.issuer must be an https URL/], [settings({ issuer: 'ftp://127.0.0.1' }), /must be an https/],
      [settings({ issuer: 'https://user:secret@login.example' }), /must be an https/], [settings({ issuer: 'https://login.example?x' }), /must be an https/],
      [settings({ issuer: 5 }), /oidc\.issuer must be a text, not number/], [settings({ client_id: '' }), /oidc\.client_id is empty/],
      [settings({ allowed_groups: [] }), /must have 1 to 256 names/], [settings({ allowed_groups: Array(257).fill('g') }), /must have 1 to 256 names/], [settings({ admin_groups: [1] }), /must be a text/], [settings({ admin_groups: {} }), /must be a text/],
      [settings({ leeway_s: 601 }), /from 0 to 600/], [settings({ leeway_s: -1 }), /from 0 to 600/], [settings({ leeway_s: '1' }), /from 0 to 600/], [settings({ link_existing: 'yes' }), /true or false/],
      [settings({ scopes: 'profile openids' }), /must have openid/], [settings({ groups_claim: '/a~2' }), /JSON Pointer/],
      [settings({ client_secret: 'x' }), /oidc has no "client_secret"; did you mean/], [settings({ isuer: 'x' }), /did you mean "issuer"/],
      [settings({ client_secret_env: 'OIDC_SECRET' }), /both client_secret_file and client_secret_env/],
      [{ issuer: at, client_id, client_secret_env: 'NOT_SET_HERE' }, /NOT_SET_HERE, which is not set/],
      [settings({ client_secret_file: path.join(dir, 'open-secret') }), /chmod 600/], [settings({ client_secret_file: path.join(dir, 'missing') }), /cannot be read/],
    ];
    for (const [oidc, sentence] of cases) {
      const { code, err } = check(oidc);
      assert.notEqual(code, 0, JSON.stringify(oidc));
      assert.match(err, sentence);
      assert.doesNotMatch(err, /user:secret/);
    }
    assert.ok(rest);
  });

  test('the secret is shown by nobody, and a wrong file changes nothing', async () => {
    const { code, out, err } = check(settings({ admin_groups: ['a'] }));
    assert.equal(code, 0, err);
    const { oidc } = JSON.parse(out);
    assert.deepEqual([oidc.issuer, oidc.admin_groups, oidc.allowed_groups, oidc.leeway_s, oidc.secret_from], [issuer, ['a'], null, 60, path.join(dir, 'secret')]);
    const plain = run(['serve', '--config', config, '--print-config'], { env: {} });
    for (const text of [out, plain.out, server.err, server.out, JSON.stringify(audited())]) assert.ok(!text.includes(SECRET) && !text.includes(encodeURIComponent(SECRET)));
    write(settings({ leeway_s: -1 }));
    assert.notEqual(run(['reload', '--data', server.data]).code, 0);
    assert.equal((await new Browser('bob').signIn(server)).status, 303);
    // Without the section this sign-in does not exist.
    await reload(undefined);
    assert.equal((await ask('GET', '/api/login', { key: null })).json.oidc, null);
    assert.equal((await server.raw('GET', PATH, { key: null })).status, 404);
    await reload(settings());
    assert.equal((await server.stop()).code, 0);
  });
});
