// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SignerError } from '#base/errors.ts';
import { renewalTime } from '#ca/rotation/renewal-time.ts';
import type { RotationInput, Slots, RotationStep } from '#ca/rotation/next-step.ts';
import {
  BORN,
  DAY,
  HOUR,
  MINUTE,
  SECOND,
  DESIRED,
  YEAR,
  entry,
  held,
  print,
  stepOf,
} from '../../support/ca/rotation/next-step.ts';

const A = held();
const due = BORN + YEAR - YEAR / 5;
const broken = new SignerError({
  code: 'AUTHORITY_INVALID',
  disposition: 'authority',
  message: 'tls.key is not the private key of the first certificate of tls.crt',
});
const asked = (more: Partial<RotationInput['requested']>): Partial<RotationInput> => ({
  requested: { rotateAt: undefined, prepareAt: undefined, unread: [], ...more },
});
const slots = (more: Partial<Slots>): Partial<RotationInput> => ({
  slots: { active: A, next: undefined, activatedAt: BORN, ...more },
});
/** Made ten minutes before the deadline's hour is over, and published at once. */
const B = held({ bornAt: due, fingerprint: print('b') });
const rotating = (more: Partial<Slots> = {}): Partial<RotationInput> => ({
  ...slots({ next: B, ...more }),
  authorities: [entry(A), entry(B, 'Prepared')],
});

/** As the flag's default has it. */
const lagging = { laggards: 'apiservices/v1.x', targetDeadlineSeconds: 1_800 };

function told(step: RotationStep | undefined): string {
  if (step === undefined) return 'nothing';
  const where = step.kind === 'make' ? ` ${step.slot}` : '';
  const atOnce = step.kind === 'make' && step.slot === 'tls' && step.atOnce ? ' at once' : '';
  const why = 'due' in step && step.due !== undefined ? `: ${step.due.reason}` : '';
  return step.kind + where + atOnce + why;
}

