// SPDX-License-Identifier: Apache-2.0
import { openAccountKey } from '../../../acme/account-key.ts';
import { ACCOUNT_KEY, keyWishesOf, type AcmeSigner } from '../../../api/acme/index.ts';
import { keyOf, type Secret } from '../../../api/object/object.ts';
import type { SecretReference } from '../../../api/signer/cluster-signer.ts';
import { isGranted } from '../../../api/signer/grant.ts';
import { NEXT_KEY } from '../../../api/signer/rotation-annotations.ts';
import { SignerError } from '../../../errors.ts';

/** All that the next step of an account key depends on. */
export interface AccountKeyView {
  readonly signer: AcmeSigner;
  readonly reference: SecretReference;
  /** Undefined if it is missing. */
  readonly secret: Secret | undefined;
  /** RFC 7638 thumbprint of `next.key`; undefined where there is none, or none that can be read. */
  readonly nextThumbprint: string | undefined;
  /** Milliseconds, by the API server's clock. */
  readonly now: number;
}

/** One write of the Secret, or none. */
export type AccountKeyStep =
  /** A new Secret with a new key. */
  | { readonly kind: 'make' }
  /** A new key into a Secret that its owner left empty for it. */
  | { readonly kind: 'fill' }
  /** A new key beside the one in use. */
  | { readonly kind: 'prepare' }
  /** The account has the new key: it takes the place of the old one. */
  | { readonly kind: 'promote' }
  /** The key of an account is gone. */
  | { readonly kind: 'lost'; readonly message: string }
  | { readonly kind: 'none'; readonly lookAt?: number | undefined };

/**
 * What is to be done about the Secret of an account key. The old key leaves it only once `acme` has seen the account by the
 * new one, which the status says: whenever a process ends, one of the two keys in the Secret finds the account.
 */
export function decideAccountKey(view: AccountKeyView): AccountKeyStep {
  const { signer, secret, nextThumbprint, now } = view;
  if (secret === undefined) return made('make', view);
  // The Secret is not this signer's: acme says so.
  if (!isGranted(secret, signer.spec.signerName)) return { kind: 'none' };
  if (!has(secret, ACCOUNT_KEY)) return made('fill', view);
  const known = signer.status.account?.keyThumbprint;
  if (known !== undefined && known === nextThumbprint) return { kind: 'promote' };
  const { prepare, lookAt } = keyWishesOf(signer, secret, now);
  if (prepare && !has(secret, NEXT_KEY)) return { kind: 'prepare' };
  return { kind: 'none', lookAt };
}

function has({ data }: Secret, key: string): boolean {
  return (data?.[key] ?? '') !== '';
}

/** A new key is a new account. Where there was one, people decide: its key may be in a copy. */
function made(
  kind: 'make' | 'fill',
  { signer: { metadata, status }, reference, secret }: AccountKeyView,
): AccountKeyStep {
  const url = status.account?.url;
  if (url === undefined) return { kind };
  const where = `Secret ${keyOf(reference)}`;
  const advice =
    secret === undefined
      ? `countersign account-key ${metadata.name} makes a new key`
      : `delete the Secret, and countersign account-key ${metadata.name} makes a new key`;
  return {
    kind: 'lost',
    message: `${where} has no key any more, and the account ${url} had one; restore the Secret from a copy, or give up the account: ${advice}`,
  };
}

/** RFC 7638 thumbprint of the key that stands beside the one in use; undefined where there is none that can be read. */
export async function nextThumbprintOf({ data }: Secret): Promise<string | undefined> {
  const pem = Buffer.from(data?.[NEXT_KEY] ?? '', 'base64').toString('latin1');
  if (pem === '') return undefined;
  try {
    return (await openAccountKey(pem)).thumbprint;
  } catch (error) {
    if (error instanceof SignerError) return undefined;
    throw error;
  }
}
