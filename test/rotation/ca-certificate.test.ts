// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManagedAuthorities } from '../../src/authorities/managed.ts';
import { decodeCertificate } from '../../src/pki/x509/certificate.ts';
import { decodePem } from '../../src/pki/der/pem.ts';
import { requestedRotationOf } from '../../src/rotation/requested-rotation.ts';
import { caCertificateOf } from '../../src/rotation/ca-certificate.ts';
import { desiredCaOf } from '../../src/rotation/desired-ca.ts';
import { NOW, random } from '../support/authorities/issuing.ts';
import { workload } from '../support/signers/workload-profile.ts';
import { driftOf } from '../../src/rotation/rotation-reason.ts';

const { spec } = workload();
const desired = desiredCaOf(spec);
const { certificate } = await createManagedAuthorities(random)({
  keyType: 'ECDSAP256',
  commonName: 'Example workload CA',
  durationSeconds: 8760 * 3600,
  now: NOW,
});
const made = decodeCertificate(decodePem(certificate, 'CERTIFICATE'));

test('birth and duration come from the certificate, and the duration from the annotation if there is one', () => {
  const held = caCertificateOf(made, undefined);
  assert.deepEqual([held.bornAt, held.durationSeconds], [NOW, 8760 * 3600]);
  assert.equal(caCertificateOf(made, '1h').durationSeconds, 3600);
  assert.equal(caCertificateOf(made, 'a year').durationSeconds, 8760 * 3600);
});

test('a CA matches its own spec and not another', () => {
  assert.ok(desired !== undefined);
  const held = caCertificateOf(made, '525600m');
  assert.equal(driftOf(held, desired), undefined);
  const { reason, message } = driftOf(held, { ...desired, durationSeconds: 3600 }) ?? {};
  assert.equal(reason, 'DurationChanged');
  assert.match(message ?? '', /managed\.duration is 1h, but the CA was created with 8760h/);
});

test('renewBefore defaults to a fifth of duration, and a user’s own CA has no desired state', () => {
  const without = workload({ 'authority.managed.renewBefore': undefined });
  assert.equal(desiredCaOf(without.spec)?.renewBeforeSeconds, (8760 * 3600) / 5);
  const own = { namespace: 'countersign-keys', name: 'corp-ca' };
  assert.equal(desiredCaOf({ ...spec, authority: { secret: own } }), undefined);
});

test('an annotation that is not a time requests nothing, and is reported', () => {
  const annotations = {
    'countersign.dev/rotate-at': '2026-11-21T09:00:00Z',
    'countersign.dev/prepare-at': 'soon',
  };
  const asked = requestedRotationOf(workload({}, { metadata: { annotations } }));
  assert.equal(asked.rotateAt, Date.UTC(2026, 10, 21, 9));
  assert.equal(asked.prepareAt, undefined);
  assert.deepEqual(asked.unread, ['countersign.dev/prepare-at']);
});
