// SPDX-License-Identifier: Apache-2.0
/** ADR 0024: what is known of trust once a status, or a part of it, is lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuthorityPhase, ClusterSigner } from '#api/signer/cluster-signer.ts';
import { formatTime } from '#api/object/time.ts';
import { distrustedCas } from '#ca/rotation/distrusted-cas.ts';
import { unlistedLongestLeaf } from '#trust/authority/decide/relearned-authorities.ts';
import { nextTrustMemory } from '#ca/rotation/trust-memory.ts';
import { BORN, DAY, HOUR, YEAR, entry, held, print } from '../../support/ca/rotation/next-step.ts';
import { workload } from '../../support/signers/workload-profile.ts';

const [A, B, C] = ['a', 'b', 'c'].map(print) as [string, string, string];
/** A ClusterSigner without a status or a bundle. */
const UNPUBLISHED = { signer: workload(), bundle: undefined };
const END = formatTime(BORN + YEAR);

const ca = (fingerprint: string, phase: AuthorityPhase) => ({
  ...entry({ ...held(), fingerprint }, phase),
  notAfter: END,
});

/** The status without its records of distrust: A certified B, B certified C. */
const signerOf = (...phases: readonly AuthorityPhase[]): ClusterSigner => ({
  ...workload(),
  status: {
    authorities: phases.map((phase, index) => ca([A, B, C][index] ?? C, phase)),
    crossCertificates: [
      { issuer: A, subject: B, notAfter: END },
      { issuer: B, subject: C, notAfter: END },
    ],
  },
});

const outOf = (signer: ClusterSigner): readonly string[] => [A, B, C].filter(distrustedCas(signer));

test('an entry that is Distrusted is out of trust without a record or a spec', () => {
  assert.deepEqual(outOf(signerOf('Retiring', 'Distrusted', 'Distrusted')), [B, C]);
});

test('what entries tell of distrust is recorded again, with the reason that it had', () => {
  const reasons = (signer: ClusterSigner): readonly (readonly string[])[] =>
    (nextTrustMemory({ signer, found: [], clocksApart: false, now: BORN }).distrusted ?? []).map(
      ({ fingerprint, reason }) => [fingerprint, reason],
    );
  // A is trusted still: B was not named, but certified C, which was.
  assert.deepEqual(reasons(signerOf('Retiring', 'Distrusted', 'Distrusted')), [
    [B, 'Certifier'],
    [C, 'Named'],
  ]);
  assert.deepEqual(reasons(signerOf('Distrusted', 'Distrusted', 'Active')), [
    [A, 'Named'],
    [B, 'Named'],
  ]);
});

test('a CA in no status or bundle that took over long ago signed leaves until its end', () => {
  const half = { fingerprint: A, notBefore: BORN, notAfter: BORN + 30 * DAY, anchors: [] };
  const now = BORN + DAY;
  const at = (activatedAt: number | undefined): number | undefined =>
    unlistedLongestLeaf(half, UNPUBLISHED, { bornAt: BORN, activatedAt, now });
  assert.equal(at(BORN), (30 * DAY) / 1000);
  assert.equal(at(undefined), undefined);
});

test('a CA in no status or bundle that took over lately is new only if it never waited', () => {
  const now = BORN + DAY;
  const activatedAt = now - HOUR / 2;
  // An upstream CA may backdate its certificate by days.
  const notBefore = now - 2 * DAY;
  const half = { fingerprint: A, notBefore, notAfter: notBefore + 30 * DAY, anchors: [] };
  const at = (bornAt: number): number | undefined =>
    unlistedLongestLeaf(half, UNPUBLISHED, { bornAt, activatedAt, now });
  assert.equal(at(activatedAt), undefined);
  assert.equal(at(activatedAt - 1_000), undefined);
  // The propagation time: a status that lists it as Prepared is lost.
  assert.equal(at(activatedAt - 600_000), (30 * DAY) / 1000);
});
