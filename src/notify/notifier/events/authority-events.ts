// SPDX-License-Identifier: Apache-2.0
import type { AuthorityStatus, ClusterSigner } from '#api/signer/cluster-signer.ts';
import { keyOf } from '#api/object/object.ts';
import { isNamespaced } from '#api/signer/signer.ts';
import type { EventData, Occurrence } from './event.ts';
import type { EventName } from '#api/object/event-names.ts';

/** Longest notice for a CA, as a share of its lifetime. */
const SHARE_OF_CA_LIFE = 0.1;

/**
 * Returns all events that apply to the current CAs of a signer's status: rotated, distrusted, and
 * soon expiring CAs. The caller filters those already sent.
 * @param now - milliseconds since 1970
 * @param expiringMs - how long before expiry an event about a CA is due
 */
export function authorityOccurrences(
  signer: ClusterSigner,
  now: number,
  expiringMs: number,
): readonly Occurrence[] {
  const { authorities = [] } = signer.status ?? {};
  const distrusted = distrustedOf(signer);
  const active = authorities.find(({ phase }) => phase === 'Active');
  const previous = active && previousOf(authorities, active);
  const eventOf = (name: EventName, about: string, data: EventData): Occurrence =>
    occurrence(signer, { name, about, data, now });
  const made = [...distrusted].map(([fingerprint, data]) =>
    eventOf('authority.distrusted', fingerprint, data),
  );
  if (active === undefined) return made;
  const { fingerprint } = active;
  if (previous !== undefined) {
    const data = { authority: dataOf(active), previous: dataOf(previous) };
    made.push(eventOf('authority.rotated', fingerprint, data));
  }
  if (!distrusted.has(fingerprint) && endsSoon(active, now, expiringMs))
    made.push(eventOf('authority.expiring', fingerprint, { authority: dataOf(active) }));
  return made;
}

/** Returns the event data of each distrusted CA, by fingerprint. */
function distrustedOf({ status = {} }: ClusterSigner): ReadonlyMap<string, EventData> {
  const { authorities = [], distrusted = [] } = status;
  const listed = authorities.filter(({ phase }) => phase === 'Distrusted');
  return new Map([
    ...listed.map((each) => [each.fingerprint, { authority: dataOf(each) }] as const),
    ...distrusted.map(({ fingerprint, reason }) => {
      const known = authorities.find((each) => each.fingerprint === fingerprint);
      const authority = known === undefined ? { fingerprint } : dataOf(known);
      return [fingerprint, { authority, reason }] as const;
    }),
  ]);
}

/** Returns the CA that signed before. A first CA has no predecessor. */
function previousOf(
  authorities: readonly AuthorityStatus[],
  active: AuthorityStatus,
): AuthorityStatus | undefined {
  const before = authorities.filter(({ phase }) => phase === 'Retiring' || phase === 'Distrusted');
  return (
    before.find(({ fingerprint }) => fingerprint === active.crossSignedBy) ??
    before.toSorted((a, b) => Date.parse(b.notBefore) - Date.parse(a.notBefore))[0]
  );
}

function endsSoon({ notBefore, notAfter }: AuthorityStatus, now: number, maxMs: number): boolean {
  const end = Date.parse(notAfter);
  return end - now <= Math.min(maxMs, (end - Date.parse(notBefore)) * SHARE_OF_CA_LIFE);
}

function occurrence(
  { kind, metadata, spec }: ClusterSigner,
  of: {
    readonly name: EventName;
    readonly about: string;
    readonly data: EventData;
    readonly now: number;
  },
): Occurrence {
  const { namespace, name, uid } = metadata;
  const plural = isNamespaced({ metadata }) ? 'signers' : 'clustersigners';
  return {
    name: of.name,
    id: `${uid}:${of.about}:${of.name.slice('authority.'.length)}`,
    subject: `${plural}/${keyOf(metadata)}`,
    at: of.now,
    data: { kind, namespace, name, uid, signerName: spec.signerName, ...of.data },
  };
}

function dataOf({ fingerprint, notBefore, notAfter }: AuthorityStatus): EventData {
  return { fingerprint, notBefore, notAfter };
}
