// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus, ClusterSignerSpec } from '../../api/signer/cluster-signer.ts';
import { MAX_DISTRUSTED } from '../../api/signer/cluster-signer-limits.ts';
import { parseTime } from '../../api/object/time.ts';
import { managedAuthorityOf, notObserved } from '../preflight.ts';
import { impossible, type PreflightError, type ChangePlan } from '../change-plan.ts';
import { authoritiesOf, publishedAnchors, type SignerState } from '../signer-state.ts';
import { resolveFingerprint } from '../resolve-fingerprint.ts';

/** What is known of those who hold leaves of the CA. */
export interface LeafHolders {
  /** Running pods whose leaf may be of this CA; undefined where the user may not see them all. */
  readonly pods: number | undefined;
  /** Whether this API server has cert-manager's CertificateRequests, which the signer may have signed. */
  readonly certManager: boolean;
}

/**
 * `revoke`: its fingerprint goes into `distrusted`, its anchor leaves the bundle. Whatever leaf of it
 * lives is refused by everybody from then on, so its leaves should be gone first.
 *
 * @param text - the CA's fingerprint, or its beginning
 */
export function revoke(state: SignerState, text: string, holders: LeafHolders): ChangePlan {
  const managed = managedAuthorityOf(state);
  if (typeof managed === 'string') return impossible(managed);
  const found = resolveFingerprint(state, text);
  if ('problem' in found) return impossible(found.problem);
  const { fingerprint } = found;
  const { distrusted = [] } = managed;
  if (distrusted.includes(fingerprint)) {
    const notes = [`spec.authority.managed.distrusted names ${fingerprint} already`];
    return { target: fingerprint, preflightErrors: [], notes };
  }
  if (distrusted.length >= MAX_DISTRUSTED) {
    return impossible(
      `spec.authority.managed.distrusted is full (${MAX_DISTRUSTED}); take fingerprints out that countersign authority show does not list any more`,
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
        : [...liveLeaves(state, target, holders), ...crossSigner(state, target)]),
    ],
    notes: notesOf(state, target),
  };
}

/** No CA of the status: an anchor of an earlier ClusterSigner, or one that nobody has seen here. */
function unknownAuthority(state: SignerState, fingerprint: string): readonly PreflightError[] {
  const message = publishedAnchors(state).has(fingerprint)
    ? `${fingerprint} is of an earlier ClusterSigner: nobody here knows how long its leaves live`
    : `${fingerprint} is neither a CA of this ClusterSigner nor in its bundle`;
  return [{ message }];
}

function liveLeaves(
  { signer, now }: SignerState,
  { fingerprint, phase, leavesExpireBy }: AuthorityStatus,
  holders: LeafHolders,
): readonly PreflightError[] {
  if (phase === 'Active') {
    const message = `${fingerprint} signs now: all its leaves are refused as soon as verifiers read the new bundle, and a fresh CA signs before all of them have its anchor; countersign authority taint ${signer.metadata.name} first replaces it without a gap`;
    return [{ message }];
  }
  if (phase !== 'Retiring') return [];
  if (parseTime(leavesExpireBy ?? '') <= now) return [];
  const who = possibleHolders(signer.spec, holders);
  if (who.length === 0) return [];
  const message = `${who.join(', and ')} may hold leaves of ${fingerprint} until ${leavesExpireBy ?? 'nobody knows when'}; countersign authority taint ${signer.metadata.name} ${fingerprint} --restart replaces those of pods; others have to be asked for anew`;
  return [{ message }];
}

/** The CA that certified its key goes out of trust with it: its root would be the way back in. */
function crossSigner(
  state: SignerState,
  { fingerprint, crossSignedBy }: AuthorityStatus,
): readonly PreflightError[] {
  return authoritiesOf(state)
    .filter((each) => each.fingerprint === crossSignedBy && each.phase === 'Retiring')
    .filter(({ leavesExpireBy }) => state.now < parseTime(leavesExpireBy ?? ''))
    .map((each) => ({
      message: `the root of ${each.fingerprint} leaves the bundle as well, because that CA certified the key of ${fingerprint} (crossSigned): leaves of both are refused, of the older one until ${each.leavesExpireBy ?? ''}`,
    }));
}

/** Everybody whom the ClusterSigner answers, but for those who are known to hold nothing. */
function possibleHolders(
  { pods, requests, certificateRequests }: ClusterSignerSpec,
  holders: LeafHolders,
): readonly string[] {
  return [
    ...(pods === undefined || holders.pods === 0 ? [] : [podsText(holders.pods)]),
    ...(requests === undefined ? [] : ['whoever asked by CertificateSigningRequest']),
    // Their leaves lie in Secrets, which nobody here may read; a CertificateRequest may be gone by now.
    ...(certificateRequests === undefined || !holders.certManager
      ? []
      : ['Certificates of cert-manager']),
  ];
}

function podsText(pods: number | undefined): string {
  return pods === undefined ? 'pods that you may not list' : `${pods} running pods`;
}

function notesOf({ signer }: SignerState, target: AuthorityStatus | undefined): readonly string[] {
  const notes: string[] = [];
  if (target?.phase === 'Active') {
    notes.push(
      'a fresh CA is made and signs as soon as its anchor is published',
      `pods get leaves of it when their kubelet renews them; at once with: countersign authority taint ${signer.metadata.name} ${target.fingerprint} --restart`,
    );
  }
  notes.push(
    signer.spec.trustBundle === undefined
      ? 'this ClusterSigner publishes no bundle: take the root away from whoever was given it'
      : 'kubelets that read the bundle by name have the new one within ten minutes',
  );
  return notes;
}
