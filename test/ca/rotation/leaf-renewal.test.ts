// SPDX-License-Identifier: Apache-2.0
/** When a serving certificate of ours is replaced. A table row is a reason, or none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SignerError } from '#base/errors.ts';
import {
  leafRenewal,
  type LeafCertificate,
  type LeafRenewalInput,
  type LeafRenewal,
  type DesiredLeaf,
} from '#ca/rotation/leaf-renewal.ts';
import { BORN, DAY, HOUR, MINUTE, SECOND, YEAR } from '../../support/ca/rotation/next-step.ts';

const NAME = 'countersign-approver.countersign-system.svc';
const WEEK = 7 * DAY;
const DESIRED: DesiredLeaf = {
  keyType: 'ECDSAP256',
  dnsNames: [NAME, `${NAME}.cluster.local`],
  durationSeconds: WEEK / SECOND,
  backdateSeconds: 240,
};
const BACKDATE = 4 * MINUTE;
const END = BORN - BACKDATE + WEEK;

function leaf(more: Partial<LeafCertificate> = {}): LeafCertificate {
  return {
    notBefore: BORN - BACKDATE,
    notAfter: END,
    durationSeconds: WEEK / SECOND,
    keyType: 'ECDSAP256',
    dnsNames: DESIRED.dnsNames,
    isOfPresent: true,
    ...more,
  };
}

function rotation(more: Partial<LeafRenewalInput> = {}): LeafRenewal {
  return leafRenewal({
    held: leaf(),
    desired: DESIRED,
    authorityNotAfter: BORN + YEAR,
    now: BORN + HOUR,
    ...more,
  });
}

const lost = new SignerError({
  code: 'CERTIFICATE_MALFORMED',
  disposition: 'wait',
  message: 'tls.key is not the key of tls.crt',
});

const rows: readonly [law: string, input: Partial<LeafRenewalInput>, reason: string | undefined][] =
  [
    ['what is as it should be is left alone', {}, undefined],
    ['what no server could show is replaced', { held: lost }, 'Unusable'],
    ['one that has expired', { now: END }, 'Unusable'],
    ['one of tomorrow, from a fast clock', { now: BORN - DAY }, 'Unusable'],
    ['one that names another Service', { held: leaf({ dnsNames: ['a.svc'] }) }, 'NamesChanged'],
    ['one with a name too few', { held: leaf({ dnsNames: [NAME] }) }, 'NamesChanged'],
    [
      'names in another order are the same',
      { held: leaf({ dnsNames: DESIRED.dnsNames.toReversed() }) },
      undefined,
    ],
    ['a key of another type', { held: leaf({ keyType: 'ED25519' }) }, 'KeyTypeChanged'],
    ['a key that no profile could name', { held: leaf({ keyType: undefined }) }, 'KeyTypeChanged'],
    [
      'a duration that is wanted longer',
      { held: leaf({ durationSeconds: 3_600 }) },
      'DurationChanged',
    ],
    [
      'a duration that nobody says',
      { held: leaf({ durationSeconds: undefined }) },
      'DurationChanged',
    ],
    ['a leaf of the CA before', { held: leaf({ isOfPresent: false }) }, 'AuthorityReplaced'],
    ['a moment before its last fifth', { now: END - WEEK / 5 - 1 }, undefined],
    ['the first moment of its last fifth', { now: END - WEEK / 5 }, 'RenewBefore'],
    [
      'in its last fifth, where its CA ends with it',
      { now: END - HOUR, authorityNotAfter: END },
      undefined,
    ],
    [
      'in its last fifth, where its CA lives a minute longer',
      { now: END - HOUR, authorityNotAfter: END + MINUTE },
      'RenewBefore',
    ],
  ];

for (const [law, input, reason] of rows) {
  test(`${law}: ${reason ?? 'nothing is done'}`, () => {
    assert.equal(rotation(input).due?.reason, reason);
  });
}

test('the leaf is looked at again exactly when it is due', () => {
  const { lookAt } = rotation();
  assert.equal(lookAt, END - WEEK / 5);
  assert.equal(rotation({ now: lookAt }).due?.reason, 'RenewBefore');
});

test('a leaf of any lifetime is not renewed for its age within a minute', () => {
  const desired = { ...DESIRED, durationSeconds: 1, backdateSeconds: 0 };
  const held = leaf({ notBefore: BORN, notAfter: BORN + SECOND, durationSeconds: 1 });
  const { due, lookAt } = rotation({ desired, held, now: BORN });
  assert.equal(due, undefined);
  assert.ok(lookAt !== undefined && lookAt >= BORN + MINUTE);
});

test('a valid leaf always exists, none outlives its CA, and writes are few over years', () => {
  const CA_LIFE = 60 * DAY;
  const state = { ca: BORN, held: undefined as LeafCertificate | undefined, writes: 0, cas: 1 };
  for (let now = BORN; now < BORN + 3 * YEAR; now += HOUR) {
    // As the CA's own rules have it: replaced before leaves would be cut short.
    if (now - state.ca >= CA_LIFE - 2 * WEEK) {
      Object.assign(state, { ca: now, cas: state.cas + 1 });
      if (state.held !== undefined) state.held = { ...state.held, isOfPresent: false };
    }
    const authorityNotAfter = state.ca + CA_LIFE;
    const { due } = rotation({ held: state.held ?? lost, authorityNotAfter, now });
    if (due !== undefined) {
      const notBefore = now - BACKDATE;
      const notAfter = Math.min(notBefore + WEEK, authorityNotAfter);
      state.held = leaf({ notBefore, notAfter });
      state.writes += 1;
    }
    const { held } = state;
    assert.ok(held !== undefined && held.notBefore <= now && now < held.notAfter);
    assert.ok(held.notAfter <= authorityNotAfter);
  }
  // One each four fifths of a week, and one more for each CA.
  const most = Math.ceil((3 * YEAR) / ((WEEK * 4) / 5)) + state.cas;
  assert.ok(state.writes <= most, `${state.writes} writes, ${most} at most`);
});
