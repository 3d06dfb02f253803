// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuthorityStatus, ClusterSigner } from '#api/signer/cluster-signer.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import type { SignerPlan } from '#trust/authority/decide/decide.ts';
import { inspectWith } from '#trust/authority/decide/inspect.ts';
import { encodePem } from '#pki/der/pem.ts';
import { NOW, ca, link, usage } from '../../../support/pki/chain.ts';
import { AMBIGUOUS_CAS } from '../../../support/pki/forms.ts';
import { teamSigner } from '../../../support/signers/namespaced-signer.ts';
import { workload } from '../../../support/signers/workload-profile.ts';
import {
  A,
  B,
  BELOW,
  after,
  certificate,
  fingerprintOf,
  planOf,
  readyOf,
  secret,
} from '../../../support/trust/ca-secrets.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** The longest leaf, and ten minutes in which the signer need not have heard of it yet. */
const RETIRED = DAY + 10 * 60_000;
/** A verifier's clock may be late by five minutes. */
const GONE = RETIRED + 5 * 60_000;

/** The consent of the owner of the Secret to the Signer of `teamSigner`. */
const TEAM_GRANT = { 'countersign.dev/signer-name': 'signers.countersign.dev/team-a.web' };

function authorities({ status }: SignerPlan): readonly [AuthorityStatus, ...AuthorityStatus[]] {
  const [first, ...rest] = status.authorities ?? [];
  assert.ok(first !== undefined);
  return [first, ...rest];
}

/** What is decided once the Secret holds B instead of A. */
const rotated = (signer: ClusterSigner, now = NOW): SignerPlan =>
  planOf({ signer, now, secret: { kind: 'found', secret: secret(B) } });

test('the status has the public data of the signing CA: times and anchors, no key', () => {
  const plan = planOf();
  const [active, ...more] = authorities(plan);
  assert.deepEqual(more, []);
  assert.equal(active.fingerprint, fingerprintOf(A));
  assert.equal(active.phase, 'Active');
  assert.equal(Date.parse(active.notBefore), certificate(A).validFromDate.getTime());
  assert.equal(Date.parse(active.notAfter), certificate(A).validToDate.getTime());
  assert.equal(active.longestLeaf, '24h');
  assert.equal(active.anchors, certificate(A).toString());
  assert.ok(!JSON.stringify(plan.status).includes('PRIVATE'));
});

test('the anchor of an intermediate CA is its root', () => {
  const texts = { 'ca.crt': certificate(A).toString() };
  const plan = planOf({ secret: { kind: 'found', secret: secret(BELOW, texts) } });
  const [active] = authorities(plan);
  assert.equal(active.fingerprint, fingerprintOf(BELOW));
  assert.equal(active.anchors, certificate(A).toString());
});

/** What is decided of a CA of a team, which the team puts into its Secret itself. */
function planOfOwn(texts: Readonly<Record<string, string>>): SignerPlan {
  const signer = teamSigner();
  const inspect = inspectWith(openLocalAuthority, NOW, signer);
  return planOf({
    signer,
    inspect,
    secret: { kind: 'found', secret: secret(BELOW, texts, TEAM_GRANT) },
  });
}

test('Degraded names the verifiers that reject an anchor without its root', () => {
  const degradedWith = (of: typeof A): readonly (string | undefined)[] => {
    const { conditions } = planOfOwn({ 'ca.crt': certificate(of).toString() }).status;
    const { status, reason, message } = conditions?.find(({ type }) => type === 'Degraded') ?? {};
    return [status, reason, message];
  };
  const [status, reason, message = ''] = degradedWith(BELOW);
  assert.deepEqual([status, reason], ['True', 'AnchorRejected']);
  assert.match(
    message,
    /"CN=below" is an anchor but not a root.*: rejected by OpenSSL, .*Node, Python/,
  );
  assert.equal(degradedWith(A)[0], 'False');
});

test('a Secret whose ca.crt lacks the root of its tls.crt is not usable', () => {
  const chain = certificate(BELOW).toString() + certificate(A).toString();
  const plan = planOfOwn({ 'tls.crt': chain, 'ca.crt': certificate(BELOW).toString() });
  assert.equal(readyOf(plan).reason, 'NoTrustAnchor');
  assert.deepEqual(plan.status.authorities ?? [], []);
});

