// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SignerError } from '#base/errors.ts';
import { leafValidity, type ValidityInput } from '#ca/issuance/validity.ts';
import { refuses } from '../../support/pki/refuses.ts';

const NOW = Date.UTC(2026, 10, 21, 6, 30, 15, 987);
const SECOND = Date.UTC(2026, 10, 21, 6, 30, 15);
const HOUR = 3600;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** A leaf of an hour, begun a minute ago, from a CA in the middle of its two years. */
const input = (more: Partial<ValidityInput> = {}): ValidityInput => ({
  now: NOW,
  lifetimeSeconds: HOUR,
  backdateSeconds: 60,
  minimumSeconds: HOUR,
  issuer: { notBefore: SECOND - YEAR * 1000, notAfter: SECOND + YEAR * 1000 },
  ...more,
});

test('the backdate counts towards the lifetime: 3600 s are exactly 3600 s', () => {
  assert.deepEqual(leafValidity(input()), {
    notBefore: SECOND - 60_000,
    notAfter: SECOND - 60_000 + 3_600_000,
  });
});

test('notBefore and notAfter are whole seconds, rounded down', () => {
  const { notBefore, notAfter } = leafValidity(input({ backdateSeconds: 0 }));
  assert.equal(notBefore, SECOND);
  assert.equal(notAfter % 1000, 0);
});

test('a leaf never outlives its CA', () => {
  const issuer = { notBefore: SECOND - 1000, notAfter: SECOND + 2 * HOUR * 1000 };
  const { notAfter } = leafValidity(input({ lifetimeSeconds: DAY, issuer }));
  assert.equal(notAfter, issuer.notAfter);
});

test('a leaf never begins before its CA', () => {
  const issuer = { notBefore: SECOND - 20_000, notAfter: SECOND + YEAR * 1000 };
  const { notBefore, notAfter } = leafValidity(input({ issuer }));
  assert.equal(notBefore, issuer.notBefore);
  assert.equal(notAfter - notBefore, HOUR * 1000);
});

test('a CA with the minimum lifetime left signs; with one second less requests wait', () => {
  const leaving = (seconds: number): ValidityInput =>
    input({
      lifetimeSeconds: DAY,
      issuer: { notBefore: 0, notAfter: SECOND - 60_000 + seconds * 1000 },
    });
  const { notBefore, notAfter } = leafValidity(leaving(HOUR));
  assert.equal(notAfter - notBefore, HOUR * 1000);
  refuses(
    () => leafValidity(leaving(HOUR - 1)),
    'VALIDITY_IMPOSSIBLE',
    /a leaf would be valid for 3599 s and needs at least 3600 s; renew the CA/,
    'authority',
  );
});

test('an expired CA has 0 s left, never a negative number', () => {
  refuses(
    () => leafValidity(input({ issuer: { notBefore: 0, notAfter: 1000 } })),
    'VALIDITY_IMPOSSIBLE',
    /valid for 0 s/,
    'authority',
  );
});

/** A PodCertificateRequest's maxExpirationSeconds and how long its CA has left. */
const situations = fc.record({
  maxExpirationSeconds: fc.integer({ min: 3_600, max: 7_862_400 }),
  backdateSeconds: fc.integer({ min: 0, max: 240 }),
  now: fc.integer({ min: Date.UTC(2026, 0), max: Date.UTC(2060, 0) }),
  caAgeSeconds: fc.oneof(fc.integer({ min: 0, max: 600 }), fc.integer({ min: 0, max: YEAR })),
  caLeftSeconds: fc.oneof(fc.integer({ min: 0, max: 8_000 }), fc.integer({ min: 0, max: YEAR })),
});

test('for any request and CA, the API accepts the leaf or the request waits', () => {
  fc.assert(
    fc.property(situations, (given) => {
      const { maxExpirationSeconds, now } = given;
      const second = Math.floor(now / 1000) * 1000;
      const issuer = {
        notBefore: second - given.caAgeSeconds * 1000,
        notAfter: second + given.caLeftSeconds * 1000,
      };
      const asked = {
        now,
        lifetimeSeconds: maxExpirationSeconds,
        backdateSeconds: given.backdateSeconds,
        minimumSeconds: HOUR,
        issuer,
      };
      const begin = Math.max(second - given.backdateSeconds * 1000, issuer.notBefore);
      if (issuer.notAfter - begin < HOUR * 1000) {
        assert.throws(
          () => leafValidity(asked),
          (error) => error instanceof SignerError && error.disposition === 'authority',
        );
        return;
      }
      const { notBefore, notAfter } = leafValidity(asked);
      const lifetime = (notAfter - notBefore) / 1000;
      // ValidatePodCertificateRequestStatusUpdate: one hour at least, never more than asked for,
      // notBefore less than five minutes from now, whole seconds as the certificate has them.
      assert.ok(Number.isInteger(notBefore / 1000) && Number.isInteger(notAfter / 1000));
      assert.ok(lifetime >= HOUR && lifetime <= maxExpirationSeconds);
      assert.ok(Math.abs(notBefore - now) < 300_000);
      assert.ok(notBefore <= now && now < notAfter);
      assert.ok(issuer.notBefore <= notBefore && notAfter <= issuer.notAfter);
    }),
    { numRuns: 2_000 },
  );
});

test('a NaN in lifetime, backdate or time is refused', () => {
  for (const more of [{ lifetimeSeconds: NaN }, { backdateSeconds: NaN }, { now: NaN }]) {
    refuses(() => leafValidity(input(more)), 'VALIDITY_IMPOSSIBLE', /./, 'authority');
  }
});
