// SPDX-License-Identifier: Apache-2.0
/** A deleted CA Secret takes the key of the CA that signs: its status says that nothing signs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition } from '#api/request/conditions.ts';
import { CA_BACKDATE_SECONDS } from '#ca/issuance/ca-certificate.ts';
import type { Secret } from '#api/object/object.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { formatTime } from '#api/object/time.ts';
import { isCaReady } from '#api/serving/report.ts';
import type { SignerPlan } from '#trust/authority/decide/decide.ts';
import { NOW } from '../../../support/pki/chain.ts';
import { workload } from '../../../support/signers/workload-profile.ts';
import {
  A,
  B,
  OURS,
  OWN,
  after,
  bundleWith,
  certificate,
  fingerprintOf,
  planOf,
  readyOf,
  secret,
} from '../../../support/trust/ca-secrets.ts';

/** A long published, B for a minute. */
const BOTH = bundleWith([A, 86_400], [B, 60]);
const DELETED = { kind: 'missing' } as const;

/** The Secret with B, created at this time. */
function created(at: number, more: Parameters<typeof secret>[1] = {}): Secret {
  const made = secret(B, more, OURS);
  return { ...made, metadata: { ...made.metadata, creationTimestamp: formatTime(at) } };
}

const bornAt = certificate(B).validFromDate.getTime() + CA_BACKDATE_SECONDS * 1000;
const found = (of: Secret): { readonly kind: 'found'; readonly secret: Secret } => ({
  kind: 'found',
  secret: of,
});
const wordOf = ({ status, reason = '' }: Condition): string => `${status} ${reason}`;

/** What is decided of B, when the status is that of A. */
const replaced = (of: Secret, before = planOf(), signer = workload()): SignerPlan =>
  planOf({ signer: after(before, signer), secret: found(of), bundle: BOTH });

test('while the Secret of a managed CA is gone, Ready is False and names the lost key', () => {
  const ready = readyOf(planOf({ signer: after(planOf()), secret: DELETED }));
  assert.equal(wordOf(ready), 'False KeyLost');
  assert.match(ready.message ?? '', new RegExp(`^the key of CA ${fingerprintOf(A)} is lost`));
  assert.match(ready.message ?? '', /Secret countersign-keys\/workload-ca was deleted/);
});

test('a CA in a new Secret is not Ready before it signs, and says from when', () => {
  const ready = readyOf(replaced(created(bornAt)));
  assert.equal(wordOf(ready), 'False KeyLost');
  const from = formatTime(NOW + 540_000);
  assert.match(ready.message ?? '', new RegExp(`No component signs until ${from}, .*new CA`));
  assert.ok((ready.message ?? '').includes(fingerprintOf(B)));
  assert.doesNotMatch(ready.message ?? '', /previous/);
});

test('the CA in a new Secret is Ready once its anchor is published for long enough', () => {
  const plan = planOf({
    signer: after(replaced(created(bornAt))),
    secret: found(created(bornAt)),
    bundle: bundleWith([A, 86_400], [B, 600]),
  });
  assert.equal(wordOf(readyOf(plan)), 'True Checked');
});

test('while the anchor is not published, KeyLost says what is waited for, and no time', () => {
  const plan = planOf({
    signer: after(planOf()),
    secret: found(created(bornAt)),
    bundle: bundleWith([A, 86_400]),
  });
  assert.equal(wordOf(readyOf(plan)), 'False KeyLost');
  assert.match(readyOf(plan).message ?? '', /has been published for 10m/);
});

test('components sign by their own clock after a loss, even if authority is away', () => {
  assert.ok(isCaReady(replaced(created(bornAt)).status.conditions));
});

test('a key that is back in the Secret signs at once', () => {
  const back = { ...created(bornAt), data: secret(A).data ?? {} };
  const plan = replaced(back, replaced(created(bornAt)));
  assert.equal(wordOf(readyOf(plan)), 'True Checked');
  assert.match(readyOf(plan).message ?? '', new RegExp(`signing with ${fingerprintOf(A)}`));
});

test('a CA that replaces an unusable one in the same Secret says who still signs', () => {
  const ready = readyOf(replaced(created(bornAt - 86_400_000)));
  assert.equal(wordOf(ready), 'True Propagating');
  assert.match(ready.message ?? '', /components that hold the previous CA in memory sign with it/);
  assert.match(ready.message ?? '', /a component that restarts signs nothing/);
});

test('a first CA, and one after a distrusted CA, have lost no key', () => {
  const first = planOf({ secret: DELETED });
  assert.equal(wordOf(readyOf(first)), 'False Initializing');
  const distrusted = workload({ 'authority.managed.distrusted': [fingerprintOf(A)] });
  const plan = planOf({ signer: after(planOf(), distrusted), secret: DELETED });
  assert.equal(wordOf(readyOf(plan)), 'False Initializing');
});

test('a status whose Secret cannot be read keeps the loss', () => {
  const signer = after(replaced(created(bornAt)));
  const plan = planOf({ signer, secret: { kind: 'unknown', failure: 'timeout' } });
  assert.equal(wordOf(readyOf(plan)), 'False KeyLost');
});

const OWNER = { 'countersign.dev/signer-name': 'example.com/workload' };
const own = (of: typeof A, at: number, annotations = OWNER): Secret => {
  const made = secret(of, {}, annotations);
  return {
    ...made,
    metadata: { ...made.metadata, name: 'corp-ca', creationTimestamp: formatTime(at) },
  };
};

/** The ClusterSigner of a CA of one's own after each of these Secrets. */
function ownAfter(...secrets: readonly (Secret | undefined)[]): Condition {
  let signer: ClusterSigner = workload(OWN);
  let ready: Condition | undefined;
  for (const each of secrets) {
    const plan = planOf({
      signer,
      secret: each === undefined ? DELETED : found(each),
      bundle: BOTH,
    });
    ready = readyOf(plan);
    signer = after(plan, signer);
  }
  assert.ok(ready !== undefined);
  return ready;
}

test('an own CA put into a Secret that was deleted before has lost the key', () => {
  const old = NOW - 2 * 86_400_000;
  assert.equal(wordOf(ownAfter(own(A, old), undefined, own(B, NOW))), 'False KeyLost');
  const unconsented = own(B, NOW, {} as typeof OWNER);
  assert.equal(wordOf(ownAfter(own(A, old), undefined, unconsented, own(B, NOW))), 'False KeyLost');
});

test('an own CA that its owner replaces in place has lost no key', () => {
  const old = NOW - 2 * 86_400_000;
  assert.equal(wordOf(ownAfter(own(A, old), own(B, old))), 'True Propagating');
  const unconsented = own(A, old, {} as typeof OWNER);
  assert.equal(wordOf(ownAfter(own(A, old), unconsented, own(B, old))), 'True Propagating');
});
