// SPDX-License-Identifier: Apache-2.0
import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint, type JWK } from 'jose';
import { inputError } from '#pki/der/input-error.ts';
import { readPrivateKey } from '#pki/keys/private-key.ts';
import * as messages from './messages.ts';

/** The key of an ACME account. Only `signed-message.ts` signs with it. */
export interface AccountKey {
  readonly privateKey: KeyObject;
  /** JWS algorithm (RFC 7518 §3.1, RFC 8037). */
  readonly algorithm: string;
  /** Public half of the key. */
  readonly jwk: JWK;
  /**
   * Base64url SHA-256 thumbprint (RFC 7638). Each key authorization has it, so it needs no secrecy.
   */
  readonly thumbprint: string;
}

const MIN_RSA_BITS = 2048;
const MAX_RSA_BITS = 4096;

/**
 * Opens the private key of an account. Accepts P-256, P-384, RSA of 2048 to 4096 bits, and Ed25519.
 * Not every server accepts Ed25519.
 *
 * @param pem - a key that {@link readPrivateKey} accepts
 * @throws SignerError as {@link readPrivateKey}, or KEY_UNSUPPORTED
 */
export async function openAccountKey(pem: string): Promise<AccountKey> {
  const privateKey = readPrivateKey(pem);
  const algorithm = algorithmOf(privateKey);
  const jwk: JWK = createPublicKey(privateKey).export({ format: 'jwk' });
  return { privateKey, algorithm, jwk, thumbprint: await calculateJwkThumbprint(jwk, 'sha256') };
}

/** JWS algorithms by curve (RFC 7518 §3.4). */
const CURVES: ReadonlyMap<string | undefined, string> = new Map([
  ['prime256v1', 'ES256'],
  ['secp384r1', 'ES384'],
]);

function algorithmOf({ asymmetricKeyType: type, asymmetricKeyDetails }: KeyObject): string {
  const { modulusLength: bits = 0, namedCurve } = asymmetricKeyDetails ?? {};
  const fits = bits >= MIN_RSA_BITS && bits <= MAX_RSA_BITS;
  const found =
    type === 'ec' ? CURVES.get(namedCurve) : type === 'rsa' && fits ? 'RS256' : undefined;
  const algorithm = type === 'ed25519' ? 'EdDSA' : found;
  if (algorithm !== undefined) return algorithm;
  throw inputError('KEY_UNSUPPORTED', messages.UNUSABLE_ACCOUNT_KEY);
}

/** Returns the key authorization of a challenge (RFC 8555 §8.1). HTTP-01 serves it. */
export function keyAuthorization(token: string, key: Pick<AccountKey, 'thumbprint'>): string {
  return `${token}.${key.thumbprint}`;
}

/** Returns the value of the TXT record for DNS-01 (RFC 8555 §8.4). */
export function dns01Value(authorization: string): string {
  return createHash('sha256').update(authorization).digest('base64url');
}
