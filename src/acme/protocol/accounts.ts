// SPDX-License-Identifier: Apache-2.0
import type { AccountKey } from './account-key.ts';
import { quote } from '#base/quote.ts';
import type { Answer, Ok } from './answer.ts';
import { unusable, type NoAnswer } from '#base/egress/no-answer.ts';
import type { HttpAnswer } from '#base/egress/exchange.ts';
import type { AccountBody } from './resources.ts';
import { isNoAnswer, jsonOf, one, shaped } from './read-answer.ts';
import type { AcmeServer } from './server.ts';
import {
  externalAccountBinding,
  signedMessage,
  type Caller,
  type ExternalAccount,
} from './signed-message.ts';
import * as messages from './messages.ts';

/** An account at a server, with the key that signs its calls. */
export interface Account extends Caller, AccountBody {
  /** URL of the account. */
  readonly account: string;
}

/** Contents of a request for a new account. */
export interface NewAccount {
  /** URLs such as `mailto:` (RFC 8555 §7.1.2). */
  readonly contact: readonly string[];
  readonly termsOfServiceAgreed: boolean;
  /**
   * External account binding. Only this call needs it: later the server finds the account by its
   * key.
   */
  readonly externalAccount?: ExternalAccount;
}

/**
 * Creates the account of a key, or finds the existing one (RFC 8555 §7.3). A repeated call creates
 * no second account.
 */
export async function createAccount(
  server: AcmeServer,
  key: AccountKey,
  wanted: NewAccount,
  signal?: AbortSignal,
): Promise<Answer<Account>> {
  const { contact, termsOfServiceAgreed, externalAccount } = wanted;
  const directory = await server.directory(signal);
  if (directory.kind !== 'ok') return directory;
  const url = directory.value.newAccount;
  const binding =
    externalAccount === undefined
      ? {}
      : { externalAccountBinding: await externalAccountBinding(externalAccount, key, url) };
  const payload = { contact, termsOfServiceAgreed, ...binding };
  return server.post({ key }, newAccount(server, key, url, payload), signal);
}

/**
 * Finds the account of a key without creating one (RFC 8555 §7.3.1). Needs no external account and
 * no agreement to terms.
 *
 * @returns a problem `accountDoesNotExist` if the key has no account
 */
export async function findAccount(
  server: AcmeServer,
  key: AccountKey,
  signal?: AbortSignal,
): Promise<Answer<Account>> {
  const directory = await server.directory(signal);
  if (directory.kind !== 'ok') return directory;
  const url = directory.value.newAccount;
  return server.post({ key }, newAccount(server, key, url, { onlyReturnExisting: true }), signal);
}

function newAccount(
  server: AcmeServer,
  key: AccountKey,
  url: string,
  payload: object,
): Parameters<typeof server.post<Account>>[1] {
  const body = jsonOf(server.resources.account);
  const read = (received: HttpAnswer): Account | NoAnswer => {
    const location = shaped(server.resources.url, one(received.headers['location']), 'Location');
    if (isNoAnswer(location)) return location;
    const account = body(received);
    return isNoAnswer(account) ? account : { ...account, key, account: location };
  };
  return { endpoint: 'newAccount', url, read, payload };
}

/** Sets the contacts of an account (RFC 8555 §7.3.2). */
export function changeContact(
  server: AcmeServer,
  { key, account }: Account,
  contact: readonly string[],
  signal?: AbortSignal,
): Promise<Answer<Account>> {
  const body = jsonOf(server.resources.account);
  const read = (received: HttpAnswer): Account | NoAnswer => {
    const changed = body(received);
    return isNoAnswer(changed) ? changed : { ...changed, key, account };
  };
  return server.post(
    { key, account },
    { endpoint: 'account', url: account, read, payload: { contact } },
    signal,
  );
}

/**
 * Changes an account to its new key (RFC 8555 §7.3.5), wherever an earlier attempt stopped. It
 * first queries which key the server knows. The caller must store both keys before the first call,
 * and keep them until the result is `ok`.
 *
 * @returns the account with the new key. A problem `accountDoesNotExist` if neither key has an
 *   account, or one of 409 if the new key has an account of its own
 */
export async function rollOver(
  server: AcmeServer,
  keys: { readonly old: AccountKey; readonly new: AccountKey },
  signal?: AbortSignal,
): Promise<Answer<Account>> {
  const done = await findAccount(server, keys.new, signal);
  const isNew = done.kind === 'problem' && done.type === 'accountDoesNotExist';
  if (!isNew && done.kind !== 'ok') return done;
  const before = await findAccount(server, keys.old, signal);
  if (done.kind === 'ok') return rolledOver(done, before);
  if (before.kind !== 'ok') return before;
  const directory = await server.directory(signal);
  if (directory.kind !== 'ok') return directory;
  const url = directory.value.keyChange;
  if (url === undefined) return unusable(messages.NO_KEY_CHANGE, 'no-key-change');
  const { account } = before.value;
  const inner = { account, oldKey: keys.old.jwk };
  // The inner JWS has no nonce (RFC 8555 §7.3.5).
  const payload = await signedMessage({ key: keys.new }, { url }, inner);
  const read = (): Account => ({ ...before.value, key: keys.new });
  return server.post(before.value, { endpoint: 'keyChange', url, read, payload }, signal);
}

/** Accepts an account of the new key only if the old key has no other account. */
function rolledOver(done: Ok<Account>, before: Answer<Account>): Answer<Account> {
  if (before.kind === 'problem' && before.type === 'accountDoesNotExist') return done;
  if (before.kind !== 'ok') return before;
  if (before.value.account === done.value.account) return done;
  const detail = quote(messages.KEY_OF_OTHER_ACCOUNT);
  return { kind: 'problem', status: 409, type: 'other', detail, subproblems: [] };
}
