// SPDX-License-Identifier: Apache-2.0
import type { AcmeSession } from '../issuing/session.ts';
import type { AcmeSigner } from '#api/acme/acme-signer.ts';
import type { Challenge } from '#api/acme/challenge.ts';
import type { AcmeSignerRef } from '#api/acme/fields.ts';
import type { Order } from '#api/acme/order.ts';
import type { Http01Grant } from '../solving/http/grants.ts';
import type { SelfCheck } from '../solving/self-check.ts';
import type { PersistentProof } from '../solving/dns01/persist.ts';
import { keyOf } from '#api/object/object.ts';
import type { Component } from '#component/contract.ts';
import { serverTime } from '#component/server-time.ts';
import { keyOfRef, type AcmeSigners } from '#component/signers/acme-signers.ts';
import type { Sessions } from './signers/sessions.ts';
import type { AcmeCache } from './store/cache.ts';
import type { Term } from './store/leader-state.ts';
import * as messages from './messages.ts';
import { ACME_SERIES } from './metrics.ts';

/** State that the component's loops share. */
export interface AcmeContext {
  readonly component: Component;
  readonly signers: AcmeSigners;
  readonly sessions: Sessions;
  readonly orders: AcmeCache<Order>;
  /** Challenges, indexed by the uid of their Order. */
  readonly challenges: AcmeCache<Challenge>;
  readonly checkChallenge: SelfCheck;
  /** Names that AcmeSigners may prove by HTTP-01. */
  readonly http01Grants: readonly Http01Grant[];
  /** Returns the leader's state, or undefined while another process leads. */
  readonly term: () => Term | undefined;
}

/** Reason that no call is made now. */
export interface CallDeferral {
  readonly reason: string;
  readonly message: string;
  /** Milliseconds since 1970. Undefined: until a change. */
  readonly until?: number | undefined;
}

/** Signer and session for a call, or the reason to defer it. */
export type CallRight =
  | {
      readonly signer: AcmeSigner;
      readonly session: AcmeSession;
      readonly persist: PersistentProof;
    }
  | { readonly deferral: CallDeferral };

/**
 * Decides whether a call for an Order, a Challenge, a renewal or a revocation may be made now. The
 * signer must be ready, and its account under no limit. Only the calls in `signers/`, which open
 * the account, are made without this check.
 */
export function callRight(
  { signers, sessions }: Pick<AcmeContext, 'signers' | 'sessions'>,
  term: Pick<Term, 'gate'>,
  of: { readonly signerRef: AcmeSignerRef; readonly namespace: string },
  now: number,
): CallRight {
  const key = keyOfRef(of.signerRef, of.namespace);
  const signer = signers.get(key);
  if (signer === undefined) {
    const message = messages.signerNotFound(of.signerRef.kind, key);
    return { deferral: { reason: 'SignerNotFound', message } };
  }
  const state = sessions.of(key);
  if (state?.kind !== 'ready') {
    const why = state === undefined ? '' : messages.notReadyCause(state.reason, state.message);
    const message = messages.signerNotReady(of.signerRef.kind, key, why);
    return { deferral: { reason: 'SignerNotReady', message } };
  }
  const until = term.gate.until(state.session.account.account, now);
  if (until === undefined) return { signer, session: state.session, persist: state.persist };
  const message = messages.RATE_LIMITED;
  return { deferral: { reason: 'RateLimited', message, until } };
}

/**
 * Shares a limit of the account, or a refusal that the signer's owner must fix, with all of its
 * objects.
 */
export function noteAfter(
  { component, sessions }: Pick<AcmeContext, 'component' | 'sessions'>,
  term: Pick<Term, 'gate' | 'budgets'>,
  { signer, session }: Extract<CallRight, { readonly session: AcmeSession }>,
  after: AfterCall,
): void {
  const { status, accountUntil, orderLimitUntil, signerProblem } = after;
  const { account } = session.account;
  if ((accountUntil ?? orderLimitUntil) !== undefined)
    component.metrics.of(ACME_SERIES).rateLimits.inc({});
  if (accountUntil !== undefined) {
    term.gate.pause(account, accountUntil);
    term.budgets.pause(account, accountUntil);
    const seconds = (accountUntil - serverTime(component)) / 1000;
    component.metrics.of(ACME_SERIES).rateLimitWait.inc({}, Math.max(0, seconds));
  }
  if (signerProblem !== undefined) {
    const reason = status.reason ?? 'AccountRefused';
    sessions.refused(keyOf(signer.metadata), { reason, message: signerProblem });
  }
}

/** Part of an answer that concerns more than one object. */
interface AfterCall {
  readonly status: { readonly reason?: string };
  readonly accountUntil?: number;
  readonly orderLimitUntil?: number;
  readonly signerProblem?: string;
}
