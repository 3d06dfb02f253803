// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus, ClusterSignerSpec } from '../api/signer/cluster-signer.ts';
import { MAX_DISTRUSTED } from '../api/signer/cluster-signer-limits.ts';
import { parseTime } from '../api/object/time.ts';
import { managedOf, unheard } from './objections.ts';
import { never, type Objection, type Order } from './order.ts';
import { authoritiesOf, published, type Situation } from './situation.ts';
import { findTarget } from './target.ts';

/** What is known of those who hold leaves of the CA. */
export interface Holders {
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
export function revoke(situation: Situation, text: string, holders: Holders): Order {
  const managed = managedOf(situation);
  if (typeof managed === 'string') return never(managed);
  const found = findTarget(situation, text);
  if ('problem' in found) return never(found.problem);
  const { fingerprint } = found;
  const { distrusted = [] } = managed;
  if (distrusted.includes(fingerprint)) {
    const notes = [`spec.authority.managed.distrusted names ${fingerprint} already`];
    return { target: fingerprint, objections: [], notes };
  }
  if (distrusted.length >= MAX_DISTRUSTED) {
    return never(
      `spec.authority.managed.distrusted is full (${MAX_DISTRUSTED}); take fingerprints out that countersign authority show does not list any more`,
    );
  }
  const target = authoritiesOf(situation).find((each) => each.fingerprint === fingerprint);
  return {
    target: fingerprint,
    change: { distrust: [fingerprint] },
    objections: [
      ...unheard(situation),
      ...(target === undefined
        ? stranger(situation, fingerprint)
        : [...living(situation, target, holders), ...certifierOf(situation, target)]),
    ],
    notes: notesOf(situation, target),
  };
}

/** No CA of the status: an anchor of an earlier ClusterSigner, or one that nobody has seen here. */
function stranger(situation: Situation, fingerprint: string): readonly Objection[] {
  const message = published(situation).has(fingerprint)
    ? `${fingerprint} is of an earlier ClusterSigner: nobody here knows how long its leaves live`
    : `${fingerprint} is neither a CA of this ClusterSigner nor in its bundle`;
  return [{ message }];
}

function living(
  { signer, now }: Situation,
  { fingerprint, phase, leavesExpireBy }: AuthorityStatus,
  holders: Holders,
): readonly Objection[] {
  if (phase === 'Active') {
    const message = `${fingerprint} signs now: all its leaves are refused as soon as verifiers read the new bundle, and a fresh CA signs before all of them have its anchor; countersign authority taint ${signer.metadata.name} first replaces it without a gap`;
    return [{ message }];
  }
  if (phase !== 'Retiring') return [];
  if (parseTime(leavesExpireBy ?? '') <= now) return [];
  const who = whoMayHold(signer.spec, holders);
  if (who.length === 0) return [];
  const message = `${who.join(', and ')} may hold leaves of ${fingerprint} until ${leavesExpireBy ?? 'nobody knows when'}; countersign authority taint ${signer.metadata.name} ${fingerprint} --restart replaces those of pods; others have to be asked for anew`;
  return [{ message }];
}

/** The CA that certified its key goes out of trust with it: its root would be the way back in. */
function certifierOf(
  situation: Situation,
  { fingerprint, crossSignedBy }: AuthorityStatus,
): readonly Objection[] {
  return authoritiesOf(situation)
    .filter((each) => each.fingerprint === crossSignedBy && each.phase === 'Retiring')
    .filter(({ leavesExpireBy }) => situation.now < parseTime(leavesExpireBy ?? ''))
    .map((each) => ({
      message: `the root of ${each.fingerprint} leaves the bundle as well, because that CA certified the key of ${fingerprint} (crossSigned): leaves of both are refused, of the older one until ${each.leavesExpireBy ?? ''}`,
    }));
}

/** Everybody whom the ClusterSigner answers, but for those who are known to hold nothing. */
function whoMayHold(
  { pods, requests, certificateRequests }: ClusterSignerSpec,
  holders: Holders,
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

function notesOf({ signer }: Situation, target: AuthorityStatus | undefined): readonly string[] {
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
