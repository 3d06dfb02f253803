// SPDX-License-Identifier: Apache-2.0
import { openAccountKey } from '#acme/protocol/account-key.ts';
import { ACCOUNT_KEY, keyRequestsOf } from '#api/acme/account-key.ts';
import type { AcmeSigner } from '#api/acme/acme-signer.ts';
import { keyOf, type Secret } from '#api/object/object.ts';
import type { SecretReference } from '#api/signer/cluster-signer.ts';
import { isGranted } from '#api/signer/grant.ts';
import { NEXT_KEY } from '#api/signer/rotation-annotations.ts';
import { SignerError } from '#base/errors.ts';
import * as messages from '../messages.ts';

/** Inputs of the decision on an account key. */
export interface AccountKeyView {
  readonly signer: AcmeSigner;
  readonly reference: SecretReference;
  /** Undefined if the Secret is missing. */
  readonly secret: Secret | undefined;
  /** RFC 7638 thumbprint of `next.key`, or undefined if there is no readable key. */
  readonly nextThumbprint: string | undefined;
  /** Milliseconds, by the API server's clock. */
  readonly now: number;
}

/** A write of the Secret, or none. */
export type AccountKeyStep =
  /** Creates a Secret with a new key. */
  | { readonly kind: 'make' }
  /** Writes a new key into a Secret that its owner created empty. */
  | { readonly kind: 'fill' }
  /** Writes a new key beside the one in use. */
  | { readonly kind: 'prepare' }
  /** Replaces the old key by the new one, which the account has now. */
  | { readonly kind: 'promote' }
  /** The Secret lost the key of an account. */
  | { readonly kind: 'lost'; readonly message: string }
  | { readonly kind: 'none'; readonly lookAt?: number | undefined };

/**
 * Decides the next step for the Secret of an account key. The old key is removed only after the
 * status shows that `acme` found the account by the new key. So whenever a process ends, one of the
 * two keys in the Secret finds the account.
 */
export function decideAccountKey(view: AccountKeyView): AccountKeyStep {
  const { signer, secret, nextThumbprint, now } = view;
  if (secret === undefined) return made('make', view);
  // The Secret is not granted to this signer, which acme reports.
  if (!isGranted(secret, signer.spec.signerName)) return { kind: 'none' };
  if (!has(secret, ACCOUNT_KEY)) return made('fill', view);
  const known = signer.status.account?.keyThumbprint;
  if (known !== undefined && known === nextThumbprint) return { kind: 'promote' };
  const { prepare, lookAt } = keyRequestsOf(signer, secret, now);
  if (prepare && !has(secret, NEXT_KEY)) return { kind: 'prepare' };
  return { kind: 'none', lookAt };
}

function has({ data }: Secret, key: string): boolean {
  return (data?.[key] ?? '') !== '';
}

/**
 * Makes a new key only if there was no account. Otherwise an administrator decides, since a backup
 * may have the key.
 */
function made(
  kind: 'make' | 'fill',
  { signer: { metadata, status }, reference, secret }: AccountKeyView,
): AccountKeyStep {
  const url = status.account?.url;
  if (url === undefined) return { kind };
  const where = messages.secretText(keyOf(reference));
  const advice =
    secret === undefined
      ? messages.keyCommand(metadata.name)
      : messages.deleteAndKeyCommand(metadata.name);
  return {
    kind: 'lost',
    message: messages.accountKeyLost(where, url, advice),
  };
}

/**
 * Returns the RFC 7638 thumbprint of the prepared key, or undefined if there is no readable one.
 */
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
