// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus } from '#api/signer/cluster-signer.ts';
import { formatTime, parseTime } from '#api/object/time.ts';
import { propagatedAt } from '#ca/issuance/propagation-gate.ts';
import { anchorFingerprints } from '#pki/x509/trust-bundle.ts';
import { servedBy } from '#requests/ca/anchor-gate.ts';
import { isPreviousKeyLost } from './lost-key.ts';
import type { Observation } from './observe.ts';
import type { SignerSnapshot } from './snapshot.ts';

/**
 * Adds `signsFrom` to the CA in `tls.*`, and to an Active CA whose key components hold in memory.
 *
 * @param begins - when they may sign with the CA in `tls.*`, in milliseconds
 */
export function withSigningTimes(
  snapshot: SignerSnapshot,
  { active, inspected }: Observation,
  begins: number | undefined,
  authorities: readonly AuthorityStatus[],
): readonly AuthorityStatus[] {
  const { signer, secret, bundle, isBundleKnown } = snapshot;
  const before = new Map(
    signer.status?.authorities?.map((each) => [each.fingerprint, each.signsFrom] as const),
  );
  // The Secret or the bundle is unread, so the last time stays.
  const isUnknown = !inspected || (bundle === undefined && !isBundleKnown);
  return authorities.map(({ signsFrom: _before, ...entry }) => {
    const known = before.get(entry.fingerprint);
    const isCurrent = entry.fingerprint === active?.fingerprint;
    const isHeld = entry.phase === 'Active' && !isPreviousKeyLost(secret, entry);
    if (!isCurrent && !isHeld) return entry;
    const from = isCurrent ? begins : fromMemory(snapshot, entry);
    const signsFrom = isUnknown ? known : timeText(snapshot, entry, { known, from });
    return signsFrom === undefined ? entry : { ...entry, signsFrom };
  });
}

/**
 * Returns when components may sign with a CA that they hold in memory only. They must wait for its
 * anchor even if its Secret once exempted it.
 */
function fromMemory(
  { bundle, propagationSeconds }: SignerSnapshot,
  { anchors = '' }: AuthorityStatus,
): number | undefined {
  const gate = { ...servedBy(bundle), propagationSeconds };
  return earliest(anchors, (anchor) => propagatedAt({ ...gate, anchor }));
}

/**
 * Returns the time as text. A CA that need not wait signs since its anchor was published. A time in
 * the past stays as it is, so that other anchors of the bundle cause no write.
 */
function timeText(
  { signer, bundle, now }: SignerSnapshot,
  { anchors = '' }: AuthorityStatus,
  { known, from }: { readonly known: string | undefined; readonly from: number | undefined },
): string | undefined {
  const { servedSince } = servedBy(bundle);
  const since = earliest(anchors, (anchor) => servedSince.get(anchor));
  if (signer.spec.trustBundle === undefined || from === undefined || since === undefined) {
    return undefined;
  }
  const knownAt = parseTime(known ?? '');
  const isKept = from <= now && since <= knownAt && knownAt <= now;
  return isKept ? known : formatTime(Math.max(since, from));
}

function earliest(
  anchors: string,
  timeOf: (anchor: string) => number | undefined,
): number | undefined {
  const times = [...anchorFingerprints(anchors)].flatMap((each) => timeOf(each) ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
}
