// SPDX-License-Identifier: Apache-2.0
import { FlattenedSign, type JWSHeaderParameters } from 'jose';
import type { AccountKey } from './account-key.ts';

/** Signer of a call: a key alone, or the account of the key. */
export interface Caller {
  readonly key: AccountKey;
  /** URL of the account. Absent in newAccount, and in a revocation by the certificate's own key. */
  readonly account?: string;
}

/**
 * Returns a JWS in the flattened JSON serialization (RFC 8555 §6.2). An `undefined` payload makes
 * it a POST-as-GET (§6.3).
 */
export async function signedMessage(
  { key, account }: Caller,
  target: { readonly url: string; readonly nonce?: string },
  payload: object | undefined,
): Promise<object> {
  const header: JWSHeaderParameters = {
    alg: key.algorithm,
    ...target,
    ...(account === undefined ? { jwk: key.jwk } : { kid: account }),
  };
  const text = payload === undefined ? '' : JSON.stringify(payload);
  return new FlattenedSign(Buffer.from(text)).setProtectedHeader(header).sign(key.privateKey);
}

/** An external account: the id and the MAC key that the CA gave the customer (RFC 8555 §7.3.4). */
export interface ExternalAccount {
  readonly keyId: string;
  readonly macKey: Uint8Array;
}

/** Binds the account key to an external account. */
export async function externalAccountBinding(
  { keyId, macKey }: ExternalAccount,
  key: AccountKey,
  url: string,
): Promise<object> {
  return new FlattenedSign(Buffer.from(JSON.stringify(key.jwk)))
    .setProtectedHeader({ alg: 'HS256', kid: keyId, url })
    .sign(macKey);
}
