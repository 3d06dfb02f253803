// SPDX-License-Identifier: Apache-2.0
/**
 * `countersign authority …` on a real cluster: orders, permissions, and pods that are recreated.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { AuthorityStatus, ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { Pod } from '#api/object/pod.ts';
import { PREPARE_AT } from '#api/signer/rotation-annotations.ts';
import type { OperationReport } from '#operations/report.ts';
import type { SignerSummary } from '#operations/show/signer-summary.ts';
import { until } from '../cluster/until.ts';
import { BUNDLE, countersign, type CommandResult } from '../support/cluster/countersign.ts';
import { getSigner, startFixture, type Fixture } from '../support/cluster/fixture.ts';
import { createPod, createTeam, filesOf } from '../support/cluster/pods.ts';
import { applyBudget, applyWorkload, readyPods } from '../support/cluster/workloads.ts';
import { apply } from '../support/cluster/apply.ts';

/** Kubelets read a bundle within a second or so here; ten minutes are for real ones. */
const PROPAGATION = '3s';
const WAIT_MS = 120_000;
const SIGNER = 'example.com/workload';
const WEB = {
  namespace: 'team-a',
  name: 'web',
  serviceAccount: 'web',
  signerName: SIGNER,
  replicas: 2,
};
const BARE = { namespace: 'team-a', name: 'bare', serviceAccount: 'web' };

let fixture: Fixture;
before(async () => {
  fixture = await startFixture({ args: ['--propagation', PROPAGATION] });
  await createTeam(fixture.cluster, 'team-a', ['web']);
});
after(() => fixture.stop());

/** Runs a verb as the administrator, or as `user`. */
function verb(
  args: readonly string[],
  user?: string,
  onLine?: (line: string) => void,
): Promise<CommandResult> {
  const identity = user === undefined ? [] : ['--as', user];
  const { kubeconfig } = fixture.cluster;
  const flags = ['--kubeconfig', kubeconfig, '--propagation', PROPAGATION, ...identity];
  return countersign(['authority', ...args, ...flags], onLine, BUNDLE);
}

async function report(
  args: readonly string[],
): Promise<OperationReport & { readonly code: number | null }> {
  const { stdout, stderr, code } = await verb([...args, '-o', 'json']);
  assert.notEqual(stdout, '', stderr);
  return { ...(JSON.parse(stdout) as OperationReport), code };
}

const workload = (): Promise<ClusterSigner> => getSigner(fixture.cluster, 'workload');

async function inPhase(phase: AuthorityStatus['phase']): Promise<AuthorityStatus> {
  return until(`a CA is ${phase}`, WAIT_MS, async () => {
    const { status } = await workload();
    return status?.authorities?.find((each) => each.phase === phase);
  });
}

test('show says which CA signs and since when it is served, as a table and as YAML', async () => {
  await until('the bundle is served', WAIT_MS, async () => {
    const { stdout } = await verb(['show', 'example.com/workload', '-o', 'wide']);
    return /^workload +True +sha256:[0-9a-f]{16} +Active +in \d+\w .* example\.com\/workload +\S+Z +\S+Z +- +\S+Z$/m.test(
      stdout,
    );
  });
  const { stdout } = await verb(['show', '-o', 'yaml']);
  const { items } = parse(stdout) as { items: readonly SignerSummary[] };
  assert.deepEqual(
    items.map(({ name, authority, ready }) => [
      name,
      authority,
      `${ready.status}: ${ready.reason}`,
    ]),
    [
      ['people', 'secret', 'True: Checked'],
      ['workload', 'managed', 'True: Checked'],
    ],
  );
});

test('show takes labels, which the API server evaluates, and prints names', async () => {
  const named = async (...flags: string[]): Promise<string> =>
    (await verb(['show', '-o', 'name', ...flags])).stdout;
  assert.equal(await named('people'), 'clustersigner.countersign.dev/people\n');
  assert.equal(await named('-l', 'no=such'), '');
  assert.equal((await verb(['show', '-l', 'a b'])).code, 1);
  assert.equal((await verb(['show', 'example.com/nobody'])).code, 1);
});

