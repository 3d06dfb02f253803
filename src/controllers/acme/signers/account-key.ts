// SPDX-License-Identifier: Apache-2.0
import { openAccountKey, type AccountKey } from '../../../acme/account-key.ts';
import type { ExternalAccount } from '../../../acme/signed-message.ts';
import type { KnownKeys, SignerProblem } from '../../../acme-issuing/session.ts';
import {
  ACCOUNT_KEY,
  accountSecretOf,
  keyWishesOf,
  type AcmeSigner,
} from '../../../api/acme/index.ts';
import { keyOf, type Secret } from '../../../api/object/object.ts';
import type { SecretReference } from '../../../api/signer/cluster-signer.ts';
import { isGranted, SIGNER_NAME } from '../../../api/signer/grant.ts';
import { NEXT_KEY } from '../../../api/signer/rotation-annotations.ts';
import { SignerError } from '../../../errors.ts';
import { externalSecretOf, type AccountSecrets } from './account-secrets.ts';

/** Where the MAC key of an external account is, as base64url (RFC 8555 §7.3.4). */
const MAC_KEY = 'key';

/** What a signer calls its server with. */
export interface AccountCredentials {
  readonly keys: KnownKeys;
  /** When a roll-over is asked for, in milliseconds. */
  readonly rollOverAt?: number | undefined;
  /** Why the new key cannot be used. */
  readonly nextProblem?: string | undefined;
  readonly external: ExternalAccount | undefined;
}

/**
 * @param now - milliseconds, by the API server's clock
 * @returns undefined until the Secrets were read; or what is wrong with them, and what to do
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
    const consent = `annotate it with ${SIGNER_NAME}=${signer.spec.signerName}`;
    return {
      reason: 'AccountKeyNotGranted',
      message: `Secret ${keyOf(reference)} does not say that this signer may use its key; ${consent}`,
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

/** The new key of a Secret, where there is one. */
async function withNext(
  key: AccountKey,
  signer: AcmeSigner,
  secret: Secret,
  now: number,
): Promise<Omit<AccountCredentials, 'external'>> {
  const { rollOver, lookAt: rollOverAt } = keyWishesOf(signer, secret, now);
  const pem = secret.data?.[NEXT_KEY];
  if (pem === undefined || pem === '') return { keys: { key }, rollOverAt };
  try {
    const next = await openAccountKey(Buffer.from(pem, 'base64').toString('latin1'));
    return { keys: { key, next, rollOver }, rollOverAt };
  } catch (error) {
    if (!(error instanceof SignerError)) throw error;
    const nextProblem = `${NEXT_KEY} of the Secret: ${error.message}`;
    return { keys: { key }, rollOverAt, ...(rollOver ? { nextProblem } : {}) };
  }
}

function accountKeyProblem(reference: SecretReference, problem: string): SignerProblem {
  const advice = `put the private key of the account there as ${ACCOUNT_KEY}, or let countersign account-key or the component authority make one`;
  return {
    reason: 'AccountKeyInvalid',
    message: `Secret ${keyOf(reference)}: ${problem}; ${advice}`,
  };
}

function externalOf(
  signer: AcmeSigner,
  secrets: Pick<AccountSecrets, 'get'>,
  keysNamespace: string,
): { readonly external: ExternalAccount | undefined } | SignerProblem | undefined {
  const binding = signer.spec.acme.externalAccountBinding;
  const reference = externalSecretOf(signer, keysNamespace);
  if (binding === undefined || reference === undefined) return { external: undefined };
  const mac = valueOf(secrets, reference, MAC_KEY);
  if (mac === undefined) return undefined;
  // It is used once: an account that is there needs it no more, and the Secret may go.
  if ('problem' in mac) {
    if (signer.status.account?.externalAccountBound === true) return { external: undefined };
    const message = `Secret ${keyOf(reference)}: ${mac.problem}; put the MAC key that the CA gave you there as ${MAC_KEY}`;
    return { reason: 'ExternalAccountInvalid', message };
  }
  const macKey = Buffer.from(mac.value.toString('latin1').trim(), 'base64url');
  return { external: { keyId: binding.keyID, macKey } };
}

type Value =
  | { readonly secret: NonNullable<Found['secret']>; readonly value: Buffer }
  | { readonly problem: string };
type Found = NonNullable<ReturnType<AccountSecrets['get']>>;

function valueOf(
  secrets: Pick<AccountSecrets, 'get'>,
  reference: SecretReference,
  name: string,
): Value | undefined {
  const found = secrets.get(reference);
  if (found === undefined) return undefined;
  if (found.secret === undefined) return { problem: found.problem };
  const value = found.secret.data?.[name];
  if (value === undefined || value === '') return { problem: `it has no ${name}` };
  return { secret: found.secret, value: Buffer.from(value, 'base64') };
}
