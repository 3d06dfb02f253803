// SPDX-License-Identifier: Apache-2.0
/** A deleted CA Secret takes the key of the CA that signs: its status says that nothing signs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition } from '#api/request/conditions.ts';
import type { Secret } from '#api/object/object.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { formatTime } from '#api/object/time.ts';
import { SignerError } from '#base/errors.ts';
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
  authority,
  bundleWith,
  fingerprintOf,
  planOf,
  readyOf,
  secret,
} from '../../../support/trust/ca-secrets.ts';

const C = authority('C');
/** A long published, B for a minute. */
const BOTH = bundleWith([A, 86_400], [B, 60]);
const DELETED = { kind: 'missing' } as const;

/** Another Secret with B under the same name, or with these texts. */
function recreated(more: Parameters<typeof secret>[1] = {}, of = B): Secret {
  const made = secret(of, more, OURS);
  return { ...made, metadata: { ...made.metadata, uid: 's-2' } };
}

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
  const ready = readyOf(replaced(recreated()));
  assert.equal(wordOf(ready), 'False KeyLost');
  const from = formatTime(NOW + 540_000);
  assert.match(ready.message ?? '', new RegExp(`No component signs until ${from}, .*new CA`));
  assert.ok((ready.message ?? '').includes(fingerprintOf(B)));
  assert.doesNotMatch(ready.message ?? '', /previous/);
});

test('the CA in a new Secret is Ready once its anchor is published for long enough', () => {
  const plan = planOf({
    signer: after(replaced(recreated())),
    secret: found(recreated()),
    bundle: bundleWith([A, 86_400], [B, 600]),
  });
  assert.equal(wordOf(readyOf(plan)), 'True Checked');
});

test('while the anchor is not published, KeyLost says what is waited for, and no time', () => {
  const plan = planOf({
    signer: after(planOf()),
    secret: found(recreated()),
    bundle: bundleWith([A, 86_400]),
  });
  assert.equal(wordOf(readyOf(plan)), 'False KeyLost');
  assert.match(readyOf(plan).message ?? '', /has been published for 10m/);
});

test('components sign by their own clock after a loss, even if authority is away', () => {
  assert.ok(isCaReady(replaced(recreated()).status.conditions));
});

test('a key that is back in the Secret signs at once', () => {
  const back = { ...recreated(), data: secret(A).data ?? {} };
  const plan = replaced(back, replaced(recreated()));
  assert.equal(wordOf(readyOf(plan)), 'True Checked');
  assert.match(readyOf(plan).message ?? '', new RegExp(`signing with ${fingerprintOf(A)}`));
});

test('a CA that replaces an unusable one in the same Secret says who still signs', () => {
  const ready = readyOf(replaced(secret(B, {}, OURS)));
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
  const signer = after(replaced(recreated()));
  const plan = planOf({ signer, secret: { kind: 'unknown', failure: 'timeout' } });
  assert.equal(wordOf(readyOf(plan)), 'False KeyLost');
});

const OWNER = { 'countersign.dev/signer-name': 'example.com/workload' };
const own = (of: typeof A, uid: string, annotations = OWNER): Secret => {
  const made = secret(of, {}, annotations);
  return { ...made, metadata: { ...made.metadata, name: 'corp-ca', uid } };
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
  assert.equal(wordOf(ownAfter(own(A, 's-1'), undefined, own(B, 's-2'))), 'False KeyLost');
  const unconsented = own(B, 's-2', {} as typeof OWNER);
  const ready = ownAfter(own(A, 's-1'), undefined, unconsented, own(B, 's-2'));
  assert.equal(wordOf(ready), 'False KeyLost');
  assert.match(
    ready.message ?? '',
    /Secret countersign-keys\/corp-ca replaced the Secret that held it/,
  );
});

test('an own CA put into another Secret while authority is away has lost the key', () => {
  assert.equal(wordOf(ownAfter(own(A, 's-1'), own(B, 's-2'))), 'False KeyLost');
});

test('an own CA that its owner replaces in place has lost no key', () => {
  assert.equal(wordOf(ownAfter(own(A, 's-1'), own(B, 's-1'))), 'True Propagating');
  const unconsented = own(A, 's-1', {} as typeof OWNER);
  const ready = ownAfter(own(A, 's-1'), unconsented, own(B, 's-1'));
  assert.equal(wordOf(ready), 'True Propagating');
});

test('an own Secret without a usable CA, in the place of a deleted one, is not Ready', () => {
  const garbage = { ...own(B, 's-2'), data: {} };
  const ready = ownAfter(own(A, 's-1'), garbage);
  assert.equal(wordOf(ready), 'False AuthorityUnavailable');
});

const GARBAGE = recreated({ 'tls.key': 'garbage' });

test('a replacement that becomes garbage leaves the lost key lost, whoever signs next', () => {
  const lost = replaced(recreated());
  const spoilt = replaced(GARBAGE, lost);
  assert.equal(wordOf(readyOf(spoilt)), 'False KeyLost');
  const next = replaced(recreated({}, C), spoilt);
  assert.equal(wordOf(readyOf(next)), 'False KeyLost');
  assert.ok((readyOf(next).message ?? '').includes(fingerprintOf(A)));
  assert.doesNotMatch(readyOf(next).message ?? '', /previous/);
});

test('a lost key stays lost while the spec is invalid for a while', () => {
  const specError = new SignerError({
    code: 'SPEC_INVALID',
    disposition: 'wait',
    message: 'spec.x: no',
  });
  const invalid = planOf({
    signer: after(replaced(recreated())),
    secret: found(recreated()),
    bundle: BOTH,
    specError,
  });
  assert.equal(wordOf(readyOf(replaced(recreated({}, C), invalid))), 'False KeyLost');
});

test('a key that is restored is no lost one when its Secret becomes garbage', () => {
  const restored = replaced(recreated({}, A), replaced(recreated()));
  const ready = readyOf(replaced(GARBAGE, restored));
  assert.equal(wordOf(ready), 'True Checked');
  assert.match(ready.message ?? '', new RegExp(`signing with ${fingerprintOf(A)}`));
});

test('the status names the Secret of each CA that signs, and of no other', () => {
  const { authorities = [] } = planOf({
    signer: after(planOf()),
    secret: found(secret(B, {}, OURS)),
  }).status;
  assert.deepEqual(
    authorities.map(({ phase, secretUID }) => [phase, secretUID]),
    [
      ['Active', 's-1'],
      ['Retiring', undefined],
    ],
  );
});
