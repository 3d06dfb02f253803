// SPDX-License-Identifier: Apache-2.0
/**
 * CAs are replaced on a real cluster while pods and people ask for certificates, and components are
 * killed. Whatever was delivered verifies by three validators against the bundle that was served at
 * that very revision.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Secret } from '#api/object/object.ts';
import { ROTATE_AT } from '#api/signer/rotation-annotations.ts';
import { formatTime } from '#api/object/time.ts';
import { createCaRequest, createManagedAuthorities } from '#ca/custody/managed.ts';
import { applyStep } from '#trust/authority/apply/apply-step.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import type { RotationStep } from '#ca/rotation/next-step.ts';
import { until } from '../cluster/until.ts';
import { judge } from '../ca/rotation/cluster/court.ts';
import {
  MANAGED,
  OWN,
  WAIT_MS,
  connect,
  openStand,
  type Stand,
} from '../ca/rotation/cluster/stand.ts';
import type { Delivery } from '../ca/rotation/cluster/story.ts';
import { certificateAuthority } from '../support/ca/generated.ts';
import type { ComponentName, LogLine } from '../support/cluster/component-process.ts';
import { waitForSignerCondition } from '../support/cluster/fixture.ts';
import { KEYS_NAMESPACE, SYSTEM_NAMESPACE } from '../support/cluster/installation.ts';
import { caSecretManifest } from '../support/ca/ca-secret.ts';
import type { RotationReason } from '#ca/rotation/rotation-reason.ts';

const PROPAGATION_SECONDS = 4;
const BACKDATE_MS = 60_000;

let stand: Stand;
const atOnce = new Set<string>();
before(async () => {
  stand = await openStand({
    propagationSeconds: PROPAGATION_SECONDS,
    perSecond: 2,
    managed: {},
  });
  stand.load.start();
});
after(() => stand.stop());

function madeBy(print: string): readonly Delivery[] {
  return stand.story.deliveries.filter(({ leaf }) => stand.story.issuerOf(leaf) === print);
}

/** A pod and somebody else have a leaf of that CA. */
async function signsForAll(print: string): Promise<void> {
  await until(`${print} signs for pods and for people`, WAIT_MS, () => {
    const kinds = new Set(madeBy(print).map(({ kind }) => kind));
    return kinds.has('pcr') && kinds.has('csr');
  });
}

async function kill(...names: readonly ComponentName[]): Promise<void> {
  await Promise.all(names.map((name) => stand.replicas[name].kill()));
}

async function revive(...names: readonly ComponentName[]): Promise<void> {
  await Promise.all(names.map((name) => stand.replicas[name].revive()));
}

const ASKED_OF_ALL = ['approver', 'signer', 'pcr-issuer'] as const;

for (const [from, to] of ['AB', 'BC'] as const) {
  test(`${from} → ${to}: a standby replaces each killed component without long waits`, async () => {
    const before = await stand.inPhase(MANAGED, 'Active');
    await signsForAll(before.fingerprint);
    // The CA that signs now became active before that, by any clock.
    const annotations = { [ROTATE_AT]: formatTime(Date.now() + 2_000) };
    await stand.change(MANAGED, { metadata: { annotations } });
    const next = await stand.inPhase(MANAGED, 'Prepared');
    await kill('authority', 'attester');
    const active = await stand.inPhase(MANAGED, 'Active', before.fingerprint);
    assert.equal(active.fingerprint, next.fingerprint);
    await kill(...ASKED_OF_ALL);
    await signsForAll(active.fingerprint);
    const retiring = await stand.inPhase(MANAGED, 'Retiring');
    assert.equal(retiring.fingerprint, before.fingerprint);
    await revive('authority', 'attester', ...ASKED_OF_ALL);
  });
}

