// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus, ClusterSignerSpec } from '#api/signer/cluster-signer.ts';
import { MAX_DISTRUSTED } from '#api/signer/cluster-signer-limits.ts';
import { certifiersOf } from '#ca/rotation/distrusted-cas.ts';
import { parseTime } from '#api/object/time.ts';
import { managedAuthorityOf, notObserved } from '../preflight.ts';
import { impossible, type PreflightError, type ChangePlan } from '../change-plan.ts';
import { authoritiesOf, publishedAnchors, type SignerState } from '../signer-state.ts';
import { resolveFingerprint } from '../resolve-fingerprint.ts';
import { sharedAnchorErrors, upstreamNotes } from '../shared-anchors.ts';

/** Possible holders of the CA's leaves. */
export interface LeafHolders {
  /**
   * Number of running pods that may hold a leaf of this CA. Undefined if the user may not list them
   * all.
   */
  readonly pods: number | undefined;
  /**
   * Whether the API server serves cert-manager's CertificateRequests, which the signer may have
   * signed.
   */
  readonly certManager: boolean;
}

/**
 * Plans `revoke`, which adds the CA to `spec.authority.managed.distrusted` and so removes its
 * anchor from the bundle. Verifiers then reject all its leaves, so you should replace them first.
 * @param text - the CA's fingerprint or a prefix
 */
export function revoke(state: SignerState, text: string, holders: LeafHolders): ChangePlan {
  const managed = managedAuthorityOf(state);
  if (typeof managed === 'string') return impossible(managed);
  const found = resolveFingerprint(state, text);
  if ('problem' in found) return impossible(found.problem);
  const { fingerprint } = found;
  const { distrusted = [] } = managed;
  if (distrusted.includes(fingerprint)) {
    const notes = [`${fingerprint} is already in spec.authority.managed.distrusted`];
    return { target: fingerprint, preflightErrors: [], notes };
  }
  if (distrusted.length >= MAX_DISTRUSTED) {
    return impossible(
      `spec.authority.managed.distrusted is full (${MAX_DISTRUSTED}); remove fingerprints that countersign authority show no longer lists`,
    );
  }
  const target = authoritiesOf(state).find((each) => each.fingerprint === fingerprint);
  return {
    target: fingerprint,
    change: { distrust: [fingerprint] },
    preflightErrors: [
      ...notObserved(state),
      ...(target === undefined
        ? unknownAuthority(state, fingerprint)
        : liveLeaves(state, target, holders)),
      ...crossSigner(state, fingerprint),
      ...sharedAnchorErrors(state, fingerprint),
    ],
    notes: [...notesOf(state, target), ...upstreamNotes(state, fingerprint)],
  };
}

/**
 * Returns a note about other keys in the same Secret, which a thief also has. Keys of retiring CAs
 * stay there to sign CRLs.
 */
function keysBeside(state: SignerState, target: AuthorityStatus | undefined): readonly string[] {
  const { signer, now } = state;
  if (signer.spec.profile.crl === undefined) return [];
  const others = authoritiesOf(state)
    .filter(({ phase, fingerprint }) => phase === 'Retiring' && fingerprint !== target?.fingerprint)
    .filter(({ leavesExpireBy }) => now < parseTime(leavesExpireBy ?? ''))
    .map(({ fingerprint }) => fingerprint);
  if (others.length === 0) return [];
  return [
    `the same Secret has the keys of retiring CAs, to sign their CRLs (profile.crl): if the Secret leaked, revoke these as well: ${others.join(', ')}`,
  ];
}

/**
 * Returns an error for a CA that is not in the status: an anchor of an earlier ClusterSigner, or an
 * unknown one.
 */
function unknownAuthority(state: SignerState, fingerprint: string): readonly PreflightError[] {
  const message = publishedAnchors(state).has(fingerprint)
    ? `${fingerprint} is of an earlier ClusterSigner: it is unknown how long its leaves are valid`
    : `${fingerprint} is neither a CA of this ClusterSigner nor in its bundle`;
  return [{ message }];
}

function liveLeaves(
  { signer, now }: SignerState,
  { fingerprint, phase, leavesExpireBy }: AuthorityStatus,
  holders: LeafHolders,
): readonly PreflightError[] {
  if (phase === 'Active') {
    const message = `${fingerprint} is active: verifiers reject all its leaves as soon as they read the new bundle, and a new CA signs before all of them have its anchor; to replace it without an outage, run countersign authority taint ${signer.metadata.name} ${fingerprint} first`;
    return [{ message }];
  }
  if (phase !== 'Retiring') return [];
  if (parseTime(leavesExpireBy ?? '') <= now) return [];
  const who = possibleHolders(signer.spec, holders);
  if (who.length === 0) return [];
  const message = `${who.join(' and ')} may hold leaves of ${fingerprint} until ${leavesExpireBy ?? 'an unknown time'}; countersign authority taint ${signer.metadata.name} ${fingerprint} --restart replaces those of pods, all others must be requested again`;
  return [{ message }];
}

/**
 * Returns an error for the CA that cross-signed the revoked one. It leaves the bundle too, because
 * through its root verifiers would still accept the revoked CA.
 */
function crossSigner(state: SignerState, fingerprint: string): readonly PreflightError[] {
  const certifiers = new Set(certifiersOf(state.signer.status, new Set([fingerprint])));
  return authoritiesOf(state)
    .filter((each) => certifiers.has(each.fingerprint) && each.phase === 'Retiring')
    .filter(({ leavesExpireBy }) => state.now < parseTime(leavesExpireBy ?? ''))
    .map((each) => ({
      message: `the root of ${each.fingerprint} leaves the bundle as well, because that CA cross-signed ${fingerprint} (crossSigned): verifiers reject leaves of both, and leaves of the older CA are valid until ${each.leavesExpireBy ?? ''}`,
    }));
}

/** Returns all kinds of holders that the ClusterSigner issues to, except those without a leaf. */
function possibleHolders(
  { pods, requests, certificateRequests }: ClusterSignerSpec,
  holders: LeafHolders,
): readonly string[] {
  return [
    ...(pods === undefined || holders.pods === 0 ? [] : [podHolders(holders.pods)]),
    ...(requests === undefined ? [] : ['requesters of CertificateSigningRequests']),
    // The leaves are in Secrets that this command does not read. Their CertificateRequests may be
    // deleted.
    ...(certificateRequests === undefined || !holders.certManager
      ? []
      : ['Certificates of cert-manager']),
  ];
}

function podHolders(pods: number | undefined): string {
  return pods === undefined ? 'pods that you may not list' : `${pods} running pods`;
}

function notesOf(state: SignerState, target: AuthorityStatus | undefined): readonly string[] {
  const { signer } = state;
  const notes = [...keysBeside(state, target)];
  if (target?.phase === 'Active') {
    notes.push(
      'a new CA is created and signs as soon as its anchor is published',
      `pods get new leaves when their kubelet renews them; to replace them at once: countersign authority taint ${signer.metadata.name} ${target.fingerprint} --restart`,
    );
  }
  notes.push(
    signer.spec.trustBundle === undefined
      ? 'this ClusterSigner publishes no bundle: remove the root from every verifier that you gave it to'
      : 'kubelets that mount the bundle by name have the new one within ten minutes',
  );
  return notes;
}
