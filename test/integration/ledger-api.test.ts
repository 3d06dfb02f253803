// SPDX-License-Identifier: Apache-2.0
/**
 * Who reads which records, through the API server: on a real one, whose aggregation layer is
 * configured.
 */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import type { ComponentProcess } from '../support/cluster/component-process.ts';
import { frontProxyFlags } from '../support/cluster/front-proxy.ts';
import {
  applyManifests,
  componentKubeconfig,
  SYSTEM_NAMESPACE,
} from '../support/cluster/installation.ts';
import { issuedRecord } from '../support/ledger/records.ts';
import { tlsCertificate } from '../support/pki/tls-certificate.ts';
import { verdictOf } from '../ledger/build.ts';
import {
  direct,
  keysInSecret,
  ledgerCommand,
  logFile,
  RAW,
  serveBehindApiServer,
  SERVICE,
} from './ledger/api-stand.ts';
import { LedgerStand } from './ledger/stand.ts';

const PATIENCE = 120_000;
const component = { name: 'pcr-issuer', version: '0.1.0', replica: 'pcr-issuer-0' };

let directory: string;
let cluster: Cluster;
let stand: LedgerStand;
const running: ComponentProcess[] = [];

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'ledger-api-'));
  const flags = { 'kube-apiserver': await frontProxyFlags(directory) };
  cluster = await startCluster({ version: '1.37', nodes: 0, flags });
  await applyManifests(cluster);
  stand = await LedgerStand.create(cluster, { aggregated: true });
  const ledger = await stand.startLedger();
  running.push(ledger);
  const token = await stand.token('countersign-pcr-issuer');
  // Of team-1 to team-6, one of a person, and one of a ServiceAccount of team-1.
  const records = [1, 2, 3, 4, 5, 6].map((n) =>
    issuedRecord(n, { key: `pcr-issuer/${n}`, component }),
  );
  const csr = { kind: 'CertificateSigningRequest', name: 'csr', uid: 'csr' };
  const jane = { user: { username: 'jane', groups: ['dev'] } };
  const account = {
    user: { username: 'system:serviceaccount:team-1:web' },
    serviceAccount: { namespace: 'team-1', name: 'web' },
  };
  records.push(
    issuedRecord(7, { key: 'pcr-issuer/7', component, request: csr, requester: jane }),
    issuedRecord(8, { key: 'pcr-issuer/8', component, request: csr, requester: account }),
  );
  assert.deepEqual(await stand.append(token, ...records), Array(8).fill('kept'));
  running.push(...(await serveBehindApiServer(cluster, stand)));
});

after(async () => {
  await stand.stop();
  await Promise.all(running.map((each) => each.kill()));
  await cluster.stop();
  rmSync(directory, { recursive: true, force: true });
});

test('authority writes the CA into the APIService, and the API server trusts ledger', async () => {
  await cluster.kubectl([
    'wait',
    `apiservice/${SERVICE}`,
    '--for=condition=Available',
    `--timeout=${PATIENCE / 1000}s`,
  ]);
  // The API server joins an Available APIService to its discovery a moment later.
  await until('records are in the discovery', PATIENCE, async () => {
    const args = ['api-resources', '--api-group=ledger.countersign.dev'];
    const { stdout } = await cluster.kubectl(args);
    return /^records +ledger\.countersign\.dev\/v1alpha1 +true +Record$/m.test(stdout);
  });
});

test('authority changes nothing else of it', async () => {
  const kubeconfig = await componentKubeconfig(cluster, 'authority');
  const spec = { service: { name: 'elsewhere', namespace: 'default' } };
  const patch = ['patch', 'apiservice', SERVICE, '--type=merge', '-p', JSON.stringify({ spec })];
  await assert.rejects(
    cluster.kubectl(['--kubeconfig', kubeconfig, ...patch]),
    /may not change anything but spec\.caBundle/,
  );
});

async function namesIn(...args: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await cluster.kubectl(['get', 'records', '--no-headers', ...args]);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map(
      (line) =>
        line
          .trim()
          .split(/ +/)
          .find((word) => /^1-\d+$/.test(word)) ?? '',
    );
}

