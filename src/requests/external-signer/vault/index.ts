// SPDX-License-Identifier: Apache-2.0
/** Vault or OpenBao as the CA of a signer, by a role of a PKI secrets engine. */
import type { ExternalSigner } from '#api/external/external-signer.ts';
import type { Exchange, HttpAnswer } from '#base/egress/exchange.ts';
import type { NoAnswer } from '#base/egress/no-answer.ts';
import { SignerError, attempt, messageOf } from '#base/errors.ts';
import { membersOf } from '#base/record.ts';
import type { VaultAccess } from '#component/vault/access.ts';
import { certificatesOf, dataOf, errorText } from '#component/vault/answers.ts';
import {
  callOf,
  failureOf,
  logIn,
  logOutCall,
  unreachable,
  VaultFailure,
  type VaultCaller,
} from '#component/vault/calls.ts';
import { withoutTokens } from '#component/vault/foreign-text.ts';
import { lost, tokenUnread } from '#component/vault/messages.ts';
import { readCertificates } from '#pki/x509/certificate.ts';
import type { Backend, BackendState, OrderResult, WantedCertificate } from '../backend.ts';
import { UNBOUNDED_VALIDITY } from '../../issuing/returned-chain.ts';
import { judgeRole, type RoleLimits } from './role.ts';
import { signBody } from './sign-body.ts';
import * as messages from '../messages.ts';

export interface VaultBackendInit {
  readonly signer: ExternalSigner;
  readonly access: VaultAccess;
  /** Milliseconds since 1970, by the API server's clock. */
  readonly now: () => number;
}

/** One login, and the role as it was read with it. */
interface Session {
  readonly caller: VaultCaller;
  /** Token of Vault. */
  readonly token: string;
  readonly limits: RoleLimits;
}

interface VaultState extends VaultBackendInit {
  readonly exchange: Exchange;
  session: Session | undefined;
  /** The previous login, whose token running orders still use. */
  before: Session | undefined;
  /** Orders that run. */
  readonly running: Set<Promise<unknown>>;
}

/**
 * Opens a role of a secrets engine. Each check logs in again and reads the role, so that a token is
 * never older than the time between two checks, and a changed role is seen.
 */
export function openVaultBackend(init: VaultBackendInit): Backend {
  const exchange = init.access.open(init.signer.spec.authority.vault);
  const running = new Set<Promise<unknown>>();
  const state: VaultState = { ...init, exchange, session: undefined, before: undefined, running };
  return {
    check: () => check(state),
    order: (order) => {
      const placed = placeOrder(state, order);
      running.add(placed);
      const ended = (): boolean => running.delete(placed);
      void placed.then(ended, ended);
      return placed;
    },
    close: async () => {
      // An answer that is cut off would cost another certificate.
      await Promise.allSettled(running);
      await logOut(state);
      await exchange.close();
    },
  };
}

async function check(state: VaultState): Promise<BackendState> {
  const before = state.session;
  const caller = await callerOf(state);
  if ('reason' in caller) return caller;
  const token = await logIn(state.exchange, caller);
  if (token instanceof VaultFailure) return notReady(token, 'LoginDenied');
  const opened = await openRole(state, caller, token);
  if (!opened.ready) {
    await state.exchange.send(logOutCall(caller.vault, token));
    return opened;
  }
  await endSession(state, state.before);
  state.before = before;
  return opened;
}

async function openRole(
  state: VaultState,
  caller: VaultCaller,
  token: string,
): Promise<BackendState> {
  const { vault } = state.signer.spec.authority;
  const path = `${vault.mount}/roles/${vault.role}`;
  const answer = await state.exchange.send(callOf(vault, 'GET', path, { token }));
  const role = answered(caller, answer, path, token);
  if (role instanceof VaultFailure) return notReady(role, 'RoleUnreadable');
  const limits = judgeRole(role, state.signer);
  if ('fault' in limits) return { ready: false, reason: 'RoleUnsuitable', message: limits.fault };
  const validity = await issuerValidity(state, caller, limits.issuer);
  if (validity instanceof VaultFailure) return notReady(validity, 'IssuerUnreadable');
  state.session = { caller, token, limits };
  return { ready: true, validity };
}

