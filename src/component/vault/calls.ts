// SPDX-License-Identifier: Apache-2.0
/** The calls of Vault that each of its users makes: the login, and the failures of all calls. */
import type { VaultPlace } from '#api/signer/upstream-vault.ts';
import type { Exchange, HttpCall, HttpAnswer } from '#base/egress/exchange.ts';
import type { NoAnswer } from '#base/egress/no-answer.ts';
import { parseRetryAfter } from '#base/egress/retry-after.ts';
import { clientToken, errorText } from './answers.ts';
import { withoutTokens } from './foreign-text.ts';
import * as messages from './messages.ts';

/** A caller of one server. */
export interface VaultCaller {
  readonly vault: VaultPlace;
  /** Token of our ServiceAccount for this server alone. */
  readonly token: string;
  /** Milliseconds, by the API server's clock. */
  readonly now: number;
}

/**
 * A call without an answer to use:
 *
 * - `unavailable`: the server cannot be reached, or has a fault of its own
 * - `throttled`: the server has too many calls
 * - `denied`: the server refuses. A person must correct it.
 */
export class VaultFailure {
  readonly how: 'unavailable' | 'throttled' | 'denied';
  readonly message: string;
  /** Milliseconds that the server requests as a delay. */
  readonly retryAfterMs: number | undefined;

  constructor(how: VaultFailure['how'], message: string, retryAfterMs?: number) {
    this.how = how;
    this.message = message;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Returns the token of Vault for the token of our ServiceAccount. */
export async function logIn(
  { send }: Pick<Exchange, 'send'>,
  caller: VaultCaller,
): Promise<string | VaultFailure> {
  const { vault, token } = caller;
  const body = JSON.stringify({ role: vault.auth.role, jwt: token });
  const answer = await send(callOf(vault, 'POST', `auth/${vault.auth.mount}/login`, { body }));
  if (!('status' in answer)) return unreachable(caller, answer);
  const failure = failureOf(caller, answer);
  if (failure !== undefined) return failure;
  if (answer.status !== 200) {
    const problem = errorText(answer, [token]);
    return new VaultFailure('denied', messages.loginDenied(vault, problem));
  }
  return clientToken(answer) ?? new VaultFailure('unavailable', messages.unreadable(vault.server));
}

/** Returns the call that ends a login. If it fails, the token lives until its role ends it. */
export function logOutCall(vault: VaultPlace, token: string): HttpCall {
  return callOf(vault, 'POST', 'auth/token/revoke-self', { token });
}

/**
 * Returns the failure of an answer that decides nothing. Undefined for others.
 *
 * @param tokens - tokens of Vault that the answer may repeat
 */
export function failureOf(
  { vault, token, now }: VaultCaller,
  answer: HttpAnswer,
  ...tokens: readonly string[]
): VaultFailure | undefined {
  const { status, headers } = answer;
  if (status < 500 && status !== 429) return undefined;
  const text = errorText(answer, [token, ...tokens]);
  const [after, date] = [headers['retry-after'], headers['date']].map((each) =>
    typeof each === 'string' ? each : undefined,
  );
  return new VaultFailure(
    status === 429 ? 'throttled' : 'unavailable',
    messages.serverError(vault.server, status, text),
    parseRetryAfter(after, date, now),
  );
}

/** Returns the failure of a call without an answer. */
export function unreachable({ vault, token }: VaultCaller, { detail }: NoAnswer): VaultFailure {
  const text = messages.unreachable(vault.server, withoutTokens(detail, [token]));
  return new VaultFailure('unavailable', text);
}

/** Returns a call of the API of Vault. Its paths need no escaping. */
export function callOf(
  { server, namespace }: VaultPlace,
  method: HttpCall['method'],
  path: string,
  { body, token }: { readonly body?: string; readonly token?: string } = {},
): HttpCall {
  return {
    method,
    url: `${server}/v1/${path}`,
    ...(body === undefined ? {} : { body }),
    headers: {
      'content-type': 'application/json',
      'x-vault-request': 'true',
      ...(namespace === undefined ? {} : { 'x-vault-namespace': namespace }),
      ...(token === undefined ? {} : { 'x-vault-token': token }),
    },
  };
}
