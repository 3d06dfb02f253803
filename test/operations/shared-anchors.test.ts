// SPDX-License-Identifier: Apache-2.0
/** The root of an upstream CA leaves the bundle with a CA that it certified. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SignerState } from '#operations/signer-state.ts';
import { revoke } from '#operations/verbs/revoke.ts';
import { taint } from '#operations/verbs/taint.ts';
import { at, HOUR, pem, print, state, verdictOf, wordsOf, type Wanted } from './signer-states.ts';

const NO_HOLDERS = { pods: 0, certManager: false };
const MANUAL = { manual: { anchor: 'Root', trustEverythingBelow: true } } as const;

/** CAs `a` and `b` below the root `d`, or `b` on its own. */
function below(authorities: NonNullable<Wanted['authorities']>, sharesRoot = true): SignerState {
  const found = state({ authorities, managed: { upstream: MANUAL }, spec: {} });
  const { status } = found.signer;
  const listed = (status?.authorities ?? []).map((each) => ({
    ...each,
    anchors: sharesRoot || each.fingerprint === print('a') ? pem('d') : (each.anchors ?? ''),
  }));
  const crossCertificates = [
    { issuer: print('d'), subject: print('a'), notAfter: at(8760 * HOUR) },
  ];
  const signer = {
    ...found.signer,
    status: { ...status, authorities: listed, crossCertificates },
  };
  return { ...found, signer };
}

test('revoke names the CAs whose anchor leaves with the revoked one', () => {
  const plan = revoke(below({ a: 'Retiring', b: 'Active' }), print('a'), NO_HOLDERS);
  assert.equal(verdictOf(plan), 'refused');
  const wanted = new RegExp(`${print('d')} leaves the bundle with ${print('a')}`);
  assert.match(wordsOf(plan), wanted);
  assert.match(wordsOf(plan), new RegExp(`reject the leaves of ${print('b')} \\(Active\\)`));
  assert.match(wordsOf(plan), /the next CA needs anchor Authority, or another root/);
});

test('revoke names no CA with an anchor of its own', () => {
  const plan = revoke(below({ a: 'Retiring', b: 'Active' }, false), print('a'), NO_HOLDERS);
  assert.doesNotMatch(wordsOf(plan), /leaves the bundle with/);
});

test('taint refuses to distrust a prepared CA that shares the root of the active one', () => {
  const plan = taint(below({ a: 'Prepared', b: 'Active' }), print('b'));
  assert.equal(verdictOf(plan), 'refused');
  assert.match(wordsOf(plan), new RegExp(`reject the leaves of ${print('b')} \\(Active\\)`));
});

for (const phase of ['Active', 'Retiring'] as const)
  test(`taint of a CA that is ${phase} says that its root leaves with it later`, () => {
    const other = phase === 'Active' ? {} : ({ b: 'Active' } as const);
    const plan = taint(below({ a: phase, ...other }), print('a'));
    assert.match(
      wordsOf(plan),
      new RegExp(`${print('d')} certified ${print('a')}, so it leaves the bundle when you revoke`),
    );
  });

test('taint of a CA without an upstream CA says nothing of a root', () => {
  const plan = taint(state({ authorities: { a: 'Active' } }), print('a'));
  assert.doesNotMatch(wordsOf(plan), /certified/);
});