test('prepare --dry-run is validated by the API server and changes nothing', async () => {
  const before = await workload();
  const { outcome, change, code } = await report(['prepare', 'workload', '--dry-run']);
  assert.deepEqual([outcome, code], ['changed', 0]);
  assert.ok(change?.annotations?.[PREPARE_AT] !== undefined);
  assert.equal((await workload()).metadata.resourceVersion, before.metadata.resourceVersion);
});

test('without the permission prepare fails with 403, in a dry run too', async () => {
  const rules = [
    { apiGroups: ['countersign.dev'], resources: ['clustersigners'], verbs: ['get', 'list'] },
  ];
  await allow('eve', rules);
  assert.equal((await verb(['show', 'workload'], 'eve')).code, 0);
  for (const more of [[], ['--dry-run']]) {
    const { code, stderr } = await verb(['prepare', 'workload', ...more], 'eve');
    assert.equal(code, 1);
    assert.match(stderr, /403 Forbidden/);
  }
});

test('prepare rejects a CA that the user brings, and taint a CA that does not exist', async () => {
  const own = await verb(['prepare', 'people', '--force']);
  assert.equal(own.code, 3);
  assert.match(own.stdout, /only reads Secret countersign-keys\/people-ca/);
  assert.equal((await verb(['taint', 'workload', 'deadbeef'])).code, 3);
  assert.equal((await verb(['show', 'nobody'])).code, 1);
});

test('after prepare and activate the new CA signs once served, and the old one retires', async () => {
  const first = await inPhase('Active');
  assert.equal((await report(['activate', 'workload'])).outcome, 'refused');
  assert.equal((await report(['prepare', 'workload'])).outcome, 'changed');
  const next = await inPhase('Prepared');
  assert.equal((await report(['prepare', 'workload'])).outcome, 'unchanged');
  const activated = await until('it may be activated', WAIT_MS, async () => {
    const { outcome } = await report(['activate', 'workload', next.fingerprint.slice(0, 20)]);
    return outcome === 'changed';
  });
  assert.ok(activated);
  await until(
    'it signs',
    WAIT_MS,
    async () => (await inPhase('Active')).fingerprint === next.fingerprint,
  );
  assert.equal((await inPhase('Retiring')).fingerprint, first.fingerprint);
});

let tainted: AuthorityStatus;
let old: readonly Pod[];

test('a dry run of taint says which pods would be evicted, and which could not be', async () => {
  const { cluster } = fixture;
  await applyWorkload(cluster, { ...WEB, minAvailable: 2 });
  await createPod(cluster, { ...BARE, node: 'node-1', signerName: SIGNER, keyType: 'ED25519' });
  old = await readyPods(cluster, WEB);
  const { credentials } = await filesOf(cluster, BARE);
  tainted = await inPhase('Active');
  assert.ok(await isIssuedBy(credentials, tainted));
  const flags = ['--restart', '--dry-run', '--rate', '600'];
  const rehearsed = await report(['taint', 'workload', tainted.fingerprint, ...flags]);
  assert.equal(rehearsed.code, 4);
  assert.equal(rehearsed.pods?.affected.length, 3);
  assert.match(leftOf(rehearsed), /budget.*budget.*no controller would replace it/s);
  assert.deepEqual(uidsOf(await readyPods(cluster, WEB)), uidsOf(old));
  assert.equal((await inPhase('Active')).fingerprint, tainted.fingerprint);
});

test('taint replaces the CA and evicts pods with its leaves as fast as budgets allow', async () => {
  const { cluster } = fixture;
  const lines: string[] = [];
  const flags = ['--restart', '--rate', '600', '--timeout', '4m', '-o', 'json'];
  const running = verb(['taint', 'workload', tainted.fingerprint, ...flags], undefined, (line) =>
    lines.push(line),
  );
  await until(`both pods are blocked`, WAIT_MS, () => {
    const blocked = lines.filter((each) => each.startsWith('waiting: team-a/web-'));
    if (blocked.length === 2) return true;
    throw new Error(`it said ${lines.join('; ')}`);
  });
  assert.deepEqual(uidsOf(await readyPods(cluster, WEB)), uidsOf(old));
  await applyBudget(cluster, { ...WEB, minAvailable: 1 });
  const { stdout, code } = await running;
  const done = JSON.parse(stdout) as OperationReport;
  assert.equal(code, 4, stdout);
  assert.deepEqual(done.restarted?.evicted.map(({ uid }) => uid).toSorted(), uidsOf(old));
  assert.deepEqual(
    done.restarted.left.map(({ pod }) => pod.name),
    [BARE.name],
  );
});