/** The laws of the source, KubeVirt's rotation, and of the issue; what is done, and when next. */
const rows: [law: string, input: Partial<RotationInput>, step: string, lookAt?: number][] = [
  ['nothing is due: nothing is written', {}, 'nothing', due],
  ['a second before the deadline nothing is due', { now: due - SECOND }, 'nothing', due],
  ['the deadline has come', { now: due }, 'make next: RenewBefore'],
  ['the deadline has long passed', { now: due + DAY }, 'make next: RenewBefore'],
  [
    'renewBefore is what the spec says',
    { desired: { ...DESIRED, renewBeforeSeconds: DAY / SECOND }, now: due + DAY },
    'nothing',
    // The longest leaf needs more than that: a day, ten minutes and the hour that we may be late.
    BORN + YEAR - DAY - 10 * MINUTE - HOUR,
  ],
  [
    'the CA outlives the longest leaf by what its successor needs',
    {
      desired: { ...DESIRED, renewBeforeSeconds: 1 },
      now: BORN + YEAR - DAY - 10 * MINUTE - HOUR,
    },
    'make next: LongestLeaf',
  ],
  [
    'there is no Secret and never was a CA',
    { slots: undefined, authorities: [] },
    'make tls: KeyLost',
  ],
  ['the Secret with the key is gone', { slots: undefined }, 'make tls: KeyLost'],
  ['the Secret cannot be used', slots({ active: broken }), 'make tls: KeyUnusable'],
  [
    'the Secret cannot be used, but its successor can',
    rotating({ active: broken }),
    'activate: KeyUnusable',
  ],
  [
    'the wanted duration changed',
    slots({ active: held({ durationSeconds: 3600 * 24 * 400 }) }),
    'make next: DurationChanged',
  ],
  [
    'the key type changed',
    slots({ active: held({ keyType: 'RSA4096' }) }),
    'make next: KeyTypeChanged',
  ],
  [
    'the subject changed',
    slots({ active: held({ commonName: 'Another CA 1767225600' }) }),
    'make next: SubjectChanged',
  ],
  [
    'a longer common name is another',
    slots({ active: held({ commonName: 'Example workload CA of old 1767225600' }) }),
    'make next: SubjectChanged',
  ],
  ['a rotation is asked for', asked({ rotateAt: BORN + MINUTE }), 'make next: Requested'],
  ['it is asked for later', asked({ rotateAt: BORN + DAY }), 'nothing', BORN + DAY],
  ['what was asked for is done', asked({ rotateAt: BORN }), 'nothing', due],
  ['a successor is asked for', asked({ prepareAt: BORN + MINUTE }), 'make next'],
  ['a successor is asked for later', asked({ prepareAt: BORN + DAY }), 'nothing', BORN + DAY],
  ['it was made since', asked({ prepareAt: BORN }), 'nothing', due],
  [
    'a successor is held until a rotation is due',
    { ...rotating({ next: held({ bornAt: BORN + MINUTE, fingerprint: print('b') }) }) },
    'nothing',
    due,
  ],
  [
    'a successor that nobody serves yet does not sign',
    { ...rotating(), now: due + MINUTE, servedSince: () => undefined },
    'nothing',
  ],
  [
    'a successor is waited for until every kubelet has its anchor',
    { ...rotating(), now: due + 10 * MINUTE + SECOND },
    'nothing',
    due + 10 * MINUTE + 2 * SECOND,
  ],
  [
    'then it signs, two seconds later for clocks that are late',
    { ...rotating(), now: due + 10 * MINUTE + 2 * SECOND },
    'activate: RenewBefore',
  ],
  [
    'a target that lags holds it up',
    { ...rotating(), ...lagging, now: due + 10 * MINUTE + 2 * SECOND },
    'nothing',
    due + 30 * MINUTE + 2 * SECOND,
  ],
  [
    'a target that is broken indefinitely holds it up until the deadline and no longer',
    { ...rotating(), ...lagging, now: due + 30 * MINUTE + 2 * SECOND },
    'activate: RenewBefore',
  ],
  [
    'a deadline within the propagation time is none',
    {
      ...rotating(),
      ...lagging,
      targetDeadlineSeconds: 300,
      now: due + 10 * MINUTE + 2 * SECOND,
    },
    'activate: RenewBefore',
  ],
  [
    'no target holds a CA up for longer than it may be late',
    { ...rotating(), ...lagging, targetDeadlineSeconds: 864_000, now: due + 20 * MINUTE },
    'nothing',
    due + 10 * MINUTE + HOUR + 2 * SECOND,
  ],
  [
    'distrust waits for no target',
    { ...rotating(), ...lagging, isDistrusted: (each) => each === A.fingerprint },
    'make tls at once: Distrusted',
  ],
  [
    'nor does a CA that cannot sign',
    { ...rotating({ active: broken }), ...lagging },
    'activate: KeyUnusable',
  ],
  [
    'a successor that no longer fits the spec is replaced',
    { ...rotating({ next: held({ bornAt: due, keyType: 'RSA3072' }) }), now: due + 10 * MINUTE },
    'make next: RenewBefore',
  ],
  [
    'a broken successor is replaced',
    { ...rotating({ next: broken }), now: due + 10 * MINUTE },
    'make next: RenewBefore',
  ],
  ['a broken successor that nobody needs goes', rotating({ next: broken }), 'discard', due],
  [
    'a successor that waited for most of its life is replaced',
    { ...rotating({ next: held({ fingerprint: print('b') }) }), now: due },
    'make next: RenewBefore',
  ],
  [
    'the CA that signs is distrusted',
    { isDistrusted: (each) => each === A.fingerprint },
    'make tls at once: Distrusted',
  ],
  [
    'who was prepared beside a distrusted CA lay in the same Secret',
    { ...rotating(), isDistrusted: (each) => each === A.fingerprint },
    'make tls at once: Distrusted',
  ],
  [
    'its Secret is deleted instead',
    { slots: undefined, isDistrusted: (each) => each === A.fingerprint },
    'make tls at once: KeyLost',
  ],
  [
    'an older distrusted CA is no reason for haste',
    {
      slots: undefined,
      authorities: [entry(A), entry(B, 'Distrusted')],
      isDistrusted: (each) => each === B.fingerprint,
    },
    'make tls: KeyLost',
  ],
  [
    'a distrusted successor is replaced',
    { ...rotating(), now: due + HOUR, isDistrusted: (each) => each === B.fingerprint },
    'make next: RenewBefore',
  ],
  [
    'a first CA that signs at once is not held up by a second',
    { ...asked({ rotateAt: BORN + MINUTE }), now: BORN + 2 * MINUTE },
    'nothing',
    BORN + 10 * MINUTE,
  ],
];

