// SPDX-License-Identifier: Apache-2.0
/** The status says from when components may sign with each CA, as they decide it themselves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import type { Secret } from '#api/object/object.ts';
import { formatTime } from '#api/object/time.ts';
import { SIGNS_AT_ONCE } from '#api/signer/rotation-annotations.ts';
import type { SignerPlan } from '#trust/authority/decide/decide.ts';
import { NOW } from '../../../support/pki/chain.ts';
import { workload } from '../../../support/signers/workload-profile.ts';
import {
  A,
  B,
  OURS,
  after,
  bundleWith,
  fingerprintOf,
  planOf,
  readyOf,
  secret,
} from '../../../support/trust/ca-secrets.ts';

const DAY = 86_400;
const at = (seconds: number): string => formatTime(NOW + seconds * 1000);

/** From when each CA of the status signs, by its phase. */
const timesOf = ({ status }: SignerPlan): readonly string[] =>
  (status.authorities ?? []).map(({ phase, signsFrom = 'never' }) => `${phase} ${signsFrom}`);

const held = (of: Secret): { readonly kind: 'found'; readonly secret: Secret } => ({
  kind: 'found',
  secret: of,
});
const atOnce = (of: typeof A): Secret =>
  secret(of, {}, { ...OURS, [SIGNS_AT_ONCE]: fingerprintOf(of) });
const withBundle = (bundle: ClusterTrustBundle | undefined): SignerPlan =>
  planOf({ bundle, isBundleKnown: true });

test('a CA signs once its anchor has been published for the propagation time', () => {
  assert.deepEqual(timesOf(withBundle(bundleWith([B, DAY], [A, 60]))), [`Active ${at(540)}`]);
});

test('a CA without a published anchor has no time, whatever time it had before', () => {
  const unpublished = bundleWith([B, DAY]);
  assert.deepEqual(timesOf(withBundle(unpublished)), ['Active never']);
  assert.deepEqual(timesOf(withBundle(undefined)), ['Active never']);
  const plan = planOf({ signer: after(planOf()), bundle: unpublished });
  assert.deepEqual(timesOf(plan), ['Active never']);
});

test('a CA that need not wait signs since its anchor was published', () => {
  assert.deepEqual(timesOf(withBundle(bundleWith([A, 60]))), [`Active ${at(-60)}`]);
  const plan = planOf({ secret: held(atOnce(A)), bundle: bundleWith([B, DAY], [A, 60]) });
  assert.deepEqual(timesOf(plan), [`Active ${at(-60)}`]);
});

test('other anchors of the bundle change no time that is past', () => {
  const alone = withBundle(bundleWith([A, DAY]));
  const signer = after(alone);
  const grown = planOf({ signer, bundle: bundleWith([A, DAY], [B, 60]) });
  assert.deepEqual(timesOf(grown), timesOf(alone));
  const shrunk = planOf({ signer: after(planOf()), bundle: bundleWith([A, DAY]) });
  assert.deepEqual(timesOf(shrunk), timesOf(planOf()));
});

test('an anchor added while the only one is new delays that one as well', () => {
  const signer = after(withBundle(bundleWith([A, 60])));
  const plan = planOf({ signer, bundle: bundleWith([A, 60], [B, 0]) });
  assert.deepEqual(timesOf(plan), [`Active ${at(540)}`]);
});

test('a bundle that is not listed yet leaves the time as it was', () => {
  const signer = after(planOf());
  const plan = planOf({ signer, bundle: undefined, isBundleKnown: false });
  assert.deepEqual(timesOf(plan), timesOf(planOf()));
});

test('only the CA in tls.* and the one that components hold have a time', () => {
  const bundle = bundleWith([A, DAY], [B, 60]);
  const signer = after(planOf());
  const from = `Prepared ${at(540)}`;
  const replaced = planOf({ signer, secret: held(secret(B, {}, OURS)), bundle });
  assert.deepEqual(timesOf(replaced), [`Active ${at(600 - DAY)}`, from]);
  const { metadata, ...rest } = secret(B, {}, OURS);
  const recreated = { ...rest, metadata: { ...metadata, uid: 's-2' } };
  const lost = planOf({ signer, secret: held(recreated), bundle });
  assert.deepEqual(timesOf(lost), ['Active never', from]);
  const retired = planOf({ signer: after(replaced), secret: held(secret(B, {}, OURS)) });
  assert.deepEqual(timesOf(retired), [`Active ${at(600 - DAY)}`, 'Retiring never']);
});

test('a CA of which components hold the key alone waits, though its Secret exempted it', () => {
  const bundle = bundleWith([A, 300], [B, 60]);
  const before = planOf({ secret: held(atOnce(A)), bundle });
  assert.deepEqual(timesOf(before), [`Active ${at(-300)}`]);
  const garbage = secret(A, { 'tls.key': 'garbage' }, OURS);
  const spoilt = planOf({ signer: after(before), secret: held(garbage), bundle });
  assert.deepEqual(timesOf(spoilt), [`Active ${at(300)}`]);
});

test('Ready claims no signature of a previous CA whose anchor is new as well', () => {
  const replaced = (a: number): SignerPlan => {
    const bundle = bundleWith([A, a], [B, 60]);
    const signer = after(planOf({ bundle }), workload());
    return planOf({ signer, secret: held(secret(B, {}, OURS)), bundle });
  };
  const plan = replaced(300);
  const { message = '' } = readyOf(plan);
  assert.match(
    message,
    new RegExp(`for 10m\\. No component signs until ${at(300)}, .*previous CA`),
  );
  assert.ok(message.includes(fingerprintOf(A)));
  assert.equal(plan.requeueAt, NOW + 300_000);
  assert.match(readyOf(replaced(600)).message ?? '', /in memory sign with it/);
});
