// Several servers on one PostgreSQL: nodes, each a process with its own data directory.
import { randomUUID } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { clientOf, serve } from './live.mjs';

export const postgres = process.env.PARLEY_TEST_POSTGRES;
// If a NATS is running (tests/contract/with_nats), letters go through it.
const bus = process.env.PARLEY_TEST_NATS ? ['--bus', process.env.PARLEY_TEST_NATS] : [];
export const skip = !postgres && (process.env.PARLEY_TEST_POSTGRES_SKIP ?? 'run it by tests/contract/with_postgres');

// Runs SQL next to the servers; returns the first column of the first row.
export function sql(url, text) {
  return execFileSync('psql', ['-X', '-q', '-A', '-t', url.replace(/^postgres:/, 'postgresql:'), '-c', text], { encoding: 'utf8' }).trim();
}

// Creates a database for one cluster.
export function database() {
  const name = `c${randomUUID().replaceAll('-', '')}`;
  sql(postgres, `CREATE DATABASE ${name}`);
  return postgres.replace('/postgres?', `/${name}?`);
}

export class Cluster {
  constructor(t, { args = [], env = {}, url = database(), acceptMs = 1 } = {}) {
    Object.assign(this, { t, args, env, url, acceptMs, nodes: [] });
  }

  // Starts one more node. All nodes accept the same keys.
  async add(name = `n${this.nodes.length + 1}`, { args = [], env = {}, data, command } = {}) {
    const node = await serve({
      args: ['--store', this.url, '--node', name, '--drain-accept', String(this.acceptMs), ...(args.includes('--bus') ? [] : bus), ...this.args, ...args], env: { ...this.env, ...env }, data, command,
    });
    this.t.after(() => node.stop('SIGKILL'));
    this.key ??= node.key;
    node.key = this.key;
    node.name = name;
    node.client = clientOf(node);
    this.nodes.push(node);
    return node;
  }

  // Whether the node runs and is not paused.
  isThere(node) {
    return node.child.exitCode === null && node.child.signalCode === null && !node.isHeld && !node.isReplaced;
  }

  get there() { return this.nodes.filter((node) => this.isThere(node)); }

  any() { return this.there[Math.floor(Math.random() * this.there.length)]; }

  async kill(node) {
    await node.stop('SIGKILL');
  }

  // Starts a node again: with its data, or without, as on a new machine.
  async again(node, { data } = { data: node.data }) {
    const place = this.nodes.indexOf(node);
    const next = await this.add(node.name, { data });
    this.nodes.pop();
    node.isReplaced = true;
    this.nodes[place] = next;
    return next;
  }

  hold(node) {
    node.isHeld = true;
    node.child.kill('SIGSTOP');
  }

  letGo(node) {
    node.child.kill('SIGCONT');
    node.isHeld = false;
  }

  owner(id) {
    return this.sql(`SELECT name FROM sessions JOIN nodes ON writer = owner WHERE state <> 'gone' AND encode(sessions.id, 'hex') = '${id.replace(/^sess_|-/g, '')}'`);
  }

  async start(n) {
    await this.add();
    await Promise.all(Array.from({ length: n - 1 }, (_, i) => this.add(`n${i + 2}`)));
    return this.nodes;
  }

  sql(text) { return sql(this.url, text); }
}

export async function cluster(t, n, options) {
  const made = new Cluster(t, options);
  await made.start(n);
  return made;
}
