// SPDX-License-Identifier: Apache-2.0
import type { ClusterTrustBundle } from '../../api/object/cluster-trust-bundle.ts';
import {
  FETCHED_AT,
  SPIFFE_SEQUENCE,
  TRUST_DOMAIN,
  federatedBundleName,
} from '../../api/object/federated-bundle.ts';
import { SECRET_NAMESPACE } from '../../api/signer/bundle-annotations.ts';
import { fingerprint, type Certificate } from '../../pki/x509/certificate.ts';
import { publishedAnchors, writeAnchors } from '../../pki/x509/trust-bundle.ts';
import { judgeBundle, type JudgedBy } from '../../spiffe/judge-bundle.ts';
import { readBundle } from '../../spiffe/read-bundle.ts';
import type { Fetched } from './fetch.ts';

/** A trust domain's ClusterTrustBundle, and what is known of it. */
export interface FederatedState {
  readonly trustDomain: string;
  readonly existing: ClusterTrustBundle | undefined;
  readonly now: number;
  /** How long it is kept without a good answer: milliseconds. */
  readonly keepMs: number;
}

/** What is done. Each `reason` is CamelCase, for an Event and a metric. */
export type FederatedChange =
  | { readonly kind: 'keep'; readonly reason?: string; readonly message?: string }
  | {
      readonly kind: 'write';
      readonly reason: string;
      readonly text: string;
      readonly sequence: bigint | undefined;
      readonly at: number;
    }
  | { readonly kind: 'drop'; readonly reason: string; readonly message: string };

/** What a look found: the change, and when to look again, in seconds as the other side suggests. */
export interface FederatedLook {
  readonly change: FederatedChange;
  readonly refreshSeconds?: number | undefined;
  /** Whether the answer was a bundle that counts. */
  readonly taken?: true;
  /** Of a bundle that was taken. */
  readonly sequence?: bigint | undefined;
  /** What somebody should look at in a bundle that was taken all the same: `Reason: sentence`. */
  readonly warning?: string | undefined;
}

/** What a fetched bundle is judged by, and looked at for. */
export interface Judging extends JudgedBy {
  /** Another foreign trust domain whose bundle has the same key. */
  readonly sharedWith: (certificate: Certificate) => string | undefined;
}

const KEEP = { kind: 'keep' } as const;

/** Whether an object is ours to write: it says that it is of this trust domain, and of no other installation. */
export function isOwn(
  { spec, metadata }: ClusterTrustBundle,
  trustDomain: string,
  secretNamespace: string,
): boolean {
  const { annotations = {} } = metadata;
  const writer = annotations[SECRET_NAMESPACE] ?? secretNamespace;
  return (
    spec.signerName === undefined &&
    annotations[TRUST_DOMAIN] === trustDomain &&
    writer === secretNamespace
  );
}

/**
 * Trust domains with a bundle of this installation that nobody names any more: whoever mounts one trusts it, and nobody
 * looks whether it is still good.
 *
 * @param named - those that are fetched, or ended
 */
export function leftOver(
  bundles: readonly ClusterTrustBundle[],
  named: ReadonlySet<string>,
  secretNamespace: string,
): readonly string[] {
  return bundles.flatMap((bundle) => {
    const { [TRUST_DOMAIN]: domain = '', [SECRET_NAMESPACE]: writer } =
      bundle.metadata.annotations ?? {};
    const isFederated = bundle.metadata.name === federatedBundleName(domain);
    const isOver = isFederated && writer === secretNamespace && !named.has(domain);
    return isOver && isOwn(bundle, domain, secretNamespace) ? [domain] : [];
  });
}

/** An administrator ended it: its bundle goes, whatever its endpoint says. */
export function decideEnded({ existing }: FederatedState): FederatedChange {
  if (existing === undefined) return KEEP;
  return dropped('Ended', 'an administrator ended it: its SVIDs are not trusted any more');
}

/** What an answer changes. Synchronous and total. */
export function decideFetched(
  state: FederatedState,
  fetched: Fetched,
  judging: Judging,
): FederatedLook {
  if ('problem' in fetched)
    return { change: { ...KEEP, reason: 'FetchFailed', message: fetched.problem } };
  const bundle = readBundle(fetched.text);
  if (typeof bundle === 'string')
    return { change: { ...KEEP, reason: 'Malformed', message: bundle } };
  const refusal = judgeBundle(bundle, judging);
  if (refusal !== undefined) return { change: { ...KEEP, ...refusal } };
  const { sequence, refreshSeconds, anchors } = bundle;
  if (anchors.length === 0) {
    const message = 'the trust domain has no usable key any more: all its SVIDs are invalid';
    const kind = state.existing === undefined ? 'keep' : 'drop';
    return { change: { kind, reason: 'Revoked', message }, refreshSeconds, sequence, taken: true };
  }
  const warning = sharedAnchor(anchors, judging);
  const change = written(state, anchors, sequence);
  return { change, refreshSeconds, sequence, warning, taken: true };
}

