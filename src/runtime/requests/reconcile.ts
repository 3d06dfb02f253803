// SPDX-License-Identifier: Apache-2.0
/** Reconciles one request: from the queue's key to its log line. */
import type { KubeObject } from '../../api/object/object.ts';
import type { SignerObject } from '../../api/signer/cluster-signer.ts';
import { SignerError } from '../../errors.ts';
import type { ReconcileResult } from '../../kube/workqueue/run-loop.ts';
import { ownerOf } from '../signers/deadline.ts';
import { inTurns } from '../signers/in-turns.ts';
import { PutOff } from '../signers/put-off.ts';
import { tellSlow } from '../signers/slow-signer.ts';
import { toOutcome } from './error-outcome.ts';
import type { OrphanTakeover } from './orphan-takeover.ts';
import type { RequestOutcome } from './outcome.ts';
import type { PendingRequests } from './pending-requests.ts';
import { report, wordOf } from './report.ts';
import type { RequestControllerInit } from './request-controller-init.ts';
import {
  finish,
  forget,
  ignoreEvents,
  isNews,
  nextLook,
  partsOf,
  settle,
  start,
  waitFor,
  type ReconcileState,
} from './request-state.ts';

/** What a reconciliation needs. */
export interface Reconciler<T, S> {
  readonly init: RequestControllerInit<T, S>;
  readonly state: ReconcileState;
  readonly requests: PendingRequests<T>;
  readonly takeover: OrphanTakeover;
}

/**
 * Reconciles the request of a key once.
 *
 * @returns when to look at it again
 * @throws unexpected errors only; everything else is an outcome
 */
export async function reconcile<T extends KubeObject, S extends SignerObject>(
  at: Reconciler<T, S>,
  key: string,
): Promise<ReconcileResult> {
  const { init, state, takeover } = at;
  start(state, key);
  try {
    let next: ReconcileResult;
    if (isOwn(at, key)) next = await look(at, key);
    else {
      if (takeover.claims(key) && (await answerOrphan(at, key))) takeover.settle(key);
      forget(state, key);
    }
    settle(state, key, next);
    return next;
  } finally {
    if (finish(state, key)) init.component.queue.add(key);
  }
}

/** Also true of a deleted request: each replica drops its state, whichever replica answered it. */
function isOwn<T extends KubeObject, S>(
  { init, requests }: Reconciler<T, S>,
  key: string,
): boolean {
  const kept = requests.peek(key);
  return kept === undefined || init.component.shard.owns(kept.metadata.uid);
}

async function look<T extends KubeObject, S extends SignerObject>(
  at: Reconciler<T, S>,
  key: string,
): Promise<ReconcileResult> {
  const { init, state, requests } = at;
  const { signerName, storeKey } = partsOf(key);
  const read = await attempted(init, async () => ({ request: await requests.load(key) }));
  if ('outcome' in read) return unread(at, key, read);
  const { request } = read;
  const signer = init.signers.serving(signerName);
  if (request === undefined || signer === undefined) {
    const left = await attempted(init, async () => ({ gone: await init.onGone?.(storeKey) }));
    if ('outcome' in left) return unread(at, key, left);
    forget(state, key);
    return undefined;
  }
  // At start all lists run at once: an Event about an object that is not listed yet might be wrong.
  if (init.sources?.listed(signer) === false) return waitFor(state, key, `${signerName} listing`);
  const outcome = await tracedLook(at, key, request, () => judged(init, request, signer));
  const left = (outcome.written ?? outcome.changed) as T | undefined;
  if (left !== undefined) await noteWrite(at, key, left);
  report(init, { request, signerName, outcome, news: isNewsOf(state, key, outcome) });
  return nextLook(state, key, outcome);
}

/** One reconciliation as a span, where requests are traced. */
function tracedLook<T extends KubeObject, S>(
  { init: { component, kind } }: Reconciler<T, S>,
  key: string,
  { metadata: { namespace, name, uid } }: T,
  work: () => Promise<RequestOutcome>,
): Promise<RequestOutcome> {
  if (component.tracing === undefined) return work();
  const signer = partsOf(key).signerName;
  return component.tracing.reconciliation({ key, kind, namespace, name, uid, signer }, work);
}

