// SPDX-License-Identifier: Apache-2.0
import type { AccountKey } from './account-key.ts';
import { quote } from '../quote.ts';
import { unusable, type Answer, type NoAnswer, type Ok } from './answer.ts';
import type { Received } from './exchange.ts';
import type { AccountBody } from './resources.ts';
import { isNoAnswer, jsonOf, one, shaped } from './read-answer.ts';
import type { AcmeServer } from './server.ts';
import {
  externalAccountBinding,
  signedMessage,
  type Caller,
  type ExternalAccount,
} from './signed-message.ts';

/** An account at a server, with the key that calls for it. */
export interface Account extends Caller, AccountBody {
  /** Its URL. */
  readonly account: string;
}

/** What a new account is made of. */
export interface NewAccount {
  /** URLs such as `mailto:` (RFC 8555 §7.1.2). */
  readonly contact: readonly string[];
  readonly termsOfServiceAgreed: boolean;
  /** Used by this one call; the server knows the account by its key afterwards. */
  readonly externalAccount?: ExternalAccount;
}

/**
 * Makes the account of a key, or finds it where there is one (RFC 8555 §7.3): a call that is repeated makes no second
 * one.
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
 * Finds the account of a key, and makes none (RFC 8555 §7.3.1). Needs no external account, nor that terms are agreed to.
 *
 * @returns a problem `accountDoesNotExist` where the key has no account
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
  const read = (received: Received): Account | NoAnswer => {
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
  const read = (received: Received): Account | NoAnswer => {
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
 * Brings an account to its new key (RFC 8555 §7.3.5), wherever an earlier attempt ended: it asks which key the server
 * knows before it changes anything. Both keys must be stored before the first call, until this says `ok`.
 *
 * @returns the account, with the new key; a problem `accountDoesNotExist` where neither key has one, and one of 409
 * where the new key has an account of its own
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
  if (url === undefined) return unusable('the directory has no keyChange', 'no-key-change');
  const { account } = before.value;
  const inner = { account, oldKey: keys.old.jwk };
  // Its inner JWS has no nonce (RFC 8555 §7.3.5).
  const payload = await signedMessage({ key: keys.new }, { url }, inner);
  const read = (): Account => ({ ...before.value, key: keys.new });
  return server.post(before.value, { endpoint: 'keyChange', url, read, payload }, signal);
}

/** The new key has an account: the one that the old key had, unless that still has another. */
function rolledOver(done: Ok<Account>, before: Answer<Account>): Answer<Account> {
  if (before.kind === 'problem' && before.type === 'accountDoesNotExist') return done;
  if (before.kind !== 'ok' || before.value.account === done.value.account)
    return before.kind === 'ok' ? done : before;
  const detail = quote('the new key has an account of its own; use another new key');
  return { kind: 'problem', status: 409, type: 'other', detail, subproblems: [] };
}
