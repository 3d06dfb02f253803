// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { test } from 'node:test';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { Secret } from '#api/object/object.ts';
import type { SignerPlan } from '#trust/authority/decide/decide.ts';
import type { RequestInit } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import type { ReconcileResult } from '#kube/workqueue/run-loop.ts';
import { MAX_CLOCK_OFFSET_MS } from '#component/server-time.ts';
import { NOW } from '../../../support/pki/chain.ts';
import {
  recordedComponent,
  type RecordedComponent,
} from '../../../support/component/recorded-component.ts';
import { teamSigner } from '../../../support/signers/namespaced-signer.ts';
import { authorityActor } from '../../../support/trust/authority-actor.ts';
import { workload } from '../../../support/signers/workload-profile.ts';
import {
  A,
  OURS,
  OWN,
  after,
  certificate,
  planOf,
  secret,
} from '../../../support/trust/ca-secrets.ts';

interface Stage {
  readonly observed: readonly Secret[];
  readonly component: RecordedComponent;
  readonly asked: () => readonly string[];
  readonly carryOut: (
    plan: SignerPlan,
    signer?: ClusterSigner,
    secret?: Secret,
    now?: number,
  ) => Promise<ReconcileResult>;
}

function start(): Stage {
  const component = recordedComponent({ name: 'authority', clock: () => NOW });
  const observed: Secret[] = [];
  const actor = authorityActor(component, (secret) => observed.push(secret));
  let current = workload();
  component.client.answer((request) => asStored(request, current));
  return {
    component,
    observed,
    asked: () => component.client.requests.map(({ method, path }) => `${method} ${path}`),
    carryOut: (plan, signer = workload(), secret?: Secret, now = NOW) => {
      current = signer;
      return actor.apply({ signer, secret, plan, clocksApart: false, now });
    },
  };
}

/** What an API server answers where nobody else does anything. */
function asStored({ method, body }: RequestInit, signer = workload()): unknown {
  return method === 'GET' ? signer : (body ?? {});
}

const STATUS = 'PUT /apis/countersign.dev/v1alpha1/clustersigners/workload/status';
/** The ClusterSigner is read again before anything is written. */
const LOOK = 'GET /apis/countersign.dev/v1alpha1/clustersigners/workload';
const SECRETS = 'POST /api/v1/namespaces/countersign-keys/secrets';
const missing = planOf({ secret: { kind: 'missing' } });

test('a status is one PUT to /status with the resourceVersion that was judged', async () => {
  const { component, asked, carryOut } = start();
  await carryOut(planOf());
  assert.deepEqual(asked(), [LOOK, STATUS]);
  const sent = component.client.requests[1]?.body as ClusterSigner;
  assert.equal(sent.metadata.resourceVersion, '1');
  assert.deepEqual(sent.status, planOf().status);
});

test('an outdated copy of a signer announces nothing and writes no status', async () => {
  const { component, asked, carryOut } = start();
  const newer = { ...workload().metadata, resourceVersion: '2' };
  component.client.answer((request) => asStored(request, { ...workload(), metadata: newer }));
  assert.equal(await carryOut(planOf()), 'backoff');
  assert.equal(await carryOut(missing), 'backoff');
  assert.deepEqual(asked(), [LOOK, LOOK]);
  assert.deepEqual(component.notes, []);
});

test('an unchanged status is not written, whatever the order of its keys', async () => {
  const { component, asked, carryOut } = start();
  const turned = Object.fromEntries(Object.entries(planOf().status).reverse());
  await carryOut(planOf(), { ...workload(), status: turned });
  assert.deepEqual(asked(), []);
  assert.deepEqual(component.notes, []);
});

test('a managed CA’s Secret is created with owner and signer name, never overwritten', async () => {
  const { component, asked, carryOut } = start();
  await carryOut(missing);
  assert.deepEqual(asked(), [LOOK, STATUS, SECRETS]);
  const { metadata, type, data = {}, ...rest } = component.client.requests[2]?.body as Secret;
  assert.deepEqual([metadata.name, type], ['workload-ca', 'kubernetes.io/tls']);
  assert.deepEqual(metadata.annotations, {
    'countersign.dev/signer-name': 'example.com/workload',
    'countersign.dev/cluster-signer-uid': '5d7b4a1c-0000-4000-8000-000000000001',
    'countersign.dev/duration': '8760h',
    'countersign.dev/activated-at': '2026-06-01T00:00:00.000Z',
  });
  assert.deepEqual(metadata.labels, {
    'app.kubernetes.io/managed-by': 'countersign',
    'app.kubernetes.io/version': '1.2.3',
    'countersign.dev/owner': '5d7b4a1c-0000-4000-8000-000000000001',
    'countersign.dev/generation': '1',
  });
  assert.equal('ownerReferences' in metadata, false);
  assert.deepEqual(rest, { apiVersion: 'v1', kind: 'Secret' });
  const text = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString();
  const made = new X509Certificate(text('tls.crt'));
  assert.ok(made.ca && made.checkPrivateKey(createPrivateKey(text('tls.key'))));
  // Another name each time: verifiers look an issuer up by its name (RFC 5280 §4.1.2.4).
  assert.match(made.subject, /^CN=Example workload CA \d+$/);
  assert.equal(text('ca.crt'), text('tls.crt'));
});

test('a CA signs from the exact time of its creation, and not before it', async () => {
  for (const later of [1, 999]) {
    const { component, carryOut } = start();
    await carryOut(missing, workload(), undefined, NOW + later);
    const { annotations } = (component.client.requests[2]?.body as Secret).metadata;
    const activatedAt = annotations?.['countersign.dev/activated-at'];
    assert.equal(activatedAt, new Date(NOW + later).toISOString());
  }
});

