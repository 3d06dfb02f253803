// SPDX-License-Identifier: Apache-2.0
/**
 * Decides why one pod must be replaced, only by the credentials that its own kubelet got for it.
 */
import { createHash } from 'node:crypto';
import { isAlive, type Pod } from '#api/object/pod.ts';
import { parseTime } from '#api/object/time.ts';
import { REFRESH_MARGIN_SECONDS } from '#api/request/pod-certificate-request.ts';
import { KUBELET_LAG_MS, startsOf } from './container-starts.ts';
import type { PodCredential } from './pod-certificates.ts';
import type { DistrustedCa, SignerCas } from './signer-trust.ts';
import type { CredentialUse, PodCertificateUse, UsedCredentials } from './used-credentials.ts';

/** Prefix of a distrusted CA in a record, before the name of its signer. */
export const DISTRUSTED = 'distrusted/';

/** Reason why a pod must be replaced. */
export type OwnCause =
  /** Its kubelet has a newer credential than the one that its containers read. */
  | 'Renewed'
  /** Its containers have run for longer than a credential of this projection is valid. */
  | 'Outlived'
  /** Its credential is or may be of a distrusted CA, or it read the anchors of that CA. */
  | 'Distrusted';

/** One reason to replace one pod. */
export interface OwnChange {
  readonly cause: OwnCause;
  /** `pod-certificate/<signer name>`, or `distrusted/<signer name>` if only the CA is known. */
  readonly credential: string;
  /**
   * SHA-256 in hex of the pod's own leaf, of the distrusted CA, or of the pod's UID if no leaf is
   * known.
   */
  readonly hash: string;
  /** Milliseconds since the epoch. */
  readonly issuedAt: number;
  /** Milliseconds after `issuedAt` for which the previous credential remains usable. */
  readonly remaining: number;
}

/** The decision on one pod. */
export interface OwnJudgement {
  readonly changes: readonly OwnChange[];
  /** Signers whose credential of this pod is unknown although it may matter. */
  readonly unknown: readonly string[];
  /** Time at which the decision may change without an event, or Infinity. */
  readonly lookAgainAt: number;
}

/** Sources of the decision on one pod. */
export interface OwnSource {
  /** Returns the newest valid credential that the pod's kubelet got. */
  readonly leaf: (signerName: string) => PodCredential | undefined;
  readonly trust: (signerName: string) => SignerCas;
  /** The signers whose anchors its containers read once and keep. */
  readonly anchorsOf: readonly string[];
  /** True if its containers cannot read a file again, which the workload declares by `restart`. */
  readonly readsOnce: boolean;
  readonly now: number;
}

/** Maximum delay of a kubelet's first request, which it sends when it mounts the volume. */
const FIRST_REQUEST_MS = 5 * 60_000;
/**
 * Minimum distance of a kubelet's renewal from notBefore and notAfter (validation.go,
 * ValidatePodCertificateRequestStatusUpdate).
 */
const REFRESH_MARGIN_MS = REFRESH_MARGIN_SECONDS * 1000;

const NOTHING: OwnJudgement = { changes: [], unknown: [], lookAgainAt: Infinity };

/** Judges one pod. A pod that no kubelet has accepted yet will get the current credential. */
export function judgeOwn(pod: Pod, used: UsedCredentials, source: OwnSource): OwnJudgement {
  const accepted = parseTime(pod.status?.startTime ?? '');
  if (!isAlive(pod) || Number.isNaN(accepted)) return NOTHING;
  const found = [...used.podCertificates].map(([signerName, use]) => {
    const holder = { pod, accepted, signerName, use };
    const renewed = source.readsOnce ? judgeRenewal(holder, source) : NOTHING;
    return { ...renewed, changes: [...renewed.changes, ...distrustedLeaf(holder, source)] };
  });
  const anchors = source.anchorsOf.flatMap((signerName) =>
    possibleChanges(signerName, source.trust(signerName).distrusted, accepted, source.now),
  );
  return {
    changes: [...found.flatMap(({ changes }) => changes), ...anchors],
    unknown: found.flatMap(({ unknown }) => unknown),
    lookAgainAt: Math.min(Infinity, ...found.map(({ lookAgainAt }) => lookAgainAt)),
  };
}

interface Holder {
  readonly pod: Pod;
  readonly accepted: number;
  readonly signerName: string;
  readonly use: PodCertificateUse;
}