test('evicted pods come back with a leaf of the new CA', async () => {
  const { cluster } = fixture;
  const active = await inPhase('Active');
  assert.notEqual(active.fingerprint, tainted.fingerprint);
  for (const { metadata } of await readyPods(cluster, WEB)) {
    const { credentials } = await filesOf(cluster, { namespace: 'team-a', name: metadata.name });
    assert.ok(await isIssuedBy(credentials, active), `${metadata.name} has a leaf of the new CA`);
  }
});

test('revoke distrusts the CA once no pod holds a leaf of it, and not before', async () => {
  const active = await inPhase('Active');
  const signs = await report(['revoke', 'workload', active.fingerprint]);
  assert.equal(signs.code, 3);
  assert.match(signs.refusals.join(), /is active/);
  const held = await report(['revoke', 'workload', tainted.fingerprint]);
  assert.equal(held.code, 3);
  assert.match(held.refusals.join(), /^1 running pods may hold leaves/);
  await allow('mallory', [
    { apiGroups: ['countersign.dev'], resources: ['clustersigners'], verbs: ['get'] },
  ]);
  const blind = await verb(['revoke', 'workload', tainted.fingerprint], 'mallory');
  assert.equal(blind.code, 3);
  assert.match(blind.stdout, /pods that you may not list/);

  const rest = await report(['taint', 'workload', tainted.fingerprint, '--restart', '--bare-pods']);
  assert.equal(rest.code, 0);
  // What the Deployment's pods got last is of another CA: they are not asked for a second time.
  assert.deepEqual(
    rest.restarted?.evicted.map(({ name }) => name),
    [BARE.name],
  );
  await until('the bare pod is gone', WAIT_MS, async () => {
    const { stdout } = await fixture.cluster.kubectl(['get', 'pods', '-n', 'team-a', '-o', 'name']);
    return !stdout.includes(BARE.name);
  });
  const revoked = await report(['revoke', 'workload', tainted.fingerprint]);
  assert.deepEqual([revoked.code, revoked.outcome], [0, 'changed'], revoked.refusals.join());
  assert.deepEqual((await workload()).spec.authority.managed?.distrusted, [tainted.fingerprint]);
  await until('its anchor is out of the bundle', WAIT_MS, async () => {
    const { stdout } = await fixture.cluster.kubectl([
      'get',
      'clustertrustbundle',
      'example.com:workload:primary',
      '-o',
      'jsonpath={.spec.trustBundle}',
    ]);
    return !stdout.includes((tainted.anchors ?? '').trim());
  });
  assert.equal((await inPhase('Distrusted')).fingerprint, tainted.fingerprint);
});

function leftOf({ restarted }: OperationReport): string {
  return (restarted?.left ?? [])
    .map(({ why }) => why)
    .toSorted()
    .join('\n');
}

const uidsOf = (pods: readonly Pod[]): readonly string[] =>
  pods.map(({ metadata }) => metadata.uid).toSorted();

async function isIssuedBy(credentials: string, { anchors }: AuthorityStatus): Promise<boolean> {
  const text = await readFile(credentials, 'utf8');
  const leaf = new X509Certificate(text.slice(text.indexOf('-----BEGIN CERTIFICATE')));
  return leaf.verify(new X509Certificate(anchors ?? '').publicKey);
}

/** Gives a user these rights and no other. */
async function allow(user: string, rules: readonly object[]): Promise<void> {
  const api = 'rbac.authorization.k8s.io';
  const items = [
    { apiVersion: `${api}/v1`, kind: 'ClusterRole', metadata: { name: user }, rules },
    {
      apiVersion: `${api}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: user },
      roleRef: { apiGroup: api, kind: 'ClusterRole', name: user },
      subjects: [{ apiGroup: api, kind: 'User', name: user }],
    },
  ];
  const list = { apiVersion: 'v1', kind: 'List', items };
  await apply(fixture.cluster, list);
}