test('a new CA gives an Event, and neither log nor Event has its key', async () => {
  const { component, carryOut } = start();
  await carryOut(missing);
  assert.deepEqual(
    component.notes.map(({ type, reason }) => [type, reason]),
    [['Normal', 'AuthorityCreated']],
  );
  const said = JSON.stringify([component.notes, component.log.lines]);
  const { data = {} } = component.client.requests[2]?.body as Secret;
  assert.ok(!said.includes('PRIVATE') && !said.includes(data['tls.key'] ?? ''));
});

function refuse(status: number, reason: string, method: string): Stage {
  const stage = start();
  stage.component.client.answer((request) => {
    if (request.method !== method) return asStored(request);
    throw new KubeError({ status, what: request.path, body: { reason } });
  });
  return stage;
}

test('a Secret that another replica created is no error and is not overwritten', async () => {
  const { component, asked, carryOut } = refuse(409, 'AlreadyExists', 'POST');
  await carryOut(missing);
  assert.deepEqual(asked(), [LOOK, STATUS, SECRETS]);
  assert.deepEqual(component.notes, []);
});

test('any other error of the Secret’s write is thrown, to be reported and retried', async () => {
  const { asked, carryOut } = refuse(403, 'Forbidden', 'POST');
  await assert.rejects(carryOut(missing), { code: 'KUBE_FORBIDDEN', disposition: 'wait' });
  // Its status is written already: written again, at a version that is past, it would be refused.
  assert.deepEqual(asked(), [LOOK, STATUS, SECRETS]);
});

test('no CA is generated after a conflict on the status', async () => {
  const { asked, carryOut } = refuse(409, 'Conflict', 'PUT');
  await assert.rejects(carryOut(missing), { code: 'KUBE_CONFLICT', disposition: 'retry' });
  assert.deepEqual(asked(), [LOOK, STATUS]);
});

const successor: SignerPlan = { ...planOf(), step: { kind: 'make', slot: 'next', due: undefined } };
const PATCH = 'PATCH /api/v1/namespaces/countersign-keys/secrets/workload-ca';

test('a successor is one write of the Secret, and the status follows it', async () => {
  const { asked, carryOut } = start();
  await carryOut(successor, workload(), secret(A, {}, OURS));
  assert.deepEqual(asked(), [LOOK, PATCH]);
});

test('if the successor cannot be written, the status still reports the due rotation', async () => {
  const { asked, carryOut } = refuse(403, 'Forbidden', 'PATCH');
  const carried = carryOut(successor, workload(), secret(A, {}, OURS));
  await assert.rejects(carried, { code: 'KUBE_FORBIDDEN' });
  assert.deepEqual(asked(), [LOOK, PATCH, STATUS]);
});

test('clocks that begin to disagree before the write stop it', async () => {
  const { component, asked, carryOut } = start();
  const apart = MAX_CLOCK_OFFSET_MS + 1;
  // The API server's time is the same as before: it is ours that was set.
  Object.assign(component, { clock: () => NOW + apart });
  Object.assign(component.client, { clockOffset: () => apart });
  assert.equal(await carryOut(missing), 'backoff');
  assert.deepEqual(asked(), [LOOK]);
});

const ungranted = planOf({ secret: { kind: 'found', secret: secret(A, {}, {}) } });

test('the reason for not being ready gives one Event per change', async () => {
  const { component, carryOut } = start();
  await carryOut(ungranted);
  const [note] = component.notes;
  assert.deepEqual([note?.type, note?.reason], ['Warning', 'SecretNotGranted']);
  assert.equal(note?.regarding.name, 'workload');
  const changed = { ...after(ungranted), metadata: { ...workload().metadata, generation: 2 } };
  const again = planOf({ signer: changed, secret: { kind: 'found', secret: secret(A, {}, {}) } });
  await carryOut(again, changed);
  assert.equal(component.client.requests.length, 4);
  assert.equal(component.notes.length, 1);
});

test('a signer that becomes ready gives an Event for its CA and measures its expiry', async () => {
  const { component, carryOut } = start();
  const own = workload(OWN);
  await carryOut(planOf({ signer: own }), own);
  assert.deepEqual(
    component.notes.map(({ type, reason }) => [type, reason]),
    [['Normal', 'AuthorityActive']],
  );
  const seconds = certificate(A).validToDate.getTime() / 1000;
  const signer = 'example.com/workload';
  assert.deepEqual(
    component.counted.filter(([name]) => name !== 'phase'),
    [
      ['notAfter', { signer }, seconds],
      ['fullLeaves', { signer }, seconds - 86_400],
    ],
  );
  assert.deepEqual(
    component.counted
      .filter(([name]) => name === 'phase')
      .map(([, labels, count]) => [(labels as { phase: string }).phase, count]),
    [
      ['Prepared', 0],
      ['Active', 1],
      ['Retiring', 0],
      ['Distrusted', 0],
    ],
  );
});

test('a Signer’s status goes to its namespace, without its spec and without an Event', async () => {
  const { component, asked, carryOut } = start();
  const signer = teamSigner();
  const plan = planOf({ signer, secret: { kind: 'missing' } });
  assert.equal(plan.step, undefined);
  await carryOut(plan, signer);
  const path = '/apis/countersign.dev/v1alpha1/namespaces/team-a/signers/web';
  assert.deepEqual(asked(), [`GET ${path}`, `PUT ${path}/status`]);
  const sent = component.client.requests[1]?.body as ClusterSigner;
  assert.deepEqual(Object.keys(sent).sort(), ['apiVersion', 'kind', 'metadata', 'status']);
  assert.equal(sent.status?.signerName, 'signers.countersign.dev/team-a.web');
  assert.deepEqual(component.notes, []);
});
