// SPDX-License-Identifier: Apache-2.0
import {
  changeContact,
  createAccount,
  findAccount,
  rollOver,
  type Account,
  type NewAccount,
} from '../acme/accounts.ts';
import type { AccountKey } from '../acme/account-key.ts';
import {
  mapAnswer,
  unusable,
  type Answer,
  type NoAnswer,
  type Ok,
  type Problem,
} from '../acme/answer.ts';
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

/** What an account is found by, and what it is to change to. */
export interface KnownKeys {
  readonly key: AccountKey;
  /** Stands beside it. A roll-over that was interrupted may have brought the account to it. */
  readonly next?: AccountKey | undefined;
  /** Whether the account is to change to `next`. */
  readonly rollOver?: boolean;
}

/** The account, and why it could not change to its new key. */
export interface OpenedAccount {
  readonly account: Account;
  readonly notRolledOver?: Problem | NoAnswer | undefined;
}

/**
 * The account of a key: found by it, even where nothing else is known any more, made where there is none. The external
 * account is used for that alone. No account is made while one of the two keys has one.
 *
 * @param settings - `contactToldBefore`: the server was told of these contacts, though it may keep none
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

/** Whatever came of the change: which key the account has is read from the server. */
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
  const late = unusable('the server took the new key, and finds the account by the old one still');
  return isStillOld ? { answer, notRolledOver: late } : { answer };
}

/**
 * A server may give them in another order, and may keep none at all (Let's Encrypt since 2025): whether it was told of
 * these then says whether it is to be told.
 */
function sameContacts(
  kept: readonly string[],
  wanted: readonly string[],
  isTold: boolean,
): boolean {
  if (kept.length === 0 && wanted.length > 0) return isTold;
  return kept.length === wanted.length && wanted.every((each) => kept.includes(each));
}
