// SPDX-License-Identifier: Apache-2.0
import {
  changeContact,
  createAccount,
  findAccount,
  type Account,
  type NewAccount,
} from '../acme/accounts.ts';
import type { AccountKey } from '../acme/account-key.ts';
import type { Answer } from '../acme/answer.ts';
import type { DirectoryMeta } from '../acme/resources.ts';
import type { AcmeServer } from '../acme/server.ts';
import { quote, quoteList } from '../quote.ts';

/** An account at a server. */
export interface AcmeSession {
  readonly server: AcmeServer;
  readonly account: Account;
}

/** What a signer says of its account and its certificates. */
export interface SignerSettings extends NewAccount {
  readonly profile?: string | undefined;
}

/** Why a signer cannot be ready. */
export interface SignerProblem {
  /** CamelCase, for programs. */
  readonly reason: string;
  /** For people: what is wrong, and what to do. */
  readonly message: string;
}

/** What a server's directory already says against a signer's settings: nobody needs to be refused by it first. */
export function problemOfSettings(
  { termsOfService, externalAccountRequired, profiles }: DirectoryMeta,
  settings: SignerSettings,
): SignerProblem | undefined {
  const { termsOfServiceAgreed, externalAccount, profile } = settings;
  if (termsOfService !== undefined && !termsOfServiceAgreed) {
    const message = `the CA wants its terms agreed to: read ${quote(termsOfService, 200)} and set spec.acme.termsOfServiceAgreed`;
    return { reason: 'TermsNotAgreed', message };
  }
  if (externalAccountRequired && externalAccount === undefined) {
    const message =
      'the CA serves its customers only: set spec.acme.externalAccountBinding to what it gave you';
    return { reason: 'ExternalAccountRequired', message };
  }
  if (profile === undefined || profiles.includes(profile)) return undefined;
  const known = profiles.length === 0 ? 'it has none' : `it has ${quoteList(profiles)}`;
  const message = `the CA has no profile ${quote(profile)}, ${known}; change spec.acme.profile`;
  return { reason: 'ProfileUnknown', message };
}

/**
 * The account of a key: found by it, even where nothing else is known any more, made where there is none. The external
 * account is used for that alone.
 */
export async function openAccount(
  server: AcmeServer,
  key: AccountKey,
  settings: SignerSettings,
  signal?: AbortSignal,
): Promise<Answer<Account>> {
  const found = await findAccount(server, key, signal);
  if (found.kind === 'problem' && found.type === 'accountDoesNotExist') {
    const { contact, termsOfServiceAgreed, externalAccount } = settings;
    const external = externalAccount === undefined ? {} : { externalAccount };
    return createAccount(server, key, { contact, termsOfServiceAgreed, ...external }, signal);
  }
  if (found.kind !== 'ok' || found.value.status !== 'valid') return found;
  const isSame = sameContacts(found.value.contact, settings.contact);
  return isSame ? found : changeContact(server, found.value, settings.contact, signal);
}

/** A server may give them in another order, and may keep none at all (Let's Encrypt since 2025). */
function sameContacts(kept: readonly string[], wanted: readonly string[]): boolean {
  if (kept.length === 0) return true;
  return kept.length === wanted.length && wanted.every((each) => kept.includes(each));
}
