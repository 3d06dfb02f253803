// SPDX-License-Identifier: Apache-2.0
import type { Change } from '../../src/operations/change-plan.ts';
import { revoke } from '../../src/operations/verbs/revoke.ts';
import { own, run, unheard, type Row } from './rows.ts';
import { at, print, type Wanted } from './signer-states.ts';

const revokeA: Change = { distrust: [print('a')] };
const old: Wanted['authorities'] = { a: 'Retiring', b: 'Active' };
const podsOnly = { requests: undefined };

/** The signer answers cert-manager as well; no people. */
const certificates = {
  ...podsOnly,
  certificateRequests: { rules: [{ name: 'all', when: 'true', allow: { dnsNames: 'true' } }] },
};

const revokes: readonly (Row & { readonly pods?: number; readonly certManager?: boolean })[] = [
  own,
  { ...unheard, wanted: { authorities: { a: 'Prepared', b: 'Active' }, observed: 0 } },
  {
    law: 'the CA that signs is not cut off unawares',
    wanted: {},
    verdict: 'refused',
    says: /signs now: .*taint workload first/,
    change: revokeA,
  },
  {
    law: 'a CA that signed nothing can go',
    wanted: { authorities: { a: 'Prepared', b: 'Active' } },
    verdict: 'go',
    says: /kubelets/,
    change: revokeA,
  },
  {
    law: 'while pods hold its leaves it stays trusted',
    wanted: { authorities: old, spec: podsOnly },
    pods: 3,
    verdict: 'refused',
    says: /3 running pods may hold leaves of sha256:\w+ until 2026-01-01T13:00:00Z/,
  },
  {
    law: 'pods that may not be looked at may hold its leaves',
    wanted: { authorities: old, spec: podsOnly },
    verdict: 'refused',
    says: /pods that you may not list/,
  },
  {
    law: 'once no pod holds a leaf it can go',
    wanted: { authorities: old, spec: podsOnly },
    pods: 0,
    verdict: 'go',
    says: /kubelets/,
    change: revokeA,
  },
  {
    law: 'the CA that certified its key goes with it: while leaves of that one live, that is said first',
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
    law: 'what people hold cannot be looked up',
    wanted: { authorities: old },
    pods: 0,
    verdict: 'refused',
    says: /^whoever asked by CertificateSigningRequest may hold/,
  },
  {
    law: 'what cert-manager keeps in Secrets cannot be looked up',
    wanted: { authorities: old, spec: certificates },
    pods: 0,
    certManager: true,
    verdict: 'refused',
    says: /^Certificates of cert-manager may hold leaves of sha256:\w+ until/,
  },
  {
    law: 'where there is no cert-manager nobody got a leaf by it',
    wanted: { authorities: old, spec: certificates },
    pods: 0,
    verdict: 'go',
    says: /kubelets/,
  },
  {
    law: 'once its leaves have expired it can go',
    wanted: { authorities: old, authorityFields: { leavesExpireBy: at(0) } },
    verdict: 'go',
    says: /kubelets/,
  },
  {
    law: 'what is distrusted is not written twice',
    wanted: { managed: { distrusted: [print('a')] } },
    verdict: 'nothing',
    says: /names sha256:\w+ already/,
  },
  {
    law: 'a full list takes no more',
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
    law: 'an anchor of an earlier ClusterSigner has leaves that nobody knows of',
    wanted: { authorities: { b: 'Active' }, served: { a: 60, b: 60 } },
    verdict: 'refused',
    says: /of an earlier ClusterSigner/,
    change: revokeA,
  },
  {
    law: 'a fingerprint that nobody has seen may be a slip',
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
