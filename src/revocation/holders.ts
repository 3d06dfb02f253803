// SPDX-License-Identifier: Apache-2.0
/** Who gets no other certificate while a Revocation stands (ADR 0052). */
import { createHash } from 'node:crypto';
import {
  readRevocation,
  type Revocation,
  type RevokedHolder,
} from '../api/revocation/revocation.ts';
import { SignerError, attempt } from '../errors.ts';
import type { PublicKeyInfo } from '../pki/keys/public-key.ts';
import { quote } from '../quote.ts';
import type { LeafSubject } from '../vocabulary.ts';

interface Named {
  readonly namespace: string;
  readonly name: string;
}

/** Who asks, as far as the request says. */
interface Requester {
  readonly user?: { readonly username: string } | undefined;
  readonly serviceAccount?: Named | undefined;
  readonly pod?: (Named & { readonly uid?: string | undefined }) | undefined;
}

/** The reason of a request that is refused because a certificate of its holder is revoked. API. */
const HOLDER_REVOKED = 'HolderRevoked';

/** Who asks, and for which leaf. */
export interface RefusalInput {
  readonly requester: Requester;
  readonly leaf: { readonly subject: LeafSubject; readonly publicKey: PublicKeyInfo };
}

/** Why a request is refused, for its condition and its Event. */
export interface HolderRefusal {
  readonly reason: typeof HOLDER_REVOKED;
  readonly message: string;
}

/** The refusal by one of these Revocations. Synchronous and total; the first by name is told. */
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
  const message = `Revocation ${quote(name)} (${first.spec.reason}) refuses new certificates to this holder; who may revoke for ${signerName} ends that with: kubectl delete revocation ${name}`;
  return { reason: HOLDER_REVOKED, message };
}

/** Read once: a Revocation is never changed, and every request asks for all of them. */
const read = new WeakMap<Revocation, readonly RevokedHolder[]>();

function holdersOf(revocation: Revocation): readonly RevokedHolder[] {
  const known = read.get(revocation);
  if (known !== undefined) return known;
  const found = attempt(() => readRevocation(revocation));
  const holders = found instanceof SignerError ? [] : (found.spec.holders ?? []);
  read.set(revocation, holders);
  return holders;
}

/** `sha256:<hex>` of the SubjectPublicKeyInfo. */
function keyOf({ leaf }: RefusalInput): string {
  return `sha256:${createHash('sha256').update(leaf.publicKey.spki).digest('hex')}`;
}

function isHolder(
  holder: RevokedHolder,
  { requester, leaf }: RefusalInput,
  leafKey: string,
): boolean {
  const { user, serviceAccount, pod, name, key } = holder;
  if (key !== undefined) return key === leafKey;
  if (user !== undefined) return requester.user?.username === user;
  if (name !== undefined) return namesOf(leaf).includes(name);
  if (serviceAccount !== undefined) return isSame(serviceAccount, requester.serviceAccount);
  return pod !== undefined && isSame(pod, requester.pod) && isSameUid(pod, requester.pod);
}

function isSame(a: Named, b: Named | undefined): boolean {
  return a.namespace === b?.namespace && a.name === b.name;
}

/** A pod of the same name that took its place has another UID. */
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
