// SPDX-License-Identifier: Apache-2.0
/**
 * How the ledger is run: with the arguments of the manifests, places with TLS by a private CA, and
 * two replicas on PostgreSQL.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import type { ConfigMap } from '#api/object/object.ts';
import { openPostgres, openStore } from '#ledger/index.ts';
import { planOf } from '#install/values/plan.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { freePort } from '../cluster/ports.ts';
import { until } from '../cluster/until.ts';
import { verdictOf } from '../ledger/build.ts';
import type { ComponentProcess } from '../support/cluster/component-process.ts';
import { applyManifests, SYSTEM_NAMESPACE } from '../support/cluster/installation.ts';
import { startPostgres, type Postgres } from '../support/ledger/postgres.ts';
import { issuedRecord } from '../support/ledger/records.ts';
import { tlsCertificate } from '../support/pki/tls-certificate.ts';
import { LedgerStand } from './ledger/stand.ts';

const PATIENCE = 120_000;
const MOUNTED = '/run/countersign/checkpoints';
const component = { name: 'pcr-issuer', version: '0.1.0', replica: 'pcr-issuer-0' };
const record = (n: number) => issuedRecord(n, { key: `pcr-issuer/${n}`, component });

let directory: string;
let cluster: Cluster;
let token: string;
before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'ledger-run-'));
  cluster = await startCluster({ version: '1.37', nodes: 0 });
  await applyManifests(cluster);
});
after(async () => {
  await cluster.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** A place that keeps what it is sent. */
interface Place {
  readonly notes: { readonly body: string; readonly headers: object }[];
  readonly end: () => Promise<void>;
}