test('kubectl prints records: of a namespace, of all, and by what is known of them', async () => {
  // That of a ServiceAccount's CertificateSigningRequest is its namespace's.
  assert.deepEqual(await namesIn('-n', 'team-1'), ['1-7', '1-0']);
  const all = ['1-7', '1-6', '1-5', '1-4', '1-3', '1-2', '1-1', '1-0'];
  assert.deepEqual(await namesIn('-A'), all);
  assert.deepEqual(await namesIn('-A', '--chunk-size=3'), all);
  assert.deepEqual(await namesIn('-A', '--field-selector', 'user=jane'), ['1-6']);
  assert.deepEqual(await namesIn('-n', 'team-3', '--field-selector', 'pod=pod-3'), ['1-2']);
  const { stdout } = await cluster.kubectl(['get', 'records', '-n', 'team-3', '-o', 'wide']);
  assert.match(stdout, /^NAME +KIND +SIGNER +FOR +REQUEST +RESULT +EXPIRES +AGE +RULE +CA$/m);
  assert.match(stdout, /pod team-3\/pod-3 .* allow /);
});

test('a team sees its own: with a RoleBinding in its namespace, and nothing of others', async () => {
  const bind = ['create', 'rolebinding', 'readers', '-n', 'team-1', '--user=lea'];
  await cluster.kubectl(['create', 'namespace', 'team-1']);
  await cluster.kubectl([...bind, '--clusterrole=countersign-ledger-reader']);
  const asLea = (...args: readonly string[]): Promise<unknown> =>
    cluster.kubectl(['get', ...args, '--as=lea']);
  assert.deepEqual(await namesIn('-n', 'team-1', '--as=lea'), ['1-7', '1-0']);
  await asLea('record', '1-0', '-n', 'team-1');
  await assert.rejects(asLea('records', '-n', 'team-2'), /Forbidden/);
  await assert.rejects(asLea('records', '-A'), /Forbidden/);
  await assert.rejects(asLea('record', '1-1', '-n', 'team-1'), /NotFound/);
  await assert.rejects(asLea('record', '1-1', '-n', 'team-2'), /Forbidden/);
  await assert.rejects(asLea('--raw', `${RAW}/records/1-6`), /Forbidden/);
});

test('the ledger asks for itself: list alone is not enough', async () => {
  const role = ['create', 'clusterrole', 'listers', '--verb=list'];
  await cluster.kubectl([...role, '--resource=records.ledger.countersign.dev']);
  await cluster.kubectl([
    'create',
    'clusterrolebinding',
    'l',
    '--clusterrole=listers',
    '--user=li',
  ]);
  await until('the API server lets them ask', PATIENCE, async () => {
    const list = cluster.kubectl(['get', 'records', '-A', '--as=li']);
    const said = await list.then(
      () => 'records',
      (error: unknown) => String(error),
    );
    assert.notEqual(said, 'records');
    return said.includes('cannot get resource');
  });
});

test('a record has its proof, and the logs are files', async () => {
  const raw = async (path: string): Promise<string> =>
    (await cluster.kubectl(['get', '--raw', `${RAW}${path}`])).stdout;
  const record = JSON.parse(await raw('/namespaces/team-2/records/1-1')) as { proof?: string };
  assert.match(record.proof ?? '', /^c2sp\.org\/tlog-proof@v1\nextra \S+\nindex 1\n/);
  assert.match(await raw('/logs/1/checkpoint'), /^countersign\.local\/ledger\/\d{4}\n8\n/);
  const { notes } = JSON.parse(await raw('/logs/1/checkpoints')) as { notes: string[] };
  assert.equal(notes.at(-1), await raw('/logs/1/checkpoint'));
});

const countersign = (...args: readonly string[]): ReturnType<typeof ledgerCommand> =>
  ledgerCommand(cluster, ...args);

