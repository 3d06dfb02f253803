// SPDX-License-Identifier: Apache-2.0
import type { Change } from '#operations/change-plan.ts';
import { revoke } from '#operations/verbs/revoke.ts';
import { workload } from '../support/signers/workload-profile.ts';
import { notObserved, run, unmanaged, type Row } from './rows.ts';
import { at, print, type Wanted } from './signer-states.ts';

const revokeA: Change = { distrust: [print('a')] };
const old: Wanted['authorities'] = { a: 'Retiring', b: 'Active' };
const podsOnly = { requests: undefined };
const { profile } = workload().spec;

/** The signer answers cert-manager as well; no people. */
const certificates = {
  ...podsOnly,
  certificateRequests: { rules: [{ name: 'all', when: 'true', allow: { dnsNames: 'true' } }] },
};

const revokes: readonly (Row & { readonly pods?: number; readonly certManager?: boolean })[] = [
  unmanaged,
  { ...notObserved, wanted: { authorities: { a: 'Prepared', b: 'Active' }, observed: 0 } },
  {
    law: 'revoking the active CA is a preflight error',
    wanted: {},
    verdict: 'refused',
    says: /is active: .*authority taint workload sha256:\w+ first/,
    change: revokeA,
  },
  {
    law: 'a CA that has not signed anything can be revoked',
    wanted: { authorities: { a: 'Prepared', b: 'Active' } },
    verdict: 'go',
    says: /kubelets/,
    change: revokeA,
  },
  {
    law: 'pods that hold leaves of the CA are a preflight error',
    wanted: { authorities: old, spec: podsOnly },
    pods: 3,
    verdict: 'refused',
    says: /3 running pods may hold leaves of sha256:\w+ until 2026-01-01T13:00:00Z/,
  },
  {
    law: 'pods that the user may not list may hold leaves',
    wanted: { authorities: old, spec: podsOnly },
    verdict: 'refused',
    says: /pods that you may not list/,
  },
  {
    law: 'a CA of which no pod holds a leaf can be revoked',
    wanted: { authorities: old, spec: podsOnly },
    pods: 0,
    verdict: 'go',
    says: /kubelets/,
    change: revokeA,
  },
  {
    law: 'with CRLs, it names the CAs whose keys are in the same Secret because their leaves live',
    wanted: {
      authorities: { a: 'Retiring', b: 'Retiring', c: 'Active' },
      spec: { ...podsOnly, profile: { ...profile, crl: { validity: '24h' } } },
    },
    pods: 0,
    verdict: 'go',
    says: new RegExp(`^the same Secret has the keys .* revoke these as well: ${print('b')}$`, 'm'),
    change: revokeA,
  },
  {
    law: 'live leaves of the CA that cross-signed it are a preflight error',
    wanted: {
      authorities: { a: 'Retiring', b: 'Retiring', c: 'Active' },
      authorityFields: { crossSignedBy: print('b') },
      spec: podsOnly,
    },
    pods: 0,
    verdict: 'refused',
    says: /^the root of sha256:\w+ leaves the bundle as well.* until 2026-01-01T13:00:00Z/,
    change: revokeA,
  },
  {
    law: 'requesters of CertificateSigningRequests may hold leaves',
    wanted: { authorities: old },
    pods: 0,
    verdict: 'refused',
    says: /^requesters of CertificateSigningRequests may hold/,
  },
  {
    law: 'Certificates of cert-manager may hold leaves',
    wanted: { authorities: old, spec: certificates },
    pods: 0,
    certManager: true,
    verdict: 'refused',
    says: /^Certificates of cert-manager may hold leaves of sha256:\w+ until/,
  },
  {
    law: 'without cert-manager no Certificate holds a leaf',
    wanted: { authorities: old, spec: certificates },
    pods: 0,
    verdict: 'go',
    says: /kubelets/,
  },
  {
    law: 'a CA whose leaves have expired can be revoked',
    wanted: { authorities: old, authorityFields: { leavesExpireBy: at(0) } },
    verdict: 'go',
    says: /kubelets/,
  },
  {
    law: 'a distrusted CA is not added again',
    wanted: { managed: { distrusted: [print('a')] } },
    verdict: 'nothing',
    says: /sha256:\w+ is already in spec.authority.managed.distrusted/,
  },
  {
    law: 'a full list is a fatal error',
    wanted: {
      managed: {
        distrusted: Array.from(
          { length: 64 },
          (_each, index) => `sha256:${String(index).padStart(64, '0')}`,
        ),
      },
    },
    verdict: 'never',
    says: /is full \(64\)/,
  },
  {
    law: 'an anchor of an earlier ClusterSigner is a preflight error: its leaves are unknown',
    wanted: { authorities: { b: 'Active' }, served: { a: 60, b: 60 } },
    verdict: 'refused',
    says: /of an earlier ClusterSigner/,
    change: revokeA,
  },
  {
    law: 'an unknown fingerprint is a preflight error: it may be a typing error',
    wanted: { authorities: { b: 'Active' }, served: {} },
    verdict: 'refused',
    says: /neither a CA of this ClusterSigner nor in its bundle/,
    change: revokeA,
  },
];

for (const row of revokes) {
  const { pods, certManager = false } = row;
  run('revoke', [row], (each) => revoke(each, print('a'), { pods, certManager }));
}
