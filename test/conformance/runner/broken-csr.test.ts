// SPDX-License-Identifier: Apache-2.0
/**
 * The runner, from its first call to its verdicts, beside a signer of CSRs that is careless in
 * places.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import type { RequestedLeaf } from '#conformance/observed-request.ts';
import { extKeyUsage } from '#pki/extensions/encode-extensions.ts';
import type { CertificationRequest } from '#pki/x509/pkcs10.ts';
import { EVALUATE } from '#conformance/runner/index.ts';
import { askedIn, base64, requestsIn } from '../../support/conformance/requested-in.ts';
import { leaf, type Parts } from '../../support/conformance/leaf.ts';
import type { MemoryCluster, React, Thing } from '../../support/conformance/memory-cluster.ts';
import { memoryRun, scenarioOf } from '../../support/conformance/memory-run.ts';

const SIGNER = 'example.com/careless';
const DAY = 24 * 3600;

type Answer = { readonly pem: string } | { readonly reason: string } | undefined;
type Sign = (requested: RequestedLeaf, requests: readonly CertificationRequest[]) => Answer;

const signs =
  (parts: Parts = {}): Sign =>
  (requested) => ({ pem: leaf(requested, parts).pem });
const refuses: Sign = () => ({ reason: 'NotAllowed' });
/** Takes the extensions of the request into the leaf. */
const copies: Sign = (requested, [request]) => {
  const wished = request?.extensions ?? [];
  const types = new Set(wished.map(({ oid }) => oid));
  const extensions: Parts['extensions'] = (good) => [
    ...good.filter(({ oid }) => !types.has(oid)),
    ...wished,
  ];
  return { pem: leaf(requested, { extensions }).pem };
};

let first: Answer;

/** What it does wrong, by scenario; and what it refuses, as it must. */
const ODD: Readonly<Record<string, Sign>> = {
  plain: (requested) => {
    const extensions: Parts['extensions'] = (good) => [
      ...good.filter(({ oid }) => oid !== '2.5.29.35' && oid !== '2.5.29.37'),
      extKeyUsage(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']),
    ];
    first = { pem: leaf(requested, { serial: Uint8Array.of(7), extensions }).pem };
    return first;
  },
  again: () => first,
  annotated: () => undefined,
  tenyears: (requested) => ({ pem: leaf({ ...requested, lifetimeSeconds: 3650 * DAY }).pem }),
  kubeadm: signs(),
  masters: signs(),
  systemuser: refuses,
  rsa1024: signs(),
  certsign: refuses,
  anyusage: refuses,
  authorityextension: copies,
  unknownextension: copies,
  twoblocks: (requested, [, second]) =>
    second === undefined
      ? undefined
      : { pem: leaf({ ...requested, spki: second.publicKey.spki }).pem },
};

const EXPECTED = [
  // Approved or not, denied or not, its own or not.
  'CSR-02',
  'CSR-03',
  'CSR-04',
  'CSR-05',
  'CSR-07',
  // Written again, with a label; the one with unknown labels left waiting; the same bytes, the same
  // leaf.
  'CSR-08',
  'CSR-10',
  'CSR-11',
  'CSR-12',
  // The second key of two; a serial of one byte, and twice; no authorityKeyIdentifier.
  'CSR-19',
  'CSR-25',
  'CSR-26',
  'CSR-27',
  // Ten years, and beyond its CA; a purpose that nobody asked for.
  'CSR-34',
  'CSR-38',
  'CSR-40',
  // Reserved names, extensions, a weak key.
  'CSR-46',
  'CSR-47',
  'CSR-52',
  'CSR-55',
  'CSR-56',
];

const signer =
  (cluster: MemoryCluster): React =>
  (path, object) => {
    const csr = object as unknown as CertificateSigningRequest;
    const scenario = scenarioOf(csr);
    const types = (csr.status?.conditions ?? []).map(({ type }) => type);
    const mine = csr.spec.signerName === SIGNER && types.includes('Approved');
    const meddles =
      scenario === 'foreign' ||
      scenario === 'unapproved' ||
      (scenario === 'denied' && types.length > 0);
    if (!(mine || meddles) || csr.status?.certificate !== undefined) return;
    const requests = requestsIn(csr.spec.request);
    const { usages = [], expirationSeconds } = csr.spec;
    const lifetimeSeconds = Math.min(expirationSeconds ?? DAY, DAY);
    const [request] = requests;
    const sign = request === undefined ? refuses : (ODD[scenario] ?? signs());
    const answer = sign(askedIn(request, { usages, lifetimeSeconds }), requests);
    if (answer === undefined) return;
    cluster.write(path, ({ status }) => ({ status: statusOf(status, answer) }));
    if (scenario !== 'plain') return;
    cluster.write(path, ({ metadata }) => ({
      metadata: { ...metadata, labels: { ...metadata.labels, signed: 'yes' } },
    }));
  };

function statusOf(status: Thing['status'], answer: NonNullable<Answer>): object {
  if ('pem' in answer) return { ...(status as object), certificate: base64(answer.pem) };
  const { conditions = [] } = status as { readonly conditions?: readonly object[] };
  const { reason } = answer;
  return { conditions: [...conditions, { type: 'Failed', status: 'True', reason, message: 'no' }] };
}

test('the runner finds exactly the faults of a signer of CertificateSigningRequests', async () => {
  const { run } = memoryRun(SIGNER, signer);
  const failed = (await EVALUATE.csr(run)).filter(({ outcome }) => outcome === 'fail');
  assert.deepEqual(
    failed.map(({ id }) => id),
    EXPECTED,
    failed.map(({ id, evidence }) => `${id} ${evidence}`).join('\n'),
  );
});