test('ledger search prints a table, CSV, PEM and JSON, page by page', async () => {
  const found = await countersign('search', '--pod', 'team-3/pod-3');
  assert.equal(found.code, 0, found.stderr);
  assert.match(found.stdout, /^NAME +KIND +NAMESPACE.*\n1-2 +issued +team-3 .*pod team-3\/pod-3/);
  const csv = await countersign('search', '-o', 'csv', '--user', 'jane');
  assert.match(csv.stdout, /^name,kind,.*\n1-6,issued,,.*,jane,jane,/);
  const pem = await countersign('search', '-o', 'pem', '-n', 'team-4');
  assert.equal(new X509Certificate(pem.stdout).subject, 'CN=pod-4');
  const first = await countersign('search', '-o', 'json', '--limit', '3');
  const { items, metadata } = JSON.parse(first.stdout) as {
    items: { metadata: { name: string } }[];
    metadata: { continue: string };
  };
  assert.equal(items.length, 3);
  const rest = await countersign('search', '-o', 'json', '--continue', metadata.continue);
  assert.equal((JSON.parse(rest.stdout) as { items: [] }).items.length, 5);
  assert.equal((await countersign('search', '--user', 'nobody')).code, 3);
  assert.equal((await countersign('search', '--serial', 'xyz')).code, 2);
});

test('ledger show, prove and verify', async () => {
  const shown = await countersign('show', '1-2');
  assert.match(shown.stdout, /^for +pod team-3\/pod-3$/m);
  assert.match(shown.stdout, /^serial +5a0000000000000003$/m);
  const proof = await countersign('prove', '1-2');
  assert.match(proof.stdout, /^c2sp\.org\/tlog-proof@v1\n.*\nindex 2\n/);
  const verified = await countersign('verify');
  assert.equal(verified.code, 0, verified.stdout + verified.stderr);
  assert.match(
    verified.stdout,
    /^1 logs, 8 entries, 8 records, \d+ checkpoints; removed with a record of it: 0 by retention, 0 by erasure\nthe ledger is verified\n/,
  );
  const other = join(directory, 'other.note');
  writeFileSync(
    other,
    (await stand.read((store) => store.checkpoint(1)))?.replace(/\n8\n/, '\n7\n') ?? '',
  );
  const forged = await countersign('verify', '--checkpoint', other);
  assert.equal(forged.code, 3);
  assert.match(forged.stdout, /does not fit the text/);
});

test('an export goes on after the last whole line of its file', async () => {
  const file = join(directory, 'records.jsonl');
  assert.equal((await countersign('export', '--file', file)).code, 0);
  const whole = readFileSync(file, 'utf8');
  const lines = whole.trimEnd().split('\n');
  assert.equal(lines.length, 8);
  writeFileSync(file, `${lines.slice(0, 5).join('\n')}\n${(lines[5] ?? '').slice(0, 40)}`);
  const again = await countersign('export', '--file', file);
  assert.match(again.stderr, /^3 records, after 1-4$/m);
  assert.equal(readFileSync(file, 'utf8'), whole);
  writeFileSync(file, 'notes of somebody\n');
  assert.equal((await countersign('export', '--file', file)).code, 1);
});

test('other programs verify what keys, prove and export print with the log’s files', async () => {
  const printed = (await countersign('keys', '-o', 'json')).stdout;
  const [{ verifierKey } = { verifierKey: '' }] = JSON.parse(printed) as { verifierKey: string }[];
  const proof = join(directory, 'printed.tlog-proof');
  writeFileSync(proof, (await countersign('prove', '1-2')).stdout);
  assert.equal(await verdictOf('inclusion', verifierKey, [proof]), '');
  const log = join(directory, 'log');
  for (const path of ['checkpoint', 'tile/0/000.p/8', 'tile/entries/000.p/8']) {
    mkdirSync(dirname(join(log, path)), { recursive: true });
    writeFileSync(join(log, path), await logFile(stand, path));
  }
  assert.equal(await verdictOf('tlog', verifierKey, [log]), '');
  const exported = join(directory, 'judged.jsonl');
  assert.equal((await countersign('export', '--file', exported)).code, 0);
  const tile = join(log, 'tile/0/000.p/8');
  assert.equal(await verdictOf('leaves', tile, [exported]), '');
  writeFileSync(exported, readFileSync(exported, 'utf8').replace('"pod-3"', '"pod-4"'));
  assert.match(await verdictOf('leaves', tile, [exported]), /record 1-2 is not the leaf/);
});

