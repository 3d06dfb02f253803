// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus } from '../../api/signer/cluster-signer.ts';
import { countPodCertificates, type Pod } from '../../api/object/pod.ts';
import type { PodCertificateRequest } from '../../api/request/pod-certificate-request.ts';
import { parseTime } from '../../api/object/time.ts';
import { SignerError, attempt } from '../../errors.ts';
import { fingerprint, readCertificates } from '../../pki/x509/certificate.ts';
import { verifyPath } from '../../pki/x509/path.ts';
import { readAnchors } from '../../pki/x509/trust-bundle.ts';
import type { NewestIssuer } from './affected-pods.ts';

/**
 * Which CA issued the newest leaf of each pod, from the PodCertificateRequests that still exist.
 * kube-controller-manager deletes them after 15 minutes, so for most pods the answer is `unknown`.
 */
export function newestIssuerOf(
  requests: readonly PodCertificateRequest[],
  signerName: string,
  authority: AuthorityStatus,
): (pod: Pod) => NewestIssuer {
  const issued = requests.filter(
    ({ spec, status }) => spec.signerName === signerName && (status?.certificateChain ?? '') !== '',
  );
  const byPod = Map.groupBy(issued, ({ spec }) => spec.podUID);
  return (pod) => {
    // With several projections a request does not show which of them it was for.
    const found =
      countPodCertificates(pod, signerName) === 1 ? (byPod.get(pod.metadata.uid) ?? []) : [];
    const born = found.map(({ metadata }) => parseTime(metadata.creationTimestamp));
    const last = Math.max(...born);
    const newest = found.filter((_request, index) => born[index] === last);
    if (newest.length === 0) return 'unknown';
    return newest.some((each) => isIssuedBy(each, authority)) ? 'this' : 'another';
  };
}

/**
 * Whether the leaf chains to an anchor of the CA; true when the chain cannot be read. For a root CA only
 * leaves that it signed itself count: a cross-certificate also leads to it from leaves of its successor.
 */
function isIssuedBy(
  { status }: PodCertificateRequest,
  { fingerprint: print, anchors = '' }: AuthorityStatus,
): boolean {
  const result = attempt(() => {
    const [leaf, ...intermediates] = readCertificates(status?.certificateChain ?? '');
    if (leaf === undefined) return true;
    const roots = readAnchors(anchors);
    const isRoot = roots.some(({ raw }) => fingerprint(raw) === print);
    const between = isRoot ? [] : intermediates;
    const path = attempt(() =>
      verifyPath({ leaf, intermediates: between, anchors: roots, now: leaf.notBefore }),
    );
    return !(path instanceof SignerError);
  });
  return result instanceof SignerError || result;
}