test('distrusting a CA under load moves signing at once; verifiers keep their anchors', async () => {
  const distrusted = await stand.inPhase(MANAGED, 'Active');
  const managed = { distrusted: [distrusted.fingerprint] };
  await stand.change(MANAGED, { spec: { authority: { managed } } });
  const fresh = await stand.inPhase(MANAGED, 'Active', distrusted.fingerprint);
  atOnce.add(fresh.fingerprint);
  await signsForAll(fresh.fingerprint);
  const gone = await stand.inPhase(MANAGED, 'Distrusted');
  assert.equal(gone.fingerprint, distrusted.fingerprint);
  for (const name of ASKED_OF_ALL) {
    for (const { log } of stand.replicas[name].processes) {
      const signedWith = issuersIn(log);
      const back = signedWith.lastIndexOf(distrusted.fingerprint);
      const first = signedWith.indexOf(fresh.fingerprint);
      assert.ok(first < 0 || back < first, `a ${name} signs with what is distrusted again`);
    }
  }
  const [last] = stand.story.deliveries.slice(-1);
  const bundle = stand.story.bundleAt('example.com:workload:primary', last?.revision ?? 0);
  assert.ok(bundle?.spec.trustBundle.includes((distrusted.anchors ?? '').trim()) === false);
});

/** The CAs that a process signed with, one for each request, in its own order. */
function issuersIn(log: readonly LogLine[]): readonly string[] {
  const byName = new Map(stand.story.deliveries.map((each) => [each.name, each]));
  return log.flatMap(({ outcome, name }) => {
    const delivery = outcome === 'issued' ? byName.get(String(name)) : undefined;
    return delivery === undefined ? [] : [stand.story.issuerOf(delivery.leaf)];
  });
}

test('a lost CA Secret makes a new CA that is propagated; the old one stays trusted', async () => {
  const lost = await stand.inPhase(MANAGED, 'Active');
  await stand.cluster.kubectl(['delete', 'secret', 'workload-ca', '-n', KEYS_NAMESPACE]);
  const fresh = await stand.inPhase(MANAGED, 'Active', lost.fingerprint);
  await signsForAll(fresh.fingerprint);
  assert.equal((await stand.inPhase(MANAGED, 'Retiring')).fingerprint, lost.fingerprint);
});

test('with an incomplete user CA Secret the previous CA signs; no restart is needed', async () => {
  const { cluster, story } = stand;
  const before = await stand.inPhase(OWN, 'Active');
  await signsForPeople(before.fingerprint);
  const { certificate, key } = await certificateAuthority();
  await patchOwn({ 'tls.crt': certificate });
  await waitForSignerCondition(cluster, OWN, { type: 'Degraded', reason: 'SecretUnusable' });
  const seen = story.deliveries.length;
  await until('people get leaves of the CA before it', WAIT_MS, () =>
    story.deliveries.slice(seen).some(({ leaf }) => story.issuerOf(leaf) === before.fingerprint),
  );
  await patchOwn({ 'tls.key': key });
  await waitForSignerCondition(cluster, OWN, { type: 'Degraded', reason: 'AsExpected' });
  const fresh = await stand.inPhase(OWN, 'Active', before.fingerprint);
  await signsForPeople(fresh.fingerprint);
  assert.equal((await stand.inPhase(OWN, 'Retiring')).fingerprint, before.fingerprint);
});

async function signsForPeople(print: string): Promise<void> {
  await until(`${print} signs for people`, WAIT_MS, () => madeBy(print).length > 0);
}

async function patchOwn(texts: Readonly<Record<string, string>>): Promise<void> {
  const patch = JSON.stringify({ stringData: texts });
  const args = ['patch', 'secret', 'people-ca', '-n', KEYS_NAMESPACE, '--type=merge', '-p', patch];
  await stand.cluster.kubectl(args);
}

test('during all rotations every pod had its credential, and no request was refused', async () => {
  await stand.load.stop();
  assert.deepEqual(stand.load.failures, []);
  await until('every pod runs', WAIT_MS, async () => {
    const { waiting } = await stand.load.pods();
    if (waiting.length === 0) return true;
    throw new Error(`these wait: ${waiting.join()}`);
  });
  await until('every request is answered', WAIT_MS, () => {
    const { deliveries } = stand.story;
    if (deliveries.length >= stand.load.created) return true;
    throw new Error(`${deliveries.length} of ${stand.load.created}`);
  });
  assert.deepEqual(stand.story.refusals, []);
});

