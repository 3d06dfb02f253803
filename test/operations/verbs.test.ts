// SPDX-License-Identifier: Apache-2.0
/** What each verb writes, and its preflight errors: one row for each law. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PREPARE_AT, ROTATE_AT } from '#api/signer/rotation-annotations.ts';
import { activate } from '#operations/verbs/activate.ts';
import { prepare } from '#operations/verbs/prepare.ts';
import { taint } from '#operations/verbs/taint.ts';
import {
  HOUR,
  NOW,
  OWN,
  at,
  print,
  state,
  verdictOf,
  type Name,
  type Wanted,
} from './signer-states.ts';
import { notObserved, run, unmanaged, type Row } from './rows.ts';

const prepareNow = { annotations: { [PREPARE_AT]: at(0) } };
const rotateNow = { annotations: { [ROTATE_AT]: at(0) } };
const DUE = { type: 'RotationDue', status: 'True', reason: 'Requested', message: '' } as const;
const noBundle = { trustBundle: undefined };

const tooManyRetiring: Row = {
  law: 'maxRetiring old CAs are a preflight error: the rotation would wait',
  wanted: { authorities: { a: 'Active', b: 'Retiring' }, managed: { maxRetiring: 1 } },
  verdict: 'refused',
  says: /1 old CAs are still trusted \(maxRetiring: 1\).*after 2026-01-01T13:00:00Z/,
};
const withoutBundle: Row = {
  law: 'a ClusterSigner without a bundle is a preflight error: verifiers would not know the next CA',
  wanted: { spec: noBundle, bundle: undefined },
  verdict: 'refused',
  says: /publishes no bundle/,
};

const prepares: readonly Row[] = [
  unmanaged,
  notObserved,
  tooManyRetiring,
  {
    law: 'requests a successor now',
    wanted: {},
    verdict: 'go',
    says: /publishes it/,
    change: prepareNow,
  },
  {
    law: 'while the active CA is young, a note says when the successor is created',
    wanted: { served: { a: 4 } },
    verdict: 'go',
    says: /created at 2026-01-01T01:06:00Z at the earliest/,
    change: prepareNow,
  },
  {
    law: 'a prepared successor is enough',
    wanted: { authorities: { a: 'Active', b: 'Prepared' } },
    verdict: 'nothing',
    says: /is already prepared/,
  },
  {
    law: 'a CA can be prepared without a bundle: that is how verifiers get it in time',
    wanted: { spec: noBundle, bundle: undefined },
    verdict: 'go',
    says: /publishes it/,
  },
  {
    law: 'a note says that it replaces a rotation that is scheduled for later',
    wanted: { annotations: { [PREPARE_AT]: at(HOUR) } },
    verdict: 'go',
    says: /replaces the rotation scheduled for 2026-01-01T02:00:00Z/,
  },
];

const both: Wanted['authorities'] = { a: 'Active', b: 'Prepared' };
const ready: Wanted = { authorities: both, served: { a: 60, b: 10 } };

const activates: readonly Row[] = [
  unmanaged,
  { ...notObserved, wanted: { ...ready, observed: 0 } },
  { ...withoutBundle, wanted: { authorities: both, ...withoutBundle.wanted } },
  {
    law: 'activates a CA that every kubelet has',
    wanted: ready,
    verdict: 'go',
    says: /stays in the bundle/,
    change: rotateNow,
  },
  {
    law: 'a CA that was published for less than the propagation time is a preflight error',
    wanted: { authorities: both, served: { a: 60, b: 9 } },
    verdict: 'refused',
    says: /may sign from 2026-01-01T01:01:00Z/,
  },
  {
    law: 'a CA that is not in the bundle is a preflight error',
    wanted: { authorities: both, served: { a: 60 } },
    verdict: 'refused',
    says: /not in the published bundle yet; check that the attester is running/,
  },
  {
    law: 'a missing bundle publishes nothing',
    wanted: { authorities: both, bundle: undefined },
    verdict: 'refused',
    says: /not in the published bundle/,
  },
  {
    law: 'a bundle that the user may not read is a preflight error',
    wanted: { authorities: both, bundle: 'unread' },
    verdict: 'refused',
    says: /you may not read the bundle/,
  },
  {
    law: 'without a prepared CA there is nothing to activate',
    wanted: {},
    verdict: 'refused',
    says: /authority prepare workload first/,
  },
  {
    law: 'after a request for a successor the advice is to wait, not to request it again',
    wanted: { annotations: { [PREPARE_AT]: at(0) } },
    verdict: 'refused',
    says: /requested at 2026-01-01T01:00:00Z and does not exist yet; countersign authority show workload/,
  },
  {
    law: 'a request that was fulfilled long ago prepares nothing now',
    wanted: { annotations: { [PREPARE_AT]: at(-HOUR) } },
    verdict: 'refused',
    says: /authority prepare workload first/,
  },
  {
    law: 'a request that is scheduled for later prepares nothing now',
    wanted: { annotations: { [PREPARE_AT]: at(HOUR) } },
    verdict: 'refused',
    says: /authority prepare workload first/,
  },
  tooManyRetiring,
  {
    law: 'without an active CA the prepared one becomes active without a request',
    wanted: { authorities: { b: 'Prepared' } },
    verdict: 'nothing',
    says: /signs as soon as every kubelet/,
  },
];

const taints: readonly Row[] = [
  unmanaged,
  notObserved,
  tooManyRetiring,
  withoutBundle,
  {
    law: 'replaces the active CA',
    wanted: {},
    verdict: 'go',
    says: /signs until every kubelet has the successor's anchor/,
    change: rotateNow,
  },
  {
    law: 'distrusts the CA that is prepared in the same Secret too',
    wanted: { authorities: both },
    verdict: 'go',
    says: /a client that can read one key can read both/,
    change: { ...rotateNow, distrust: [print('b')] },
  },
  {
    law: 'while the CA signs, the expiry of its leaves is an estimate, bounded by its notAfter',
    wanted: {},
    verdict: 'go',
    // Ten minutes to be published, ten that it may sign late, a day of life.
    says: /until about 2026-01-02T01:20:00Z, and never after 2027-01-01T01:00:00Z/,
  },
  {
    law: 'no estimate is later than the notAfter of the CA',
    wanted: { authorityFields: { notAfter: at(HOUR) } },
    verdict: 'go',
    says: /until about 2026-01-01T02:00:00Z, and never after 2026-01-01T02:00:00Z/,
  },
  {
    law: 'a rotation in progress is not requested again',
    wanted: { annotations: { [ROTATE_AT]: at(-HOUR) }, conditions: [DUE] },
    verdict: 'nothing',
    says: /is already being replaced/,
  },
  {
    law: 'a rotation that is scheduled for later is requested now',
    wanted: { annotations: { [ROTATE_AT]: at(HOUR) }, conditions: [DUE] },
    verdict: 'go',
    says: /scheduled for/,
    change: rotateNow,
  },
  {
    law: 'for a CA that no longer signs, only says until when its leaves are valid',
    wanted: { authorities: { a: 'Retiring', b: 'Active' } },
    verdict: 'nothing',
    says: /no longer signs\nno leaf of sha256:\w+ is valid after 2026-01-01T13:00:00Z/,
  },
  {
    law: 'the same for a distrusted CA',
    wanted: { authorities: { a: 'Distrusted', b: 'Active' } },
    verdict: 'nothing',
    says: /is already distrusted/,
  },
  {
    law: 'a CA that has not signed anything is not tainted but revoked',
    wanted: { authorities: { a: 'Prepared', b: 'Active' } },
    verdict: 'never',
    says: /authority revoke, and another CA is created/,
  },
  {
    law: 'a CA of another ClusterSigner cannot be tainted',
    wanted: { authorities: { b: 'Active' }, served: {} },
    verdict: 'never',
    says: /is not a CA of this ClusterSigner/,
  },
  {
    law: 'says the same about a retiring CA that is not managed',
    wanted: { spec: OWN, authorities: { a: 'Retiring', b: 'Active' } },
    verdict: 'nothing',
    says: /no leaf of/,
  },
];

run('prepare', prepares, prepare);
run('activate', activates, (each) => activate(each, undefined));
run('taint', taints, (each) => taint(each, print('a')));
test('activate: the fingerprint, or any prefix of it, must be that of the prepared CA', () => {
  const here = state(ready);
  assert.equal(verdictOf(activate(here, print('b').slice(0, 20))), 'go');
  assert.equal(verdictOf(activate(here, print('a'))), 'never');
  assert.equal(verdictOf(activate(here, 'zz')), 'never');
});

test('the annotation is a time in whole seconds, UTC, by the clock of the API server', () => {
  const { change } = prepare(state());
  assert.equal(Date.parse(change?.annotations?.[PREPARE_AT] ?? ''), NOW);
});

const prefixes: [text: (whole: string) => string, found: boolean][] = [
  [(whole) => whole, true],
  [(whole) => whole.slice(0, 23), true],
  [(whole) => whole.slice('sha256:'.length, 15), true],
  [(whole) => whole.toUpperCase().replace('SHA256', 'sha256'), true],
  [(whole) => whole.slice(0, 14), false],
  [() => '', false],
  [() => 'sha256:', false],
  [() => 'sha512:0123456789', false],
  [() => '../../secrets', false],
];

for (const [text, found] of prefixes) {
  const name: Name = 'a';
  test(`a CA is ${found ? '' : 'not '}found by ${text(print(name)).slice(0, 30)}`, () => {
    const order = taint(state(), text(print(name)));
    assert.equal(order.target, found ? print(name) : undefined);
  });
}
