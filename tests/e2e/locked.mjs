// A PostgreSQL table locked by another connection: every reader of it waits.
import { spawn } from 'node:child_process';
import { until } from './waiting.mjs';

export const url = process.env.PARLEY_TEST_POSTGRES;
export const skip = !url && (process.env.PARLEY_TEST_POSTGRES_SKIP ?? 'run it by tests/contract/with_postgres');

// Holds a table until released, or until the test is over. `waiting` is the number of connections that wait for a lock.
export async function lockTable(t, name) {
  const psql = spawn('psql', ['-X', '-q', '-A', '-t', url.replace(/^postgres:/, 'postgresql:')], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => { psql.once('exit', resolve); });
  t.after(() => psql.kill());
  let said = '';
  let n = 0;
  psql.stdout.setEncoding('utf8').on('data', (text) => { said += text; });
  const ask = async (sql) => {
    const mark = `answer ${n++}:`;
    psql.stdin.write(`SELECT '${mark}' || (${sql}) || ';';\n`);
    const found = () => said.match(new RegExp(`${mark}(.*);`))?.[1];
    await until(() => found() !== undefined, sql);
    return found();
  };
  psql.stdin.write(`BEGIN; LOCK TABLE ${name} IN ACCESS EXCLUSIVE MODE;\n`);
  await ask("'held'");
  return {
    waiting: async () => Number(await ask('SELECT count(*) FROM pg_locks WHERE NOT granted')),
    letGo: () => { psql.stdin.end('COMMIT;\n'); return ended; },
  };
}
