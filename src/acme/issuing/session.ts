// SPDX-License-Identifier: Apache-2.0
import {
  changeContact,
  createAccount,
  findAccount,
  rollOver,
  type Account,
  type NewAccount,
} from '../protocol/accounts.ts';
import type { AccountKey } from '../protocol/account-key.ts';
import { mapAnswer, type Answer, type Ok, type Problem } from '../protocol/answer.ts';
import { unusable, type NoAnswer } from '#base/egress/no-answer.ts';
import type { DirectoryMeta } from '../protocol/resources.ts';
import type { AcmeServer } from '../protocol/server.ts';
import * as messages from './messages.ts';

/** An account at a server. */
export interface AcmeSession {
  readonly server: AcmeServer;
  readonly account: Account;
}

/** Settings of a signer for its account and its certificates. */
export interface SignerSettings extends NewAccount {
  readonly profile?: string | undefined;
}

/** Reason that a signer cannot be ready. */
export interface SignerProblem {
  /** CamelCase, for programs. */
  readonly reason: string;
  /** Cause and fix, for people. */
  readonly message: string;
}

/**
 * Compares a signer's settings with the server's directory. It finds a fault before the server
 * refuses a call.
 */
export function problemOfSettings(
  { termsOfService, externalAccountRequired, profiles }: DirectoryMeta,
  settings: SignerSettings,
): SignerProblem | undefined {
  const { termsOfServiceAgreed, externalAccount, profile } = settings;
  if (termsOfService !== undefined && !termsOfServiceAgreed) {
    const message = messages.termsNotAgreed(termsOfService);
    return { reason: 'TermsNotAgreed', message };
  }
  if (externalAccountRequired && externalAccount === undefined) {
    const message = messages.EXTERNAL_ACCOUNT_REQUIRED;
    return { reason: 'ExternalAccountRequired', message };
  }
  if (profile === undefined || profiles.includes(profile)) return undefined;
  const known = profiles.length === 0 ? messages.NO_PROFILES : messages.hasProfiles(profiles);
  const message = messages.unknownProfile(profile, known);
  return { reason: 'ProfileUnknown', message };
}

/** Keys of an account, and the planned change. */
export interface KnownKeys {
  readonly key: AccountKey;
  /** Stored beside `key`. An interrupted roll-over may have changed the account to it. */
  readonly next?: AccountKey | undefined;
  /** Whether to change the account to `next`. */
  readonly rollOver?: boolean;
}

/** The account, and the reason that it could not change to its new key. */
export interface OpenedAccount {
  readonly account: Account;
  readonly notRolledOver?: Problem | NoAnswer | undefined;
}

/**
 * Finds the account of a key, or creates it. Creates none while one of the two keys has an account.
 * Only a creation uses the external account.
 *
 * @param settings - `contactToldBefore`: the server got these contacts before, though it may store
 *   none
 */
export async function openAccount(
  server: AcmeServer,
  keys: KnownKeys,
  settings: SignerSettings & { readonly contactToldBefore?: boolean },
  signal?: AbortSignal,
): Promise<Answer<OpenedAccount>> {
  const found = await findByEither(server, keys, signal);
  if (isUnknown(found)) {
    const { contact, termsOfServiceAgreed, externalAccount } = settings;
    const external = externalAccount === undefined ? {} : { externalAccount };
    const wanted = { contact, termsOfServiceAgreed, ...external };
    return opened(await createAccount(server, keys.key, wanted, signal));
  }
  if (found.kind !== 'ok') return found;
  const { answer, notRolledOver } = await changeKey(server, keys, found, signal);
  if (answer.kind !== 'ok' || answer.value.status !== 'valid') return opened(answer);
  const { contact: kept } = answer.value;
  const isSame = sameContacts(kept, settings.contact, settings.contactToldBefore === true);
  const settled = isSame
    ? answer
    : await changeContact(server, answer.value, settings.contact, signal);
  return opened(settled, notRolledOver);
}

function opened(
  answer: Answer<Account>,
  notRolledOver?: Problem | NoAnswer,
): Answer<OpenedAccount> {
  return mapAnswer(answer, (account) => ({ account, notRolledOver }));
}

function isUnknown(answer: Answer<Account>): boolean {
  return answer.kind === 'problem' && answer.type === 'accountDoesNotExist';
}

async function findByEither(
  server: AcmeServer,
  { key, next }: KnownKeys,
  signal?: AbortSignal,
): Promise<Answer<Account>> {
  const found = await findAccount(server, key, signal);
  return next !== undefined && isUnknown(found) ? findAccount(server, next, signal) : found;
}

/**
 * Changes the key if the settings need it. Whatever the result, reads from the server which key the
 * account has.
 */
async function changeKey(
  server: AcmeServer,
  keys: KnownKeys,
  found: Ok<Account>,
  signal?: AbortSignal,
): Promise<{ readonly answer: Answer<Account>; readonly notRolledOver?: Problem | NoAnswer }> {
  const { key, next, rollOver: isWanted = false } = keys;
  const isOld = found.value.key.thumbprint === key.thumbprint;
  if (!isWanted || next === undefined || !isOld || found.value.status !== 'valid')
    return { answer: found };
  const changed = await rollOver(server, { old: key, new: next }, signal);
  const answer = await findByEither(server, keys, signal);
  if (changed.kind !== 'ok') return { answer, notRolledOver: changed };
  const isStillOld = answer.kind === 'ok' && answer.value.key.thumbprint === key.thumbprint;
  const late = unusable(messages.KEY_CHANGE_NOT_SEEN);
  return isStillOld ? { answer, notRolledOver: late } : { answer };
}

/**
 * Reports whether the contacts are up to date. A server may return them in another order, or store
 * none (Let's Encrypt since 2025). Then it depends on whether the server got them before.
 */
function sameContacts(
  kept: readonly string[],
  wanted: readonly string[],
  isTold: boolean,
): boolean {
  if (kept.length === 0 && wanted.length > 0) return isTold;
  return kept.length === wanted.length && wanted.every((each) => kept.includes(each));
}