/** It is not refused: either of the two could then end the other's bundle by a copy of its CA. */
function sharedAnchor(
  anchors: readonly Certificate[],
  { sharedWith }: Judging,
): string | undefined {
  for (const each of anchors) {
    const other = sharedWith(each);
    if (other === undefined) continue;
    return `SharedAnchor: CA ${fingerprint(each.raw)} is in the bundle of ${other}, too: whoever has its key can be either trust domain`;
  }
  return undefined;
}

/** What time and our own CAs change of what is published, without an answer. */
export function decideHeld(state: FederatedState, isOurs: JudgedBy['isOurs']): FederatedChange {
  const { existing, now, keepMs } = state;
  if (existing === undefined) return KEEP;
  const age = now - fetchedAt(existing);
  // Without a time, or with one that no clock of ours had, nobody knows how old it is.
  if (Number.isNaN(age) || age >= keepMs || age <= -keepMs) {
    const message = `no good answer for ${keepMs / 1000} s: its SVIDs are not trusted any more`;
    return dropped('Stale', message);
  }
  const held = [...publishedAnchors(existing.spec.trustBundle).values()];
  const kept = held.filter((each): each is Certificate => each !== undefined && !isOurs(each));
  if (kept.length === held.length) return KEEP;
  if (kept.length === 0) return dropped('OwnAnchor', 'all its CAs are ours, or distrusted');
  const sequence = sequenceOf(existing);
  const at = fetchedAt(existing);
  return { kind: 'write', reason: 'OwnAnchor', text: writeAnchors(kept), sequence, at };
}

/** When the last good answer came: milliseconds; NaN where the object does not say. */
export function fetchedAt({ metadata }: ClusterTrustBundle): number {
  return Date.parse(metadata.annotations?.[FETCHED_AT] ?? '');
}

/** The sequence number of what is published. */
export function sequenceOf(bundle: ClusterTrustBundle | undefined): bigint | undefined {
  const text = bundle?.metadata.annotations?.[SPIFFE_SEQUENCE] ?? '';
  return /^\d{1,40}$/.test(text) ? BigInt(text) : undefined;
}

function dropped(reason: string, message: string): FederatedChange {
  return { kind: 'drop', reason, message };
}

/** Each write wakes every kubelet: the time alone is written an eighth of the bound later. */
const TIME_SHARE = 8;
/** What the clocks of two replicas may differ by. */
const CLOCKS_APART_MS = 60_000;

function written(
  { existing, now, keepMs }: FederatedState,
  anchors: readonly Certificate[],
  sequence: bigint | undefined,
): FederatedChange {
  const text = writeAnchors(anchors);
  const isSame = existing?.spec.trustBundle === text && sequenceOf(existing) === sequence;
  const age = existing === undefined ? NaN : now - fetchedAt(existing);
  if (isSame && age >= -CLOCKS_APART_MS && age < keepMs / TIME_SHARE) return KEEP;
  return { kind: 'write', reason: isSame ? 'StillValid' : 'Updated', text, sequence, at: now };
}

/** Whether a certificate has the key of one of these, or is distrusted. */
export function sameCaAs(
  own: readonly Certificate[],
  isDistrusted: (print: string) => boolean,
): JudgedBy['isOurs'] {
  const keys = new Set(own.map(keyOf));
  return (certificate) =>
    keys.has(keyOf(certificate)) || isDistrusted(fingerprint(certificate.raw));
}

/** Which trust domain has a CA with the key of a certificate. @param bundles - trust domain → PEM */
export function sharedAmong(bundles: ReadonlyMap<string, string>): Judging['sharedWith'] {
  const domains = new Map<string, string>();
  for (const [domain, text] of bundles)
    for (const each of publishedAnchors(text).values())
      if (each !== undefined) domains.set(keyOf(each), domain);
  return (certificate) => domains.get(keyOf(certificate));
}

function keyOf({ publicKey }: Certificate): string {
  return Buffer.from(publicKey.spki).toString('hex');
}