/**
 * Reconciles another replica's request; it is reported only if that answered it.
 *
 * @returns false where it failed, or cannot succeed yet
 */
async function answerOrphan<T extends KubeObject, S extends SignerObject>(
  { init, requests }: Reconciler<T, S>,
  key: string,
): Promise<boolean> {
  const { signerName } = partsOf(key);
  const signer = init.signers.serving(signerName);
  const { sources } = init;
  if (signer === undefined || sources?.listed(signer) === false) return false;
  if (sources?.waitsFor?.(signer) !== undefined) return false;
  const read = await attempted(init, async () => ({ request: await requests.load(key) }));
  if ('outcome' in read) return false;
  if (read.request === undefined) return true;
  const outcome = await handled(init, read.request, signer);
  if (outcome.written === undefined) return outcome.outcome !== 'waiting';
  requests.applyWrite(signerName, outcome.written as T);
  report(init, { request: read.request, signerName, outcome, news: true });
  return true;
}

async function judged<T extends KubeObject, S extends SignerObject>(
  init: RequestControllerInit<T, S>,
  request: T,
  signer: S,
): Promise<RequestOutcome> {
  const { begin } = init;
  const begun = begin && (await attempted(init, () => begin(request)));
  if (begun !== undefined) return begun;
  const message = init.sources?.waitsFor?.(signer);
  if (message === undefined) return handled(init, request, signer);
  return { outcome: 'waiting', reason: 'IssuerNotReady', message, again: 'on-change' };
}

/** Handles the request in as many turns of the event loop as the signer's expressions take. */
function handled<T extends KubeObject, S extends SignerObject>(
  init: RequestControllerInit<T, S>,
  request: T,
  signer: S,
): Promise<RequestOutcome> {
  return attempted(init, async () => {
    try {
      return await inTurns(() => init.handle(request, signer), ownerOf(signer));
    } catch (error) {
      const scope = init.kind === 'CertificateSigningRequest' ? 'cluster' : 'everywhere';
      tellSlow(init.component, scope, signer, error);
      throw error;
    }
  });
}

/** The result of the work, or the error. */
async function attempted<R>(
  { component }: Pick<RequestControllerInit<never, never>, 'component'>,
  work: () => Promise<R>,
): Promise<R | RequestOutcome> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PutOff) return putOff(error, component.clock());
    if (!(error instanceof SignerError)) throw error;
    return toOutcome(error, component.name, component.client.clockOffset());
  }
}

/** The request waits, and others are served. An Event says so only where somebody can do something about it. */
function putOff({ reason, message, waitMs }: PutOff, now: number): RequestOutcome {
  const waiting = {
    outcome: 'waiting',
    reason,
    message,
    again: { requeueAt: now + waitMs },
  } as const;
  return reason === 'CelBudgetSpent'
    ? { ...waiting, event: { type: 'Warning', reason, action: 'Wait', note: message } }
    : waiting;
}

/**
 * The cache shows our own write at once; an answered request needs no second reconciliation, whatever the
 * watch delivers.
 */
async function noteWrite<T extends KubeObject, S>(
  { init, state, requests }: Reconciler<T, S>,
  key: string,
  left: T,
): Promise<void> {
  const { signerName, storeKey } = partsOf(key);
  if (requests.isCurrent(signerName, left)) ignoreEvents(state, key);
  requests.applyWrite(signerName, left);
  if (requests.peek(key) !== undefined) return;
  ignoreEvents(state, key);
  await init.onGone?.(storeKey);
}

/** An answer is always news, and nothing more is logged of an answered request. */
function isNewsOf(state: ReconcileState, key: string, outcome: RequestOutcome): boolean {
  if (outcome.written === undefined) return isNews(state, key, wordOf(outcome));
  state.logged.delete(key);
  return true;
}

function unread<T, S>(
  { init, state }: Reconciler<T, S>,
  key: string,
  outcome: RequestOutcome,
): ReconcileResult {
  const level = isNews(state, key, `unread ${outcome.reason}`) ? 'warn' : 'debug';
  init.component.log[level]({ key, error: outcome.message }, 'request cannot be read, retrying');
  return nextLook(state, key, outcome);
}
