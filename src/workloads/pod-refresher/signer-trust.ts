// SPDX-License-Identifier: Apache-2.0
import { parseTime } from '#api/object/time.ts';
import type { AuthorityStatus, ClusterSigner } from '#api/signer/cluster-signer.ts';
import { publishedAnchors } from '#pki/x509/trust-bundle.ts';
import type { DistrustedCa, TrustedSigner } from '../refresh/credentials/signer-trust.ts';
import { stoppedSigningBy } from '#ca/rotation/authorities.ts';
import { distrustedCas } from '#ca/rotation/distrusted-cas.ts';

/**
 * Reduces a ClusterSigner to its CAs. Signers are not read, since they have no field that distrusts
 * a CA.
 */
export function trustedSigner(signer: ClusterSigner | TrustedSigner): TrustedSigner {
  // The watch delivers whole ClusterSigners. A cached object is already reduced.
  if ('trust' in signer) return signer;
  const { apiVersion, kind, metadata, spec, status } = signer;
  const { name, uid, resourceVersion, creationTimestamp } = metadata;
  const isDistrusted = distrustedCas({ spec, ...(status === undefined ? {} : { status }) });
  const authorities = status?.authorities ?? [];
  const isOut = ({ fingerprint, phase }: AuthorityStatus): boolean =>
    phase === 'Distrusted' || isDistrusted(fingerprint);
  return {
    apiVersion,
    kind,
    metadata: { name, uid, resourceVersion, creationTimestamp },
    signerName: spec.signerName,
    trust: {
      distrusted: authorities.filter(isOut).map(distrustedCa),
      signs: authorities.some((each) => each.phase === 'Active' && !isOut(each)),
    },
  };
}

function distrustedCa(authority: AuthorityStatus): DistrustedCa {
  const { fingerprint, anchors = '', leavesExpireBy, notAfter } = authority;
  const keyId = publishedAnchors(anchors).get(fingerprint)?.subjectKeyIdentifier;
  return {
    hash: fingerprint.replace(/^sha256:/, ''),
    keyId: keyId && Buffer.from(keyId).toString('hex'),
    stoppedBy: stoppedSigningBy(authority),
    leavesEndBy: parseTime(leavesExpireBy ?? notAfter),
  };
}
