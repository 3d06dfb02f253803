// SPDX-License-Identifier: Apache-2.0
/** What `authority` says of the CRL of a CA whose key its Secret does not have. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuthorityPhase } from '#api/signer/cluster-signer.ts';
import { formatTime } from '#api/object/time.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { listKey, type CrlConfigMap } from '#ca/revocation/published.ts';
import { decideLists, type CrlSnapshot } from '#trust/authority/crl/decide-lists.ts';
import { signDue } from '#trust/authority/crl/write.ts';
import { NOW } from '../../../support/pki/chain.ts';
import { workload } from '../../../support/signers/workload-profile.ts';
import { A, B, fingerprintOf, secret } from '../../../support/trust/ca-secrets.ts';

const DAY = 86_400_000;
const CRL = { validity: '24h' };
const END = formatTime(NOW + DAY);

/** The snapshot of a Secret with this CA, while the status has A in this phase. */
function snapshotOf(of: typeof A, phase: AuthorityPhase, configMap?: CrlConfigMap): CrlSnapshot {
  const authority = {
    fingerprint: fingerprintOf(A),
    phase,
    notBefore: formatTime(NOW - DAY),
    notAfter: formatTime(NOW + 365 * DAY),
    longestLeaf: '24h',
    ...(phase === 'Retiring' ? { leavesExpireBy: END } : {}),
  };
  return {
    signer: workload({}, { status: { authorities: [authority] } }),
    crl: CRL,
    secret: secret(of),
    configMap,
    revocations: [],
    open: openLocalAuthority,
    now: NOW,
  };
}

/** The ConfigMap with the CRL of A, and its nextUpdate. */
function published(): { readonly configMap: CrlConfigMap; readonly nextUpdate: number } {
  const [signed] = signDue(decideLists(snapshotOf(A, 'Active'))).lists;
  assert.ok(signed);
  const { list, fingerprint } = signed;
  const { metadata } = secret(A);
  const binaryData = { [listKey(fingerprint)]: Buffer.from(list.raw).toString('base64') };
  return {
    configMap: { apiVersion: 'v1', kind: 'ConfigMap', metadata, binaryData },
    nextUpdate: list.nextUpdate,
  };
}

for (const phase of ['Active', 'Retiring'] as const) {
  test(`a CA that is ${phase} without its key has a CRL that cannot be signed`, () => {
    const { configMap, nextUpdate } = published();
    const [fault = '', ...more] = decideLists(snapshotOf(B, phase, configMap)).faults;
    assert.deepEqual(more, []);
    assert.ok(fault.includes(fingerprintOf(A)));
    assert.match(fault, /No CRL lists certificates of this CA that you revoke from now on/);
    assert.ok(fault.includes(`reject its leaves after ${formatTime(nextUpdate)}`));
    assert.equal(fault.includes(`Its last leaf expires by ${END}`), phase === 'Retiring');
  });
}

test('without a published CRL, verifiers that check CRLs find none', () => {
  const [fault = ''] = decideLists(snapshotOf(B, 'Retiring')).faults;
  assert.match(fault, /Verifiers that check CRLs find none and reject its leaves/);
});

test('a CA whose key is in its Secret has no fault of its CRL', () => {
  assert.deepEqual(decideLists(snapshotOf(A, 'Active')).faults, []);
});

test('a CRL that cannot be signed for any cause does not stop those of the other CAs', () => {
  const failing = decideLists(snapshotOf(A, 'Active')).lists.map((plan) => ({
    ...plan,
    authority: {
      ...plan.authority,
      signList: () => {
        throw new RangeError('a year');
      },
    },
  }));
  const signed = signDue({ lists: [...failing, ...decideLists(snapshotOf(B, 'Active')).lists] });
  assert.deepEqual(
    signed.lists.map(({ fingerprint }) => fingerprint),
    [fingerprintOf(B)],
  );
  assert.deepEqual(signed.faults, [`authority cannot sign the CRL of ${fingerprintOf(A)}: a year`]);
});
