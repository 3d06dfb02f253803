// SPDX-License-Identifier: Apache-2.0
/**
 * Decides whether verifiers still accept a pod's leaf, as far as the API server's objects show it.
 * Pure.
 */
import { countPodCertificates, type Pod } from '#api/object/pod.ts';
import { parseTime } from '#api/object/time.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { Revocation } from '#api/revocation/revocation.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { fingerprint, readCertificates, type Certificate } from '#pki/x509/certificate.ts';
import { verifyPath } from '#pki/x509/path.ts';
import { readAnchors } from '#pki/x509/trust-bundle.ts';
import { stoppedSigningBy } from '#ca/rotation/authorities.ts';
import { canonicalSerial, serialText } from '#ca/revocation/serial.ts';
import { authoritiesOf, type SignerState } from '../signer-state.ts';
import { isIssuedBy } from './newest-issuer.ts';

/**
 * The trust in a pod's leaf. `untrusted`: no path leads to the published bundle. `revoked`: a
 * Revocation has its serial number. `doubtful`: the pod is older than the last signature of a CA
 * that is distrusted now. `unknown`: no object shows which leaf the pod holds.
 */
export type LeafTrust =
  | { readonly kind: 'trusted'; readonly leaf: string }
  | { readonly kind: 'untrusted'; readonly leaf: string; readonly authority: string | undefined }
  | { readonly kind: 'revoked'; readonly leaf: string; readonly by: Revocation }
  | { readonly kind: 'doubtful'; readonly authority: string }
  | { readonly kind: 'unknown' };

/** The objects that decide about a pod's leaf. */
export interface LeafTrustInput {
  readonly state: SignerState;
  /**
   * PodCertificateRequests, of this pod and of others. They exist for 15 minutes after their end.
   */
  readonly requests: readonly PodCertificateRequest[];
  readonly revocations: readonly Revocation[];
}

const UNKNOWN: LeafTrust = { kind: 'unknown' };

/** Returns the Revocations of a signer with an unexpired certificate. */
export function revocationsInForce(
  all: readonly Revocation[],
  { signer, now }: Pick<SignerState, 'signer' | 'now'>,
): readonly Revocation[] {
  return all.filter(
    ({ spec }) =>
      spec.signerName === signer.spec.signerName &&
      spec.certificates.some(({ notAfter }) => notAfter === undefined || parseTime(notAfter) > now),
  );
}

/** Determines the trust in a pod's leaf of one signer. */
export function leafTrust(pod: Pod, input: LeafTrustInput): LeafTrust {
  const request = newestIssued(pod, input);
  if (request === undefined) return trustByAge(pod, input);
  return chainTrust(request, input) ?? trustByAge(pod, input);
}

/**
 * Determines the trust in the leaf that a request delivered. Returns undefined if its chain cannot
 * be read, or no bundle is known.
 */
export function chainTrust(
  request: Pick<PodCertificateRequest, 'status'>,
  { state, revocations }: Omit<LeafTrustInput, 'requests'>,
): LeafTrust | undefined {
  const chain = attempt(() => readCertificates(request.status?.certificateChain ?? ''));
  if (chain instanceof SignerError) return undefined;
  const [leaf, ...intermediates] = chain;
  if (leaf === undefined) return undefined;
  const print = fingerprint(leaf.raw);
  const by = revocationOf(leaf, state, revocations);
  if (by !== undefined) return { kind: 'revoked', leaf: print, by };
  const trusted = reachesBundle(leaf, intermediates, state);
  if (trusted === undefined) return undefined;
  if (trusted) return { kind: 'trusted', leaf: print };
  const issuer = authoritiesOf(state).find((each) => isIssuedBy(request, each));
  return { kind: 'untrusted', leaf: print, authority: issuer?.fingerprint };
}

/**
 * Returns the newest issued request. With several projections, a request does not show which of
 * them it was for.
 */
function newestIssued(
  pod: Pod,
  { state, requests }: LeafTrustInput,
): PodCertificateRequest | undefined {
  const { signerName } = state.signer.spec;
  if (countPodCertificates(pod, signerName) !== 1) return undefined;
  return requests
    .filter(
      ({ spec, status }) =>
        spec.podUID === pod.metadata.uid &&
        spec.signerName === signerName &&
        (status?.certificateChain ?? '') !== '',
    )
    .toSorted((a, b) => bornAt(a) - bornAt(b))
    .at(-1);
}

function bornAt({ metadata }: PodCertificateRequest): number {
  return parseTime(metadata.creationTimestamp);
}

/**
 * Determines the trust by the pod's age. A pod that a kubelet accepted after a CA stopped signing
 * has no leaf of that CA.
 */
function trustByAge(pod: Pod, { state }: LeafTrustInput): LeafTrust {
  const since = parseTime(pod.status?.startTime ?? pod.metadata.creationTimestamp);
  const held = authoritiesOf(state).find((each) => {
    const { phase, leavesExpireBy } = each;
    const stopped = stoppedSigningBy(each);
    // If the end of the CA hides when it stopped, its leaves are indistinguishable from later ones.
    if (phase !== 'Distrusted' || stopped === undefined) return false;
    return since <= stopped && parseTime(leavesExpireBy ?? '') > state.now;
  });
  return held === undefined ? UNKNOWN : { kind: 'doubtful', authority: held.fingerprint };
}

/** Returns a Revocation with the leaf's serial number. */
function revocationOf(
  leaf: Certificate,
  { signer }: SignerState,
  revocations: readonly Revocation[],
): Revocation | undefined {
  const serial = serialText(leaf.serial);
  return revocations.find(
    ({ spec }) =>
      spec.signerName === signer.spec.signerName &&
      spec.certificates.some((each) => canonicalSerial(each.serial) === serial),
  );
}

/**
 * Reports whether the leaf chains to the bundle. Returns undefined if the signer publishes no
 * bundle, or the user may not read it.
 */
function reachesBundle(
  leaf: Certificate,
  intermediates: readonly Certificate[],
  { signer, bundle, now }: SignerState,
): boolean | undefined {
  if (signer.spec.trustBundle === undefined || bundle === 'unread') return undefined;
  const anchors = attempt(() => readAnchors(bundle?.spec.trustBundle ?? ''));
  if (anchors instanceof SignerError) return undefined;
  // The kubelet renews an expired leaf, so only its issuer counts.
  const at = Math.min(Math.max(now, leaf.notBefore), leaf.notAfter);
  const path = attempt(() => verifyPath({ leaf, intermediates, anchors, now: at }));
  return !(path instanceof SignerError);
}