test('an odd anchor is left out: Degraded names it, and the CA signs', () => {
  const [odd = new Uint8Array()] = Object.values(AMBIGUOUS_CAS);
  const texts = { 'ca.crt': encodePem('CERTIFICATE', odd) + certificate(A).toString() };
  const found = { kind: 'found', secret: secret(BELOW, texts, TEAM_GRANT) } as const;
  const plan = planOf({ signer: teamSigner(), secret: found });
  const [active] = authorities(plan);
  assert.equal(active.phase, 'Active');
  assert.equal(active.anchors, certificate(A).toString());
  const degraded = plan.status.conditions?.find(({ type }) => type === 'Degraded');
  assert.deepEqual([degraded?.status, degraded?.reason], ['True', 'AnchorsOmitted']);
  assert.match(
    degraded?.message ?? '',
    /^ca\.crt: certificate 1 \("CN=root", sha256:.*unused bits/,
  );
});

test('Degraded names a certificate of tls.crt that no leaf comes with', () => {
  const unrelated = link('unrelated', { extensions: [ca(0), usage()], by: B });
  const chain = certificate(BELOW).toString() + certificate(unrelated).toString();
  const plan = planOfOwn({ 'tls.crt': chain, 'ca.crt': certificate(A).toString() });
  const degraded = plan.status.conditions?.find(({ type }) => type === 'Degraded');
  assert.deepEqual([degraded?.status, degraded?.reason], ['True', 'CertificatesOmitted']);
  assert.match(
    degraded?.message ?? '',
    /^leaves come without these certificates of tls\.crt: certificate 2 /,
  );
});

test('RotationDue of an own CA says by when its successor must be in its Secret', () => {
  const found = { kind: 'found', secret: secret(A, {}, TEAM_GRANT) } as const;
  const { conditions } = planOf({ signer: teamSigner(), secret: found }).status;
  const { status, message = '' } = conditions?.find(({ type }) => type === 'RotationDue') ?? {};
  assert.equal(status, 'False');
  assert.match(message, /^put its successor into its Secret by \d{4}-\d{2}-\d{2}T[\d:]{8}Z$/);
});

test('the status of a Signer has the anchors of its CA and of those before it', () => {
  const held = (of: typeof A): SignerPlan['status'] => {
    const found = { kind: 'found', secret: secret(of, {}, TEAM_GRANT) } as const;
    return planOf({ signer: { ...signer, status }, secret: found }).status;
  };
  const signer = teamSigner();
  let status: SignerPlan['status'] = {};
  status = held(A);
  status = held(B);
  assert.deepEqual(
    status.authorities?.map(({ phase, fingerprint, anchors }) => [phase, fingerprint, anchors]),
    [
      ['Active', fingerprintOf(B), certificate(B).toString()],
      ['Retiring', fingerprintOf(A), certificate(A).toString()],
    ],
  );
});

test('the same input gives the same status at any later time', () => {
  const first = planOf();
  assert.deepEqual(planOf({ signer: after(first), now: NOW + HOUR }).status, first.status);
});

test('lastTransitionTime changes only with the status of the condition', () => {
  const first = planOf({ secret: { kind: 'missing' } });
  const second = planOf({ signer: after(first), elder: 'first', now: NOW + HOUR });
  assert.equal(readyOf(second).lastTransitionTime, '2026-06-01T00:00:00Z');
  const third = planOf({ signer: after(second), now: NOW + HOUR });
  assert.equal(readyOf(third).lastTransitionTime, '2026-06-01T01:00:00Z');
});

test('a replaced CA stays trusted until its longest leaf expires, also a late one', () => {
  const [active, retiring] = authorities(rotated(after(planOf())));
  assert.deepEqual([active.fingerprint, active.phase], [fingerprintOf(B), 'Active']);
  assert.deepEqual([retiring?.fingerprint, retiring?.phase], [fingerprintOf(A), 'Retiring']);
  assert.equal(Date.parse(retiring?.leavesExpireBy ?? ''), NOW + RETIRED);
  assert.equal(retiring?.anchors, certificate(A).toString());
});

test('a retiring CA keeps its end, and is removed when it comes', () => {
  const signer = after(rotated(after(planOf())));
  const [, kept] = authorities(rotated(signer, NOW + GONE - 1000));
  assert.equal(Date.parse(kept?.leavesExpireBy ?? ''), NOW + RETIRED);
  assert.equal(authorities(rotated(signer, NOW + GONE)).length, 1);
});

test('the controller looks again exactly at the end of a retiring CA', () => {
  assert.equal(rotated(after(planOf())).requeueAt, NOW + GONE);
});

test('the longest leaf only grows: a shorter profile invalidates no leaf', () => {
  const shorter = workload({ 'profile.maxDuration': '2h' });
  const signer = after(planOf(), shorter);
  assert.equal(authorities(planOf({ signer }))[0].longestLeaf, '24h');
  const longer = workload({ 'profile.maxDuration': '48h' });
  assert.equal(authorities(planOf({ signer: after(planOf(), longer) }))[0].longestLeaf, '48h');
});

test('a CA that expires before its retention ends is kept only until it expires', () => {
  const end = certificate(A).validToDate.getTime();
  const [, retiring] = authorities(rotated(after(planOf()), end - HOUR));
  assert.equal(Date.parse(retiring?.leavesExpireBy ?? ''), end);
});

test('a CA that signs again is Active again, with one entry', () => {
  const back = planOf({ signer: after(rotated(after(planOf()))) });
  const phases = authorities(back).map(({ fingerprint, phase }) => [fingerprint, phase]);
  assert.deepEqual(phases, [
    [fingerprintOf(A), 'Active'],
    [fingerprintOf(B), 'Retiring'],
  ]);
});

test('while no usable CA is known all entries stay', () => {
  const signer = after(rotated(after(planOf())));
  const broken = { kind: 'found', secret: secret(A, { 'tls.key': 'x' }) } as const;
  const kept = planOf({ signer, secret: broken, now: NOW + DAY });
  assert.deepEqual(kept.status.authorities, signer.status?.authorities);
  const lost = planOf({ signer, secret: { kind: 'missing' }, now: NOW + DAY });
  const [active, ...rest] = signer.status?.authorities ?? [];
  const { signsFrom: _lost, ...entry } = active ?? {};
  assert.deepEqual(lost.status.authorities, [entry, ...rest]);
});