async function startPlace(
  port: number,
  pair: { readonly cert: string; readonly key: string },
): Promise<Place> {
  const notes: Place['notes'] = [];
  const server: Server = createServer(pair, (request, response) => {
    void text(request).then((body) => {
      notes.push({ body, headers: request.headers });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const end = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { notes, end };
}

/**
 * The arguments of the manifests for such values, with another directory in place of the mounted
 * Secret.
 */
function argumentsFor(webhook: string, secret: string): readonly string[] {
  const checkpoints = {
    webhook,
    signWebhook: true,
    objectStore: true,
    ownCa: true,
    interval: '1s',
  };
  const values = {
    signers: [{ name: 'example.com/workload' }],
    components: { ledger: { enabled: true } },
    ledger: { checkpoints },
  };
  const { parts } = planOf(values, { namespace: 'default', version: '0.1.0' });
  return (parts.ledgerArguments ?? []).map((each) => each.replace(MOUNTED, secret));
}

async function metric(ledger: ComponentProcess, name: string, of: string): Promise<number> {
  const lines = (await ledger.metrics()).split('\n');
  const line = lines.find((each) => each.startsWith(`${name}{`) && each.includes(`"${of}"`));
  return Number(line?.split(' ').at(-1));
}

test('checkpoints reach a private CA’s targets; another CA’s is rejected and counted', async () => {
  const stand = await LedgerStand.create(cluster);
  token = await stand.token('countersign-pcr-issuer');
  const [own, other] = [await tlsCertificate('places'), await tlsCertificate('others')];
  const [hookPort, storePort] = [await freePort(), await freePort()];
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  for (const [file, contents] of Object.entries({
    'ca.crt': own.cert,
    'webhook-secret': secret,
    'object-url': `https://127.0.0.1:${storePort}/bucket/checkpoint?signature=abc\n`,
  }))
    writeFileSync(join(directory, file), contents);
  const hook = await startPlace(hookPort, own);
  const wrong = await startPlace(storePort, other);
  const ledger = await stand.startLedger(
    ...argumentsFor(`https://127.0.0.1:${hookPort}/checkpoints`, directory),
  );
  assert.deepEqual(await stand.append(token, record(1), record(2)), ['kept', 'kept']);
  const note = await until('the webhook has a checkpoint', PATIENCE, () =>
    Promise.resolve(hook.notes.find(({ body }) => body.split('\n')[1] === '2')),
  );
  const files = ['note', 'headers.json'].map((name) => join(directory, name));
  writeFileSync(files[0] ?? '', note.body);
  writeFileSync(files[1] ?? '', JSON.stringify(note.headers));
  assert.equal(await verdictOf('webhook', secret, files), '');
  const since = 'countersign_ledger_checkpoint_unpublished_since_timestamp_seconds';
  await until('the object store’s certificate is refused', PATIENCE, async () => {
    const { text: said } = await ledger.readyz();
    return /object-store lacks the last checkpoint: .*certificate/.test(said);
  });
  assert.ok((await metric(ledger, since, 'object-store')) > 0);
  assert.equal(await metric(ledger, since, 'webhook'), 0);
  assert.equal(wrong.notes.length, 0);
  assert.ok(!JSON.stringify(ledger.log).includes('signature=abc'));
  await wrong.end();
  const right = await startPlace(storePort, own);
  const put = await until('the object store has a checkpoint', PATIENCE, () =>
    Promise.resolve(right.notes.at(-1)),
  );
  assert.equal(put.body.split('\n')[1], '2');
  await until('nothing is missing', PATIENCE, async () => {
    return (await metric(ledger, since, 'object-store')) === 0;
  });
  await stand.stop();
  await Promise.all([hook.end(), right.end()]);
});

for (const flag of ['--listen-crl', '--listen-ledger']) {
  test(`a ledger whose port is taken (${flag}) ends with an error that names the flag`, async () => {
    const stand = await LedgerStand.create(cluster);
    const taken = `127.0.0.1:${await freePort()}`;
    const place = await startPlace(Number(taken.split(':')[1]), await tlsCertificate('taken'));
    try {
      const { code, said } = await stand.endedLedger(flag, taken);
      assert.match(said, new RegExp(`^countersign: ${flag} ${taken}: listen EADDRINUSE`, 'm'));
      assert.equal(code, 2, 'a usage error');
    } finally {
      await place.end();
      await stand.stop();
    }
  });
}

async function published(): Promise<Readonly<Record<string, string>>> {
  const of = ['get', 'configmap', 'countersign-ledger-checkpoints', '-n', SYSTEM_NAMESPACE];
  const { stdout } = await cluster.kubectl([...of, '-o', 'json']);
  return (JSON.parse(stdout) as ConfigMap).data ?? {};
}

/** Of the ledger before: its records are not in the next one's database. */
async function emptyCheckpoints(): Promise<void> {
  const empty = JSON.stringify([{ op: 'replace', path: '/data', value: {} }]);
  const of = ['patch', 'configmap', 'countersign-ledger-checkpoints', '-n', SYSTEM_NAMESPACE];
  await cluster.kubectl([...of, '--type=json', '-p', empty]);
}

test('two replicas on PostgreSQL append; one signs, and the other one after its death', async () => {
  await emptyCheckpoints();
  await using server = await startPostgres();
  const url = await server.database('records');
  const file = join(directory, 'url');
  writeFileSync(file, `${url}\n`);
  const stand = await LedgerStand.create(cluster);
  const ports = [await freePort(), await freePort()];
  const [first, second] = await Promise.all(
    ports.map((port) =>
      stand.startLedger(
        '--database-url',
        file,
        '--listen-ledger',
        `127.0.0.1:${port}`,
        '--listen-crl',
        '127.0.0.1:0',
      ),
    ),
  );
  assert.ok(first !== undefined && second !== undefined);
  for (const [at, port] of ports.entries())
    assert.deepEqual(await stand.appendAt(port, token, record(10 + at)), ['kept']);
  const size = async (): Promise<string | undefined> =>
    (await published())['log-1']?.split('\n')[1];
  await until('both records are signed', PATIENCE, async () => (await size()) === '2');
  const head = 'countersign_ledger_checkpoint_timestamp_seconds{log="1"}';
  const isLeader = (await first.metrics()).includes(head);
  const [leader, left, port] = isLeader
    ? [first, second, ports[1] ?? 0]
    : [second, first, ports[0] ?? 0];
  assert.ok(!(await left.metrics()).includes(head), 'one replica signs');
  await leader.kill();
  assert.deepEqual(await stand.appendAt(port, token, record(12), record(11)), ['kept', 'kept']);
  await until('the other one signs', PATIENCE, async () => (await size()) === '3');
  const store = await openStore(openPostgres(url));
  const report = await store.verify([(await published())['log-1'] ?? '']);
  assert.deepEqual([report.records, report.logs, report.findings], [3, 1, []]);
  await store.close();
  await stand.stop();
});

for (const [how, takeAway] of [
  ['has ended', (server: Postgres) => server.stop()],
  [
    'hangs',
    (server: Postgres) => {
      signalled(server, 'SIGSTOP');
      return Promise.resolve();
    },
  ],
] as const) {
  test(`a ledger whose PostgreSQL ${how} says so to who appends, and ends at SIGTERM`, async () => {
    await emptyCheckpoints();
    await using server = await startPostgres();
    const file = join(directory, 'url');
    writeFileSync(file, `${await server.database('away')}\n`);
    const stand = await LedgerStand.create(cluster);
    try {
      const ledger = await stand.startLedger('--database-url', file);
      assert.deepEqual(await stand.append(token, record(20)), ['kept']);
      await takeAway(server);
      await assert.rejects(
        stand.append(token, record(21)),
        /the ledger takes no records now: .*PostgreSQL.* \(HTTP 503\)/,
      );
      assert.equal(await ledger.stop(), 0);
    } finally {
      if (how === 'hangs') signalled(server, 'SIGCONT');
      await stand.stop();
    }
  });
}

/** Those that are still there. */
function signalled(server: Postgres, signal: 'SIGSTOP' | 'SIGCONT'): void {
  for (const each of server.processes()) process.kill(each, signal);
}
