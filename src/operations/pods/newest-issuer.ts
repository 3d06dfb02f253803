// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus } from '#api/signer/cluster-signer.ts';
import { countPodCertificates, type Pod } from '#api/object/pod.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { parseTime } from '#api/object/time.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { fingerprint, readCertificates } from '#pki/x509/certificate.ts';
import { verifyPath } from '#pki/x509/path.ts';
import { readAnchors } from '#pki/x509/trust-bundle.ts';
import type { NewestIssuer } from './affected-pods.ts';

/**
 * Returns a function that finds the CA of a pod's newest leaf in the existing
 * PodCertificateRequests. kube-controller-manager deletes them after 15 minutes, so for most pods
 * the result is `unknown`.
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
    // A request does not show which of several projections it was for.
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
 * Reports whether the leaf chains to an anchor of the CA, or the chain cannot be read. For a root
 * CA, only leaves that it signed itself count, because a cross-certificate also leads to it from
 * leaves of its successor.
 */
export function isIssuedBy(
  { status }: Pick<PodCertificateRequest, 'status'>,
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
