// SPDX-License-Identifier: Apache-2.0
import type { AcmeSession } from '../../acme-issuing/session.ts';
import type { AcmeSigner, AcmeSignerRef, Challenge, Order } from '../../api/acme/index.ts';
import type { SelfCheck } from '../../acme-solving/self-check.ts';
import type { PersistentProof } from '../../acme-solving/dns01/persist.ts';
import { keyOf } from '../../api/object/object.ts';
import type { Component } from '../../runtime/component/component.ts';
import { serverTime } from '../../runtime/component/server-time.ts';
import { keyOfRef, type AcmeSigners } from '../../runtime/signers/acme-signers.ts';
import type { Sessions } from './signers/sessions.ts';
import type { AcmeCache } from './store/cache.ts';
import type { Term } from './store/term.ts';

/** What the loops of the component share. */
export interface AcmeContext {
  readonly component: Component;
  readonly signers: AcmeSigners;
  readonly sessions: Sessions;
  readonly orders: AcmeCache<Order>;
  /** By the uid of their Order. */
  readonly challenges: AcmeCache<Challenge>;
  readonly checkChallenge: SelfCheck;
  /** What this process knows as the leader; undefined while another one leads. */
  readonly term: () => Term | undefined;
}

/** Why no call is made now. */
export interface HeldBack {
  readonly reason: string;
  readonly message: string;
  /** Milliseconds since 1970; undefined: until something changes. */
  readonly until?: number | undefined;
}

/** What an Order or a Challenge may call its server with, now. */
export type CallRight =
  | {
      readonly signer: AcmeSigner;
      readonly session: AcmeSession;
      readonly persist: PersistentProof;
    }
  | { readonly heldBack: HeldBack };

/** Every call to an ACME server asks here first: the signer must be ready, and its account under no limit. */
export function callRight(
  { signers, sessions }: Pick<AcmeContext, 'signers' | 'sessions'>,
  term: Pick<Term, 'gate'>,
  of: { readonly signerRef: AcmeSignerRef; readonly namespace: string },
  now: number,
): CallRight {
  const key = keyOfRef(of.signerRef, of.namespace);
  const signer = signers.get(key);
  if (signer === undefined) {
    const message = `${of.signerRef.kind} ${key} does not exist or is invalid`;
    return { heldBack: { reason: 'SignerNotFound', message } };
  }
  const state = sessions.of(key);
  if (state?.kind !== 'ready') {
    const why = state === undefined ? '' : `: ${state.reason}: ${state.message}`;
    const message = `${of.signerRef.kind} ${key} is not ready${why}`;
    return { heldBack: { reason: 'SignerNotReady', message } };
  }
  const until = term.gate.until(state.session.account.account, now);
  if (until === undefined) return { signer, session: state.session, persist: state.persist };
  const message = 'the ACME server limits the calls of this account';
  return { heldBack: { reason: 'RateLimited', message, until } };
}

/** The server limits an account, or refuses what is the signer's to correct: all of its objects are to know. */
export function noteAfter(
  { component, sessions }: Pick<AcmeContext, 'component' | 'sessions'>,
  term: Pick<Term, 'gate' | 'budgets'>,
  { signer, session }: Extract<CallRight, { readonly session: AcmeSession }>,
  after: AfterCall,
): void {
  const { record, accountUntil, signerProblem } = after;
  const { account } = session.account;
  if (accountUntil !== undefined) {
    term.gate.pause(account, accountUntil);
    term.budgets.pause(account, accountUntil);
    const seconds = (accountUntil - serverTime(component)) / 1000;
    component.metrics.acmeRateLimited(Math.max(0, seconds));
  }
  if (signerProblem !== undefined) {
    const reason = record.reason ?? 'AccountRefused';
    sessions.refused(keyOf(signer.metadata), { reason, message: signerProblem });
  }
}

/** What an answer says beyond the object that it is for. */
interface AfterCall {
  readonly record: { readonly reason?: string | undefined };
  readonly accountUntil?: number;
  readonly signerProblem?: string;
}