for (const [law, input, step, lookAt] of rows) {
  test(`${law} → ${step}`, () => {
    const found = stepOf(input);
    assert.equal(told(found.step), step);
    assert.equal(found.lookAt, lookAt);
  });
}

const old = (count: number): Partial<RotationInput> => ({
  authorities: [
    entry(A),
    ...Array.from({ length: count }, (_each, index) =>
      entry(held({ fingerprint: `sha256:${index}` }), 'Retiring'),
    ),
  ],
});

test('a rotation that can wait does, and says so, while too many old CAs are trusted', () => {
  assert.equal(told(stepOf({ ...old(7), now: due }).step), 'make next: RenewBefore');
  const { step, due: reason, waitsFor } = stepOf({ ...old(8), now: due });
  assert.deepEqual([step, reason?.reason], [undefined, 'RenewBefore']);
  assert.match(waitsFor ?? '', /^8 old CAs are still trusted/);
  const pressing = stepOf({ ...old(8), now: A.notAfter - DAY });
  assert.equal(told(pressing.step), 'make next: LongestLeaf');
  assert.equal(told(stepOf({ ...old(8), slots: undefined }).step), 'make tls: KeyLost');
});

test('a full status is never trimmed of trusted CAs, not even in an emergency', () => {
  assert.equal(stepOf({ ...old(61), slots: undefined }).step, undefined);
  assert.equal(stepOf({ ...old(61), now: A.notAfter - DAY }).step, undefined);
  assert.notEqual(stepOf({ ...old(60), slots: undefined }).step, undefined);
});

test('a CA that signs for half of its life leaves time for two successors', () => {
  const desired = {
    ...DESIRED,
    durationSeconds: 2 * 3600,
    longestLeafSeconds: 3600,
    renewBeforeSeconds: 60,
  };
  const short = held({ durationSeconds: 2 * 3600 });
  const { at, reason } = renewalTime(short, desired, 600);
  assert.equal(reason, 'LongestLeaf');
  assert.equal(at, BORN + 2 * HOUR - HOUR - 10 * MINUTE - 6 * MINUTE);
});

test('no durations cause a CA every second, and a successor has time to propagate', () => {
  const desired = {
    ...DESIRED,
    durationSeconds: 1200,
    longestLeafSeconds: 600,
    renewBeforeSeconds: 1199,
  };
  const active = held({ durationSeconds: 1200 });
  const common = { desired, slots: { active, next: undefined, activatedAt: BORN } };
  assert.equal(stepOf({ ...common, now: BORN + MINUTE - SECOND }).step, undefined);
  const next = held({ durationSeconds: 1200, bornAt: BORN + MINUTE, fingerprint: print('b') });
  const waiting = { ...common, slots: { ...common.slots, next } };
  assert.equal(stepOf({ ...waiting, now: BORN + 10 * MINUTE }).step, undefined);
  assert.equal(
    told(stepOf({ ...waiting, now: BORN + 11 * MINUTE + 2 * SECOND }).step),
    'activate: LongestLeaf',
  );
});

test('a CA that is not yet valid is not replaced', () => {
  const now = BORN - DAY;
  assert.equal(stepOf({ now }).step, undefined);
});