/** Returns the validity of the engine's issuer. Unbounded if Vault hides it. */
async function issuerValidity(
  { exchange, signer }: VaultState,
  caller: VaultCaller,
  issuer: string,
): Promise<typeof UNBOUNDED_VALIDITY | VaultFailure> {
  const { vault } = signer.spec.authority;
  // Vault requires no token here, and returns no secret.
  const answer = await exchange.send(callOf(vault, 'GET', `${vault.mount}/issuer/${issuer}/json`));
  if (!('status' in answer)) return unreachable(caller, answer);
  const failure = failureOf(caller, answer);
  if (failure !== undefined) return failure;
  // Older versions have no such path, and a proxy may deny it. The chain is checked later.
  const certificates = answer.status === 200 ? certificatesOf(answer) : undefined;
  const read = attempt(() => readCertificates(certificates?.[0] ?? ''));
  const [certificate] = read instanceof SignerError ? [] : read;
  if (certificate === undefined) return UNBOUNDED_VALIDITY;
  // notBefore of a leaf is the CA's own decision.
  return { notBefore: 0, notAfter: certificate.notAfter };
}

/** Reads the token of our ServiceAccount. */
async function callerOf({
  signer,
  access,
  now,
}: VaultState): Promise<VaultCaller | Extract<BackendState, { ready: false }>> {
  const { vault } = signer.spec.authority;
  const file = access.tokenFiles.get(vault.server);
  if (file === undefined) {
    const message = messages.serverNotListed(vault.server);
    return { ready: false, reason: 'ServerNotListed', message };
  }
  try {
    const token = (await access.readToken(file)).trim();
    return { vault, token, now: now() };
  } catch (error) {
    const message = tokenUnread(vault.server, messageOf(error));
    return { ready: false, reason: 'TokenUnreadable', message };
  }
}

async function placeOrder(
  state: VaultState,
  { wanted, csr }: WantedCertificate,
): Promise<OrderResult> {
  const { session, exchange, signer, now } = state;
  const { vault } = signer.spec.authority;
  if (session === undefined) return { outcome: 'denied', message: messages.NOT_LOGGED_IN };
  const body = signBody(wanted, csr, session.limits);
  if ('fault' in body) return { outcome: 'unorderable', message: body.fault };
  const caller = { ...session.caller, now: now() };
  const path = `${vault.mount}/sign/${vault.role}`;
  const call = callOf(vault, 'POST', path, { body: JSON.stringify(body), token: session.token });
  const answer = await exchange.send(call);
  if (!('status' in answer)) {
    if (!answer.mayHaveArrived) return failed(unreachable(caller, answer));
    if (isSuccess(answer.answeredStatus)) return unusable(vault.server, path);
    const detail = withoutTokens(answer.detail, [caller.token, session.token]);
    return { outcome: 'lost', message: lost(vault.server, detail) };
  }
  const failure = failureOf(caller, answer, session.token);
  if (failure !== undefined) return failed(failure);
  if (!isSuccess(answer.status)) {
    const problem = errorText(answer, [caller.token, session.token]);
    return answer.status === 403
      ? { outcome: 'denied', message: messages.signDenied(vault.server, path, problem) }
      : { outcome: 'refused', message: messages.signRefused(vault.server, path, problem) };
  }
  const chain = certificatesOf(answer);
  return chain === undefined
    ? unusable(vault.server, path)
    : { outcome: 'issued', chain: chain.join('') };
}

function isSuccess(status = 0): boolean {
  return status >= 200 && status < 300;
}

function unusable(server: string, path: string): OrderResult {
  return { outcome: 'unusable', message: messages.signUnusable(server, path) };
}

/** Returns the member `data` of an answer. */
function answered(
  caller: VaultCaller,
  answer: HttpAnswer | NoAnswer,
  path: string,
  token: string,
): Readonly<Record<string, unknown>> | VaultFailure {
  if (!('status' in answer)) return unreachable(caller, answer);
  const failure = failureOf(caller, answer, token);
  if (failure !== undefined) return failure;
  if (answer.status === 200) return membersOf(dataOf(answer));
  const problem = errorText(answer, [caller.token, token]);
  return new VaultFailure('denied', messages.roleDenied(caller.vault.server, path, problem));
}

function notReady(
  { how, message, retryAfterMs }: VaultFailure,
  denied: string,
): Extract<BackendState, { ready: false }> {
  const reason = { denied, throttled: 'Throttled', unavailable: 'Unavailable' }[how];
  return { ready: false, reason, message, retryAfterMs };
}

function failed({ how, message, retryAfterMs }: VaultFailure): OrderResult {
  return { outcome: how, message, retryAfterMs };
}

async function logOut(state: VaultState): Promise<void> {
  const { session, before } = state;
  state.session = undefined;
  await endSession(state, before);
  await endSession(state, session);
}

async function endSession({ exchange }: VaultState, session: Session | undefined): Promise<void> {
  if (session !== undefined) await exchange.send(logOutCall(session.caller.vault, session.token));
}
