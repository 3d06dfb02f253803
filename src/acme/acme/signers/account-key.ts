// SPDX-License-Identifier: Apache-2.0
import { openAccountKey, type AccountKey } from '#acme/protocol/account-key.ts';
import type { ExternalAccount } from '#acme/protocol/signed-message.ts';
import type { KnownKeys, SignerProblem } from '#acme/issuing/session.ts';
import { ACCOUNT_KEY, accountSecretOf, keyRequestsOf } from '#api/acme/account-key.ts';
import type { AcmeSigner } from '#api/acme/acme-signer.ts';
import { keyOf, type Secret } from '#api/object/object.ts';
import type { SecretReference } from '#api/signer/cluster-signer.ts';
import { isGranted } from '#api/signer/grant.ts';
import { NEXT_KEY } from '#api/signer/rotation-annotations.ts';
import { SignerError } from '#base/errors.ts';
import { externalSecretOf, type AccountSecrets } from './account-secrets.ts';
import * as messages from '../messages.ts';

/** Key of the Secret with the MAC key of an external account, as base64url (RFC 8555 §7.3.4). */
const MAC_KEY = 'key';

/** Credentials of a signer for its server. */
export interface AccountCredentials {
  readonly keys: KnownKeys;
  /** Requested time of a roll-over, in milliseconds. */
  readonly rollOverAt?: number | undefined;
  /** Reason that the new key is unusable. */
  readonly nextProblem?: string | undefined;
  readonly external: (ExternalAccount & { readonly secret: string }) | undefined;
}

/**
 * Reads the credentials of a signer from its Secrets.
 *
 * @param now - milliseconds, by the API server's clock
 * @returns undefined until the Secrets are read, or a problem with its fix
 */
export async function credentialsOf(
  signer: AcmeSigner,
  secrets: Pick<AccountSecrets, 'get'>,
  keysNamespace: string,
  now: number,
): Promise<AccountCredentials | SignerProblem | undefined> {
  const reference = accountSecretOf(signer, keysNamespace);
  const pem = valueOf(secrets, reference, ACCOUNT_KEY);
  if (pem === undefined) return undefined;
  if ('problem' in pem) return accountKeyProblem(reference, pem.problem);
  if (!isGranted(pem.secret, signer.spec.signerName)) {
    const consent = messages.annotateSecret(signer.spec.signerName);
    return {
      reason: 'AccountKeyNotGranted',
      message: messages.accountKeyNotGranted(keyOf(reference), consent),
    };
  }
  const external = externalOf(signer, secrets, keysNamespace);
  if (external === undefined || 'reason' in external) return external;
  try {
    const key = await openAccountKey(pem.value.toString('latin1'));
    return { ...(await withNext(key, signer, pem.secret, now)), ...external };
  } catch (error) {
    if (!(error instanceof SignerError)) throw error;
    return accountKeyProblem(reference, error.message);
  }
}

/** Adds the new key of a Secret, if there is one. */
async function withNext(
  key: AccountKey,
  signer: AcmeSigner,
  secret: Secret,
  now: number,
): Promise<Omit<AccountCredentials, 'external'>> {
  const { rollOver, lookAt: rollOverAt } = keyRequestsOf(signer, secret, now);
  const pem = secret.data?.[NEXT_KEY];
  if (pem === undefined || pem === '') return { keys: { key }, rollOverAt };
  try {
    const next = await openAccountKey(Buffer.from(pem, 'base64').toString('latin1'));
    return { keys: { key, next, rollOver }, rollOverAt };
  } catch (error) {
    if (!(error instanceof SignerError)) throw error;
    const nextProblem = messages.nextKeyFault(error.message);
    return { keys: { key }, rollOverAt, ...(rollOver ? { nextProblem } : {}) };
  }
}

function accountKeyProblem(reference: SecretReference, problem: string): SignerProblem {
  const advice = messages.STORE_ACCOUNT_KEY;
  return {
    reason: 'AccountKeyInvalid',
    message: messages.accountKeyFault(keyOf(reference), problem, advice),
  };
}

function externalOf(
  signer: AcmeSigner,
  secrets: Pick<AccountSecrets, 'get'>,
  keysNamespace: string,
): Pick<AccountCredentials, 'external'> | SignerProblem | undefined {
  const binding = signer.spec.acme.externalAccountBinding;
  const reference = externalSecretOf(signer, keysNamespace);
  if (binding === undefined || reference === undefined) return { external: undefined };
  const mac = valueOf(secrets, reference, MAC_KEY);
  if (mac === undefined) return undefined;
  const macKey = 'problem' in mac ? mac.problem : decodeMacKey(mac.value.toString('latin1').trim());
  const secret = keyOf(reference);
  if (typeof macKey !== 'string') return { external: { keyId: binding.keyID, macKey, secret } };
  // An existing account no longer needs the external account, so its Secret may be deleted.
  if (signer.status.account?.externalAccountBound === true) return { external: undefined };
  const message = messages.externalAccountFault(secret, macKey, MAC_KEY);
  return { reason: 'ExternalAccountInvalid', message };
}

/** RFC 7518 §3.2: HS256 needs a key of the hash's size or larger. */
const MIN_MAC_OCTETS = 32;
/** Both alphabets of RFC 4648. CAs give base64url, and some portals the other one. */
const BASE64_TEXT = /^(?:[A-Za-z0-9_-]+|[A-Za-z0-9+/]+)={0,2}$/;
/** A key that is this long and has no other digit is hexadecimal, which is base64 text as well. */
const HEXADECIMAL = /^(?:[0-9a-f]{32,}|[0-9A-F]{32,})$/;

/** @returns the octets of a MAC key, or its fault without a character of it */
function decodeMacKey(text: string): Buffer | string {
  if (text === '') return messages.macKeyBlank(MAC_KEY);
  if (HEXADECIMAL.test(text)) return messages.macKeyHexadecimal(MAC_KEY);
  const digits = text.replace(/=+$/, '').length;
  // RFC 4648 §4: no text of this length encodes whole octets.
  if (!BASE64_TEXT.test(text) || digits % 4 === 1) return messages.macKeyNotBase64(MAC_KEY);
  const octets = Buffer.from(text, 'base64url');
  return octets.length < MIN_MAC_OCTETS
    ? messages.macKeyShort(MAC_KEY, octets.length, MIN_MAC_OCTETS)
    : octets;
}

type Value =
  | { readonly secret: NonNullable<AccountSecretRead['secret']>; readonly value: Buffer }
  | { readonly problem: string };
type AccountSecretRead = NonNullable<ReturnType<AccountSecrets['get']>>;

function valueOf(
  secrets: Pick<AccountSecrets, 'get'>,
  reference: SecretReference,
  name: string,
): Value | undefined {
  const found = secrets.get(reference);
  if (found === undefined) return undefined;
  if (found.secret === undefined) return { problem: found.problem };
  const value = found.secret.data?.[name];
  if (value === undefined || value === '') return { problem: messages.secretLacks(name) };
  return { secret: found.secret, value: Buffer.from(value, 'base64') };
}
