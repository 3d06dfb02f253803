// SPDX-License-Identifier: Apache-2.0
/** Blocks new certificates for the holders that a Revocation names, while it exists (ADR 0052). */
import { createHash } from 'node:crypto';
import { readRevocation, type Revocation, type RevokedHolder } from '#api/revocation/revocation.ts';
import { SignerError, attempt } from '#base/errors.ts';
import type { PublicKeyInfo } from '#pki/keys/public-key.ts';
import { canonicalDnsName, canonicalEmail, canonicalIp } from '#pki/names/canonical.ts';
import { canonicalUri } from '#pki/names/canonical-uri.ts';
import { quote } from '#base/quote.ts';
import type { LeafSubject } from '#base/vocabulary.ts';

interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

/** The requester, as far as the request names it. */
interface Requester {
  readonly user?: { readonly username: string } | undefined;
  readonly serviceAccount?: NamespacedName | undefined;
  readonly pod?: (NamespacedName & { readonly uid?: string | undefined }) | undefined;
}

/** The reason of a request that is rejected because a certificate of its holder is revoked. API. */
const HOLDER_REVOKED = 'HolderRevoked';

/** The requester, and the leaf of the request. */
export interface RefusalInput {
  readonly requester: Requester;
  readonly leaf: { readonly subject: LeafSubject; readonly publicKey: PublicKeyInfo };
}

/** The rejection of a request, for its condition and its Event. */
export interface HolderRefusal {
  readonly reason: typeof HOLDER_REVOKED;
  readonly message: string;
}

/**
 * Returns the rejection by one of these Revocations. Synchronous and total. It names the first
 * Revocation by name.
 */
export function refusalBy(
  revocations: readonly Revocation[],
  signerName: string,
  input: RefusalInput,
): HolderRefusal | undefined {
  if (revocations.length === 0) return undefined;
  const key = keyOf(input);
  const refusing = revocations.filter(
    (each) =>
      each.spec.signerName === signerName &&
      holdersOf(each).some((holder) => isHolder(holder, input, key)),
  );
  const [first] = refusing.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  if (first === undefined) return undefined;
  const { name } = first.metadata;
  const message = `Revocation ${quote(name)} (${first.spec.reason}) blocks new certificates for this holder; to allow them again, a user who may revoke for ${signerName} runs: kubectl delete revocation ${name}`;
  return { reason: HOLDER_REVOKED, message };
}

/** A holder, with the spellings of its name in each kind of name that it can be. */
interface SpelledHolder extends RevokedHolder {
  readonly spellings: readonly (readonly [kind: NameKind, name: string])[];
}

type NameKind = 'dnsNames' | 'emails' | 'ipAddresses' | 'uris';

/** A cache: a Revocation never changes, and every request checks all of them. */
const read = new WeakMap<Revocation, readonly SpelledHolder[]>();

function holdersOf(revocation: Revocation): readonly SpelledHolder[] {
  const known = read.get(revocation);
  if (known !== undefined) return known;
  const found = attempt(() => readRevocation(revocation));
  const named = found instanceof SignerError ? [] : (found.spec.holders ?? []);
  const holders = named.map((each) => ({ ...each, spellings: spellingsOf(each.name) }));
  read.set(revocation, holders);
  return holders;
}

const CANONICAL: readonly (readonly [kind: NameKind, canonical: (text: string) => string])[] = [
  ['dnsNames', canonicalDnsName],
  ['emails', canonicalEmail],
  ['ipAddresses', canonicalIp],
  ['uris', canonicalUri],
];

/** Returns the canonical spellings, which every leaf has. */
function spellingsOf(name: string | undefined): SpelledHolder['spellings'] {
  if (name === undefined) return [];
  return CANONICAL.flatMap(([kind, canonical]) => {
    const spelling = attempt(() => canonical(name));
    return spelling instanceof SignerError ? [] : [[kind, spelling] as const];
  });
}

/** Returns `sha256:<hex>` of the SubjectPublicKeyInfo. */
function keyOf({ leaf }: RefusalInput): string {
  return `sha256:${createHash('sha256').update(leaf.publicKey.spki).digest('hex')}`;
}

function isHolder(
  holder: SpelledHolder,
  { requester, leaf }: RefusalInput,
  leafKey: string,
): boolean {
  const { user, serviceAccount, pod, name, key, spellings } = holder;
  if (key !== undefined) return key === leafKey;
  if (user !== undefined) return requester.user?.username === user;
  if (name !== undefined) {
    return (
      namesOf(leaf).includes(name) ||
      spellings.some(([kind, spelling]) => leaf.subject[kind].includes(spelling))
    );
  }
  if (serviceAccount !== undefined) return isSame(serviceAccount, requester.serviceAccount);
  return pod !== undefined && isSame(pod, requester.pod) && isSameUid(pod, requester.pod);
}

function isSame(a: NamespacedName, b: NamespacedName | undefined): boolean {
  return a.namespace === b?.namespace && a.name === b.name;
}

/** Reports whether it is the same pod. A later pod of the same name has another UID. */
function isSameUid(
  { uid }: { readonly uid?: string | undefined },
  other: { readonly uid?: string | undefined } | undefined,
): boolean {
  return uid === undefined || uid === other?.uid;
}

function namesOf({ subject }: RefusalInput['leaf']): readonly string[] {
  const { commonName, dnsNames, emails, ipAddresses, uris } = subject;
  return [commonName, ...dnsNames, ...emails, ...ipAddresses, ...uris];
}