function judgeRenewal(holder: Holder, source: OwnSource): OwnJudgement {
  const { pod, accepted, signerName, use } = holder;
  const leaf = source.leaf(signerName);
  if (leaf === undefined) return judgeAge(holder, source.now);
  const { hash, requestedAt, isRenewal, notBefore, notAfter } = leaf;
  const isLater = accepted < requestedAt - FIRST_REQUEST_MS;
  // An earlier credential may exist before the first one that this process saw.
  const read = isRenewal ? requestedAt + KUBELET_LAG_MS : requestedAt;
  if (!isLater || !(oldestRead(pod, accepted, use) < read)) return NOTHING;
  const credential = `pod-certificate/${signerName}`;
  // Assumes that the previous one had as much left as this one has at half its lifetime, the
  // kubelet's default renewal time.
  const remaining = (notAfter - notBefore) / 2;
  const change = { cause: 'Renewed', credential, hash, issuedAt: requestedAt, remaining } as const;
  return { changes: [change], unknown: [], lookAgainAt: Infinity };
}

/**
 * Judges a pod by its age if none of its credentials was seen. None is valid for longer than the
 * projection requests. So ten minutes before the end of that time, its kubelet has tried to renew
 * what the containers read. Before that the state is unknown.
 */
function judgeAge({ pod, accepted, signerName, use }: Holder, now: number): OwnJudgement {
  const read = oldestRead(pod, accepted, use);
  const outlivedAt = read + use.maxExpirationSeconds * 1000 - REFRESH_MARGIN_MS;
  if (outlivedAt > now) {
    const isFirst = read + REFRESH_MARGIN_MS > now;
    const lookAgainAt = isFirst ? read + REFRESH_MARGIN_MS : outlivedAt;
    return { changes: [], unknown: isFirst ? [] : [signerName], lookAgainAt };
  }
  const hash = createHash('sha256').update(`${pod.metadata.uid} ${signerName}`).digest('hex');
  const credential = `pod-certificate/${signerName}`;
  // The leaf that the containers read ends this much later at the latest.
  const timing = { issuedAt: outlivedAt, remaining: REFRESH_MARGIN_MS };
  const change = { cause: 'Outlived', credential, hash, ...timing } as const;
  return { changes: [change], unknown: [], lookAgainAt: Infinity };
}

/** Returns when the first container read the files, or Infinity if none runs. */
function oldestRead(pod: Pod, accepted: number, { untilPodEnds }: CredentialUse): number {
  return untilPodEnds ? accepted : Math.min(Infinity, ...startsOf(pod));
}

function distrustedLeaf(
  { accepted, signerName, use }: Holder,
  { leaf, trust, now }: OwnSource,
): readonly OwnChange[] {
  const { distrusted } = trust(signerName);
  if (distrusted.length === 0) return [];
  const own = leaf(signerName);
  // With several projections, a request does not show which of them has the other credential.
  if (own?.issuer === undefined || use.projections > 1) {
    return possibleChanges(signerName, distrusted, accepted, now);
  }
  const ca = distrusted.find(({ keyId }) => keyId === own.issuer);
  if (ca === undefined) {
    const unnamed = distrusted.filter(({ keyId }) => keyId === undefined);
    return possibleChanges(signerName, unnamed, own.requestedAt, now);
  }
  const issuedAt = Math.min(now, ca.stoppedBy ?? now);
  return [
    {
      cause: 'Distrusted',
      credential: `pod-certificate/${signerName}`,
      hash: own.hash,
      issuedAt,
      remaining: Math.max(0, own.notAfter - issuedAt),
    },
  ];
}

/**
 * Returns the change for a credential of an unknown CA, or none. All distrusted CAs that may have
 * signed it by then count, the last of them by name.
 */
function possibleChanges(
  signerName: string,
  distrusted: readonly DistrustedCa[],
  since: number,
  now: number,
): readonly OwnChange[] {
  const stop = ({ stoppedBy = Infinity }: DistrustedCa): number => stoppedBy;
  const [last] = distrusted
    .filter((each) => since <= stop(each))
    .sort((a, b) => (stop(a) === stop(b) ? (a.hash < b.hash ? -1 : 1) : stop(b) - stop(a)));
  if (last === undefined) return [];
  const issuedAt = Math.min(now, stop(last));
  return [
    {
      cause: 'Distrusted',
      credential: `${DISTRUSTED}${signerName}`,
      hash: last.hash,
      issuedAt,
      remaining: Math.max(0, last.leavesEndBy - issuedAt),
    },
  ];
}