test('Go, OpenSSL and we verify every leaf by its bundle; none is signed too early', async (t) => {
  const faults = await judge(stand.story, {
    bundle: 'primary',
    propagationSeconds: PROPAGATION_SECONDS,
    backdate: BACKDATE_MS,
    atOnce,
  });
  const issuers = new Set(stand.story.deliveries.map(({ leaf }) => stand.story.issuerOf(leaf)));
  t.diagnostic(`${stand.story.deliveries.length} leaves of ${issuers.size} CAs`);
  assert.deepEqual(faults, []);
  assert.ok(issuers.size >= 7, `${issuers.size} CAs`);
});

const MAKE_NEXT: RotationStep = { kind: 'make', slot: 'next', due: undefined };
const LOST: RotationReason = { reason: 'KeyLost', message: 'there is no CA yet', canWait: false };
const MAKE_TLS: RotationStep = { kind: 'make', slot: 'tls', due: LOST, atOnce: false };

/** What the authority would do next, done by hand with its own rights. */
async function makeNext(secret: Secret | undefined): Promise<Secret | undefined> {
  const { cluster } = stand;
  const kubeconfig = await cluster.serviceAccountKubeconfig(
    SYSTEM_NAMESPACE,
    'countersign-authority',
  );
  const client = await connect({ kubeconfig });
  const signer = await stand.signer(MANAGED);
  const { managed } = signer.spec.authority;
  assert.ok(managed !== undefined);
  try {
    const create = createManagedAuthorities((size) => randomBytes(size));
    const step = secret === undefined ? MAKE_TLS : MAKE_NEXT;
    const input = { signer, managed, secret, step, now: Date.now() };
    return await applyStep(
      { client, create, createRequest: createCaRequest, version: 'test' },
      input,
    );
  } finally {
    await client.close();
  }
}

test('a write to a Secret that changed since it was evaluated is a conflict', async () => {
  const judged = await stand.secret('workload-ca');
  assert.ok(judged !== undefined);
  await stand.cluster.kubectl([
    'annotate',
    'secret',
    'workload-ca',
    '-n',
    KEYS_NAMESPACE,
    'example.com/note=1',
  ]);
  await assert.rejects(makeNext(judged), { code: 'KUBE_CONFLICT' });
  const { data } = (await stand.secret('workload-ca')) ?? {};
  assert.deepEqual(data, judged.data);
});

test('a write to a Secret that another client recreated is a conflict', async () => {
  const judged = await stand.secret('workload-ca');
  assert.ok(judged !== undefined);
  // No component may create it again meanwhile.
  await kill('authority');
  await kill('authority');
  await stand.cluster.kubectl(['delete', 'secret', 'workload-ca', '-n', KEYS_NAMESPACE]);
  await assert.rejects(makeNext(judged), { status: 404 });
  const { certificate, key } = await certificateAuthority();
  const input = caSecretManifest('workload-ca', { certificate, key }, 'example.com/workload');
  await stand.cluster.kubectl(['create', '-f', '-'], { input });
  const made = await stand.secret('workload-ca');
  // 409, or 422 where the patch names what that Secret never had.
  await assert.rejects(makeNext(judged), (error) => error instanceof KubeError);
  // Nor is it written over by who thinks that there is none.
  assert.equal(await makeNext(undefined), undefined);
  assert.deepEqual(await stand.secret('workload-ca'), made);
});

test('a user’s CA Secret is never written; its rotation is reported as impossible', async () => {
  const before = await stand.secret('workload-ca');
  const annotations = { [ROTATE_AT]: formatTime(Date.now()) };
  await stand.change(MANAGED, { metadata: { annotations } });
  await revive('authority');
  const told = { type: 'Degraded', reason: 'SecretNotOwned' };
  await waitForSignerCondition(stand.cluster, MANAGED, told);
  // Besides, it lives longer than the spec wants.
  const due = { type: 'RotationDue', reason: 'DurationChanged' };
  await waitForSignerCondition(stand.cluster, MANAGED, due);
  assert.deepEqual(await stand.secret('workload-ca'), before);
});
