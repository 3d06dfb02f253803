// SPDX-License-Identifier: Apache-2.0
/** The runner beside an issuer of cert-manager's CertificateRequests that is careless in places. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition } from '#api/request/conditions.ts';
import { formatTime } from '#api/object/time.ts';
import type { CertificateRequest } from '#api/request/certificate-request.ts';
import type { RequestedLeaf } from '#conformance/observed-request.ts';
import { basicConstraints, keyUsage } from '#pki/extensions/encode-extensions.ts';
import { EVALUATE } from '#conformance/runner/index.ts';
import { askedIn, base64, requestsIn } from '../../support/conformance/requested-in.ts';
import { NOW, ROOT, authority, leaf, type Parts } from '../../support/conformance/leaf.ts';
import type { MemoryCluster, React } from '../../support/conformance/memory-cluster.ts';
import { memoryRun, scenarioOf } from '../../support/conformance/memory-run.ts';

const ISSUER = 'Issuer.example.com/careless';
const DAY = 24 * 3600;
/** Where none are said: not cert-manager's default. */
const USAGES = ['digital signature', 'client auth'];
const STRANGER = authority('Stranger', 'stranger');

type Status = NonNullable<CertificateRequest['status']>;
type Sign = (requested: RequestedLeaf) => Status | undefined;

function ready(status: 'True' | 'False', reason: string): Condition {
  return { type: 'Ready', status, reason, message: 'as it is' };
}

function issued(requested: RequestedLeaf, parts: Parts = {}, more: Partial<Status> = {}): Status {
  const certificate = base64(leaf(requested, parts).pem);
  return { conditions: [ready('True', 'Issued')], certificate, ca: base64(ROOT.pem), ...more };
}

const failed: Sign = () => ({
  conditions: [ready('False', 'Failed')],
  failureTime: formatTime(NOW),
});

const instead =
  (changed: ReturnType<typeof keyUsage>): Sign =>
  (requested) =>
    issued(requested, {
      extensions: (good) => [...good.filter(({ oid }) => oid !== changed.oid), changed],
    });

/** What it does wrong, by scenario; and what it refuses, as it must. */
const ODD: Readonly<Record<string, Sign>> = {
  plain: (requested) =>
    issued(requested, { notAfter: NOW + 2 * DAY * 1000 }, { ca: base64(STRANGER.pem) }),
  again: (requested) => issued(requested, {}, { conditions: [ready('True', 'Signed')] }),
  annotated: () => undefined,
  tenyears: (requested) => issued({ ...requested, lifetimeSeconds: 3650 * DAY }),
  noduration: (requested) => issued({ ...requested, lifetimeSeconds: 10 * DAY }),
  isca: instead(basicConstraints({ ca: true })),
  certsign: instead(keyUsage(['digitalSignature', 'keyCertSign'])),
  alternativenames: (requested) =>
    issued({ ...requested, names: { ...requested.names, emails: ['eve@example.com'] } }),
  masters: (requested) => ({ ...failed(requested), failureTime: '' }),
  rsa2048: () => undefined,
};

const EXPECTED = [
  // Without approval, though denied; of another group's issuer of the same name.
  'CR-02',
  'CR-03',
  'CR-04',
  'CR-06',
  // Ready before there is a certificate; no failureTime; a reason of its own; left waiting.
  'CR-07',
  'CR-08',
  'CR-09',
  'CR-12',
  // status.ca is another CA; two days for an hour, years for what it likes, ten days for nothing
  // said.
  'CR-18',
  'CR-26',
  'CR-27',
  'CR-28',
  'CR-29',
  // A purpose where none is said; CAs; names that nobody asked for, or should get; a key type left
  // unanswered; a weak key.
  'CR-32',
  'CR-33',
  'CR-34',
  'CR-36',
  'CR-38',
  'CR-41',
  'CR-45',
];

const issuer =
  (cluster: MemoryCluster): React =>
  (path, object) => {
    const request = object as unknown as CertificateRequest;
    const scenario = scenarioOf(request);
    const conditions = request.status?.conditions ?? [];
    const has = (type: string): boolean => conditions.some((each) => each.type === type);
    const { issuerRef, duration, usages = USAGES, request: pem } = request.spec;
    const mine = `${issuerRef.kind ?? ''}.${issuerRef.group ?? ''}/${issuerRef.name}` === ISSUER;
    const meddles = scenario === 'unapproved' || scenario === 'othergroup';
    const decided = has('Approved') || has('Denied');
    if (!(meddles || (mine && decided)) || has('Ready')) return;
    const seconds = duration === undefined ? DAY : Number.parseInt(duration, 10);
    const [csr] = requestsIn(pem);
    const requested = askedIn(csr, { usages, lifetimeSeconds: Math.min(seconds, DAY) });
    const sign: Sign = csr === undefined ? failed : (ODD[scenario] ?? ((what) => issued(what)));
    const status = sign(requested);
    if (status === undefined) return;
    if (scenario === 'plain') {
      const early = { conditions: [...conditions, ready('True', 'Issued')] };
      cluster.write(path, () => ({ status: early }));
    }
    const all = [...conditions, ...(status.conditions ?? [])];
    cluster.write(path, () => ({ status: { ...status, conditions: all } }));
  };

test('the runner finds exactly the faults of an issuer of CertificateRequests', async () => {
  const { run } = memoryRun(ISSUER, issuer);
  const found = (await EVALUATE.certificaterequest(run)).filter(
    ({ outcome }) => outcome === 'fail',
  );
  assert.deepEqual(
    found.map(({ id }) => id),
    EXPECTED,
    found.map(({ id, evidence }) => `${id} ${evidence}`).join('\n'),
  );
});
