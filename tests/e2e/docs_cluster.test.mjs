// The guide of clusters, next to the servers that its commands need.
import { runConsoles } from './consoles.mjs';
import { database, skip } from './cluster.mjs';

const noBus = !process.env.PARLEY_TEST_NATS && (process.env.PARLEY_TEST_NATS_SKIP ?? 'run it by tests/contract/with_nats');
for (const page of ['docs/guide/cluster.md', 'docs/zh-CN/guide/cluster.md'])
  runConsoles([[page, 'docs/guide/examples']], { skip: skip || noBus, env: skip || noBus ? {} : { STORE: database(), BUS: process.env.PARLEY_TEST_NATS } });
