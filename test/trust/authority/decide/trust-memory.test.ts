// SPDX-License-Identifier: Apache-2.0
/** ADR 0024: distrust outlives statuses. Real CAs; the authority's decision and the attester's. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  AuthorityStatus,
  ClusterSigner,
  ClusterSignerStatus,
} from '#api/signer/cluster-signer.ts';
import type { Secret } from '#api/object/object.ts';
import { CROSS_CERTIFICATES } from '#api/signer/rotation-annotations.ts';
import { formatTime } from '#api/object/time.ts';
import type { AuthorityFacts, AuthorityMaterial } from '#ca/custody/contract.ts';
import { createCrossSign } from '#ca/custody/cross-sign.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { createManagedAuthorities } from '#ca/custody/managed.ts';
import { anchorFingerprints, writeAnchors } from '#pki/x509/trust-bundle.ts';
import { writeCrossRecords } from '#ca/rotation/cross-records.ts';
import { distrustedCas } from '#ca/rotation/distrusted-cas.ts';
import { random } from '../../../support/ca/issuing.ts';
import { planOf as bundlePlanOf, served } from '../../../support/trust/bundles.ts';
import { A as LINK, OURS, planOf, secret } from '../../../support/trust/ca-secrets.ts';
import { NOW } from '../../../support/pki/chain.ts';
import { workload } from '../../../support/signers/workload-profile.ts';

const HOUR = 3_600_000;
const create = createManagedAuthorities(random);
const made = (age: number): Promise<AuthorityMaterial> =>
  create({
    keyType: 'ECDSAP256',
    commonName: 'Example workload CA',
    durationSeconds: 8_760 * 3_600,
    crossSigned: true,
    now: NOW - age * HOUR,
  });
const factsOf = (of: AuthorityMaterial): AuthorityFacts => openLocalAuthority(of, NOW).facts;

const [a, b, c] = [await made(48), await made(24), await made(1)];
const crossOfB = (await createCrossSign(random)({ old: a, next: b, now: NOW })) ?? '';
const [A, B, C] = [factsOf(a), factsOf({ ...b, cross: crossOfB }), factsOf(c)];

const signerOf = (distrusted: readonly string[], status?: ClusterSignerStatus): ClusterSigner => {
  const { status: _none, ...signer } = workload({
    'authority.managed.crossSigned': true,
    'authority.managed.distrusted': distrusted,
  });
  return status === undefined ? signer : { ...signer, status };
};

const entry = (
  { fingerprint, notBefore, notAfter, anchors }: AuthorityFacts,
  phase: AuthorityStatus['phase'],
  more: Partial<AuthorityStatus> = {},
): AuthorityStatus => ({
  fingerprint,
  phase,
  notBefore: formatTime(notBefore),
  notAfter: formatTime(notAfter),
  longestLeaf: '24h',
  anchors: writeAnchors(anchors),
  ...more,
});

const affected = (
  { certificate, key }: AuthorityMaterial,
  texts: Readonly<Record<string, string>> = {},
  annotations: Readonly<Record<string, string>> = {},
): { readonly kind: 'found'; readonly secret: Secret } => ({
  kind: 'found',
  secret: secret(
    LINK,
    { 'tls.crt': certificate, 'tls.key': key, ...texts },
    { ...OURS, ...annotations },
  ),
});

/** The ClusterSigner once the authority has looked at it and at this Secret. */
function looked(
  signer: ClusterSigner,
  look: ReturnType<typeof affected> | { readonly kind: 'missing' },
): ClusterSigner {
  return { ...signer, status: planOf({ signer, secret: look }).status };
}

const published = (signer: ClusterSigner): readonly string[] => [
  ...anchorFingerprints(served(bundlePlanOf({ signer, now: NOW })).spec.trustBundle),
];

test('the certifier of a distrusted CA stays out of trust after that CA is forgotten', () => {
  const authorities = [
    entry(B, 'Active', { crossSignedBy: A.fingerprint, longestLeaf: '1h' }),
    entry(A, 'Retiring', { longestLeaf: '2184h', leavesExpireBy: formatTime(NOW + 2_000 * HOUR) }),
  ];
  const named = looked(
    signerOf([B.fingerprint], { authorities }),
    affected(b, { 'cross.crt': crossOfB }),
  );
  const phases = named.status?.authorities?.map(({ phase }) => phase);
  assert.deepEqual(phases, ['Distrusted', 'Distrusted']);
  const replaced = looked(named, affected(c));
  assert.deepEqual(published(replaced), [C.fingerprint]);
  // B's leaves have expired and its entry is gone; A's live on. Then somebody tidies up the spec.
  const rest = (replaced.status?.authorities ?? []).filter(
    (each) => each.fingerprint !== B.fingerprint,
  );
  for (const distrusted of [[B.fingerprint], []]) {
    const later = looked(
      signerOf(distrusted, { ...replaced.status, authorities: rest }),
      affected(c),
    );
    assert.deepEqual(published(later), [C.fingerprint]);
  }
});

test('a cross-certificate is recorded, delivered or not, even for an unusable CA', () => {
  const looks = [
    affected(b, { 'cross.crt': crossOfB }),
    affected(b, { 'cross.crt': crossOfB, 'tls.key': '' }),
  ];
  for (const look of looks) {
    const { spec } = workload();
    const { status } = looked({ ...signerOf([]), spec }, look);
    assert.deepEqual(
      status?.crossCertificates?.map(({ issuer, subject }) => [issuer, subject]),
      [[A.fingerprint, B.fingerprint]],
    );
  }
});

test('a ClusterSigner without status reads cross-certificate records from the Secret', () => {
  const records = [{ issuer: A.fingerprint, subject: B.fingerprint, notAfter: A.notAfter }];
  const annotations = { [CROSS_CERTIFICATES]: writeCrossRecords(records) ?? '' };
  for (const look of [affected(c, {}, annotations), affected(b, { 'cross.crt': crossOfB })]) {
    const restored = looked(signerOf([B.fingerprint]), look);
    assert.ok([A, B].every((each) => distrustedCas(restored)(each.fingerprint)));
  }
});

test('without the Secret, a successor not yet in the status counts as cross-certified', () => {
  const authorities = [entry(A, 'Active'), entry(B, 'Prepared')];
  for (const look of [{ kind: 'missing' } as const, affected(c)]) {
    const { status } = looked(signerOf([], { authorities }), look);
    assert.equal(status?.crossCertificates?.[0]?.issuer, A.fingerprint);
  }
  // While it is prepared, and once it was discarded, nobody has certified it.
  const prepared = affected(a, { 'next.crt': b.certificate, 'next.key': b.key });
  for (const look of [prepared, affected(a)]) {
    assert.equal(looked(signerOf([], { authorities }), look).status?.crossCertificates, undefined);
  }
});

test('a distrusted CA that a backup restores is replaced without the spec naming it', () => {
  const distrusted = [
    { fingerprint: A.fingerprint, reason: 'Certifier', notAfter: formatTime(A.notAfter) },
    { fingerprint: B.fingerprint, reason: 'Named', notAfter: formatTime(B.notAfter) },
  ] as const;
  for (const back of [a, b]) {
    const plan = planOf({ signer: signerOf([], { distrusted }), secret: affected(back) });
    assert.ok(plan.step?.kind === 'make' && plan.step.slot === 'tls' && plan.step.atOnce);
    assert.match(plan.status.conditions?.[0]?.message ?? '', /left trust by distrust/);
  }
});
