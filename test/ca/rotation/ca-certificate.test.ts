// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManagedAuthorities } from '#ca/custody/managed.ts';
import { decodeCertificate } from '#pki/x509/certificate.ts';
import { decodePem } from '#pki/der/pem.ts';
import { requestedRotationOf } from '#ca/rotation/requested-rotation.ts';
import { caCertificateOf } from '#ca/rotation/ca-certificate.ts';
import { desiredCaOf } from '#ca/rotation/desired-ca.ts';
import { NOW, random } from '../../support/ca/issuing.ts';
import { workload } from '../../support/signers/workload-profile.ts';
import { driftOf } from '#ca/rotation/rotation-reason.ts';

const { spec } = workload();
const desired = desiredCaOf(spec);
const { certificate } = await createManagedAuthorities(random)({
  keyType: 'ECDSAP256',
  commonName: 'Example workload CA',
  durationSeconds: 8760 * 3600,
  now: NOW,
});
const made = decodeCertificate(decodePem(certificate, 'CERTIFICATE'));

test('birth and duration come from the certificate; an annotation replaces duration', () => {
  const held = caCertificateOf(made, { duration: undefined });
  assert.deepEqual([held.bornAt, held.durationSeconds], [NOW, 8760 * 3600]);
  assert.equal(caCertificateOf(made, { duration: '1h' }).durationSeconds, 3600);
  assert.equal(caCertificateOf(made, { duration: 'a year' }).durationSeconds, 8760 * 3600);
});

test('a CA matches its own spec and not another', () => {
  assert.ok(desired !== undefined);
  const held = caCertificateOf(made, { duration: '525600m' });
  assert.equal(driftOf(held, desired), undefined);
  const { reason, message } = driftOf(held, { ...desired, durationSeconds: 3600 }) ?? {};
  assert.equal(reason, 'DurationChanged');
  assert.match(message ?? '', /managed\.duration is 1h, but the CA was created with 8760h/);
});

test('renewBefore defaults to a fifth of duration, and an own CA has no desired state', () => {
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
