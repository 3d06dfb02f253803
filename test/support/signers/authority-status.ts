// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { Authority } from '#ca/custody/contract.ts';
import { formatTime } from '#api/object/time.ts';
import { writeAnchors } from '#pki/x509/trust-bundle.ts';

/** The status of a signer whose only CA is active. */
export function statusOf({ facts }: Authority): NonNullable<ClusterSigner['status']> {
  const { notBefore, notAfter } = facts.certificate;
  return {
    authorities: [
      {
        fingerprint: facts.fingerprint,
        phase: 'Active',
        notBefore: formatTime(notBefore),
        notAfter: formatTime(notAfter),
        longestLeaf: '24h',
        anchors: writeAnchors(facts.anchors),
      },
    ],
  };
}