test('an authorized user removes a person’s records, with a proof; no namespace can', async () => {
  const asReader = countersign('erase', '--user', 'jane', '--yes', '--as', 'lea', '-n', 'team-1');
  assert.equal((await asReader).code, 3);
  const own = countersign('erase', '1-0', '--yes', '--as', 'lea', '-n', 'team-1');
  assert.match((await own).stderr, /cannot create resource "erasures"/);
  const planned = await countersign('erase', '--user', 'jane');
  assert.match(planned.stdout + planned.stderr, /1-6 [^]*Repeat it with --yes/);
  const erased = await countersign('erase', '--user', 'jane', '--yes');
  assert.match(erased.stdout, /1 record removed; record 1-8 documents it/, erased.stderr);
  const get = cluster.kubectl(['get', '--raw', `${RAW}/records/1-6`]);
  await assert.rejects(get, /removed by an erasure at .*, see record 1-8/);
  const proof = await until('a checkpoint covers it', PATIENCE, async () => {
    const { code, stdout } = await countersign('prove', '1-6');
    return code === 0 && stdout;
  });
  assert.match(proof, /^c2sp\.org\/tlog-proof@v1\nindex 6\n/);
  assert.match((await countersign('verify')).stdout, /0 by retention, 1 by erasure/);
  await cluster.kubectl(['delete', 'namespace', 'team-1', `--timeout=${PATIENCE / 1000}s`]);
  assert.deepEqual(await namesIn('-n', 'team-1'), ['1-7', '1-0']);
});

test('nobody but the API server is believed who asks', async () => {
  assert.equal(await direct(stand, {}), 401);
  assert.equal(await direct(stand, await tlsCertificate('front-proxy-client')), 401);
  const [cert, key] = ['crt', 'key'].map((end) =>
    readFileSync(join(directory, `front-proxy.${end}`), 'utf8'),
  );
  assert.equal(await direct(stand, { cert: cert ?? '', key: key ?? '' }), 200);
});

test('a key rotation needs patch on its Secret, not get: try, move, then finish', async () => {
  const namespace = ['-n', SYSTEM_NAMESPACE];
  const deployment = ['create', 'deployment', 'countersign-ledger', '--image=x', '--replicas=0'];
  await cluster.kubectl([...deployment, ...namespace]);
  const role = ['create', 'role', 'rotators', ...namespace, '--verb=patch'];
  const named = ['--resource-name=countersign-ledger-key', '--resource-name=countersign-ledger'];
  await cluster.kubectl([...role, '--resource=secrets,deployments.apps', ...named]);
  const binding = ['create', 'rolebinding', 'rotators', ...namespace, '--role=rotators'];
  await cluster.kubectl([...binding, '--user=rota']);
  const rotate = (...args: readonly string[]) => countersign('rotate-key', '--as', 'rota', ...args);
  await until('rota may', PATIENCE, async () => (await rotate()).code === 0);
  assert.deepEqual(await keysInSecret(cluster), ['log.key']);
  const rotated = await rotate('--yes');
  assert.equal(rotated.code, 0, rotated.stderr);
  // A ledger that has got its Lease back meanwhile has made the next key.
  assert.ok((await keysInSecret(cluster)).includes('previous.key'));
  const again = await rotate('--yes');
  assert.match(again.stderr, /with a former key, complete the rotation first/);
  // The ledger makes the next key when it restarts. This Deployment has no pod.
  const key = { op: 'copy', from: '/data/previous.key', path: '/data/log.key' };
  const made = ['--type=json', `--patch=${JSON.stringify([key])}`];
  await cluster.kubectl(['patch', 'secret', 'countersign-ledger-key', ...namespace, ...made]);
  assert.equal((await rotate('--complete', '--yes')).code, 0);
  assert.ok(!(await keysInSecret(cluster)).includes('previous.key'));
  assert.match((await rotate('--complete', '--yes')).stderr, /there is nothing to complete/);
  const { stdout } = await cluster.kubectl([
    'get',
    'deployment',
    'countersign-ledger',
    ...namespace,
    '-o',
    'json',
  ]);
  assert.match(stdout, /kubectl\.kubernetes\.io\/restartedAt/);
});
