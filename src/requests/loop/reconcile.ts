// SPDX-License-Identifier: Apache-2.0
/** Reconciles one request: from the queue's key to its log line. */
import type { KubeObject } from '#api/object/object.ts';
import type { SignerObject } from '#api/signer/cluster-signer.ts';
import { SignerError } from '#base/errors.ts';
import type { ReconcileResult } from '#kube/workqueue/run-loop.ts';
import { RIGHT_MISSING } from '#component/rbac/rights-faults.ts';
import { ownerOf } from '#component/signers/deadline.ts';
import { runInSlices } from '#component/signers/run-in-slices.ts';
import { EvaluationDeferred } from '#component/signers/evaluation-errors.ts';
import { reportHolderRefusal } from './holder-refusal.ts';
import { reportSlowSigner } from '#component/signers/slow-signer.ts';
import { toOutcome } from './error-outcome.ts';
import type { OrphanTakeover } from './orphan-takeover.ts';
import type { RequestOutcome } from './outcome.ts';
import type { PendingRequests } from './pending-requests.ts';
import { report } from './report.ts';
import { servingSigner, type RequestControllerInit } from './request-controller-init.ts';
import { partsOf, type KeyParts } from './request-key.ts';
import {
  finish,
  start,
  type Reconciliation,
  type ReconcileState,
  waitedFor,
} from './request-state.ts';
import * as messages from './messages.ts';

/** Dependencies of a reconciliation. */
export interface Reconciler<T, S> {
  readonly init: RequestControllerInit<T, S>;
  readonly state: ReconcileState;
  readonly requests: PendingRequests<T>;
  readonly takeover: OrphanTakeover;
}

/**
 * Reconciles the request of a key once.
 *
 * @returns when to reconcile it again
 * @throws unexpected errors only. Everything else is an outcome.
 */
export async function reconcile<T extends KubeObject, S extends SignerObject>(
  at: Reconciler<T, S>,
  key: string,
): Promise<ReconcileResult> {
  const { init, state, requests } = at;
  const { component } = init;
  const parts = partsOf(key);
  start(state, key);
  const result = await look(at, key, parts).catch((error: unknown): RequestReconciliation<T> => ({
    kind: 'failed',
    error,
  }));
  // Nothing happens between these two calls. An answered request needs no second reconciliation,
  // whatever the watch has delivered until now.
  const { isGone, isSeen } = applyWrite(requests, parts, result);
  const { next, isNew, isNoted } = finish(state, key, result, isGone || isSeen);
  if (isNoted) component.queue.add(key);
  if (result.kind === 'failed') throw result.error;
  if (result.kind === 'unread') reportUnread(init, key, result.outcome, isNew);
  if (result.kind === 'judged') report(init, { ...result, ...parts, news: isNew });
  // An event during this call queues the key again.
  if (isGone) await init.onGone?.(parts.storeKey);
  return next;
}

/** A reconciliation with its request. */
type RequestReconciliation<T> =
  | Exclude<Reconciliation, { readonly kind: 'judged' }>
  | (Extract<Reconciliation, { readonly kind: 'judged' }> & { readonly request: T });

/** Stores our own write in the cache at once. Without a write, changes nothing. */
function applyWrite<T>(
  requests: PendingRequests<T>,
  { signerName }: KeyParts,
  result: RequestReconciliation<T>,
): { readonly isGone: boolean; readonly isSeen: boolean } {
  const { written, changed } = result.kind === 'judged' ? result.outcome : {};
  // The handler of a kind writes its objects.
  const left = (written ?? changed) as T | undefined;
  if (left === undefined) return { isGone: false, isSeen: false };
  const { isSeen, isPending } = requests.applyWrite(signerName, left);
  return { isGone: !isPending, isSeen };
}

/** Reads and judges the request of a key. */
async function look<T extends KubeObject, S extends SignerObject>(
  at: Reconciler<T, S>,
  key: string,
  parts: KeyParts,
): Promise<RequestReconciliation<T>> {
  const { init, requests, takeover } = at;
  const { signerName, storeKey } = parts;
  if (!isOwn(at, parts)) {
    if (takeover.claims(key) && (await answerOrphan(at, parts))) takeover.settle(key);
    return { kind: 'forgotten' };
  }
  const read = await attempted(init, async () => ({ request: await requests.load(parts) }));
  if ('outcome' in read) return { kind: 'unread', outcome: read };
  const { request } = read;
  const signer = servingSigner(init, signerName);
  if (request === undefined || signer === undefined) {
    const left = await attempted(init, async () => ({ gone: await init.onGone?.(storeKey) }));
    return 'outcome' in left ? { kind: 'unread', outcome: left } : { kind: 'forgotten' };
  }
  // At start all lists run at once. An Event about an object that is not listed yet might be wrong.
  if (init.sources?.listed(signer) === false)
    return { kind: 'unlisted', cause: `${signerName} listing` };
  const outcome = await tracedReconciliation(at, key, request, async () => {
    const found = withoutEarlyDenial(at.state, key, await judged(init, request, signer));
    // The API server can deny the write that shows the outcome, too.
    return withoutEarlyDenial(at.state, key, await shown(init, request, found));
  });
  return { kind: 'judged', request, outcome };
}

/**
 * Reports whether this replica owns the request. True for a deleted request as well: each replica
 * drops its state, whichever replica answered it.
 */
function isOwn<T extends KubeObject, S>(
  { init, requests }: Reconciler<T, S>,
  parts: KeyParts,
): boolean {
  const kept = requests.peek(parts);
  return kept === undefined || init.component.shard.owns(kept.metadata.uid);
}

function reportUnread(
  { component }: Pick<RequestControllerInit<never, never>, 'component'>,
  key: string,
  { message }: RequestOutcome,
  isNew: boolean,
): void {
  const level = isNew ? 'warn' : 'debug';
  component.log[level]({ key, error: message }, messages.UNREADABLE_REQUEST);
}

/** Runs one reconciliation in a span, if requests are traced. */
function tracedReconciliation<T extends KubeObject, S>(
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
 * Reconciles another replica's request. Reports it only if that answered it.
 *
 * @returns false if it failed or cannot succeed yet
 */
async function answerOrphan<T extends KubeObject, S extends SignerObject>(
  { init, requests }: Reconciler<T, S>,
  parts: KeyParts,
): Promise<boolean> {
  const { signerName } = parts;
  const signer = servingSigner(init, signerName);
  const { sources } = init;
  if (signer === undefined || sources?.listed(signer) === false) return false;
  if (sources?.waitsFor?.(signer) !== undefined) return false;
  const read = await attempted(init, async () => ({ request: await requests.load(parts) }));
  if ('outcome' in read) return false;
  if (read.request === undefined) return true;
  const outcome = await handled(init, read.request, signer);
  if (outcome.written === undefined) return outcome.outcome !== 'waiting';
  // The handler of a kind writes its objects.
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
  const begun = begin && (await attempted(init, () => begin(request, signer)));
  if (begun !== undefined) return begun;
  const message = init.sources?.waitsFor?.(signer);
  if (message === undefined) return handled(init, request, signer);
  return { outcome: 'waiting', reason: 'IssuerNotReady', message, again: 'on-change' };
}

/**
 * Time for which an API server must deny permissions before an Event reports it. A server that has
 * just started denies each call until it has read the roles, which takes seconds.
 */
const DENIED_FOR_MS = 10_000;

/** Removes the Event of a denied permission that may be granted in a moment. */
function withoutEarlyDenial(
  state: ReconcileState,
  key: string,
  outcome: RequestOutcome,
): RequestOutcome {
  if (outcome.reason !== RIGHT_MISSING) return outcome;
  if (waitedFor(state, key, outcome) >= DENIED_FOR_MS) return outcome;
  const { event: _event, ...rest } = outcome;
  return rest;
}

/**
 * Shows the outcome of a request without an answer in its status. Where that fails, the failure is
 * the outcome, so that the request is reconciled again.
 */
async function shown<T extends KubeObject, S>(
  init: RequestControllerInit<T, S>,
  request: T,
  outcome: RequestOutcome,
): Promise<RequestOutcome> {
  const { showWaiting } = init;
  const hasNoAnswer = outcome.outcome === 'waiting' || outcome.outcome === 'undecided';
  if (showWaiting === undefined || !hasNoAnswer) return outcome;
  // The handler of a kind writes its objects.
  const latest = (outcome.changed ?? request) as T;
  const write = await attempted(init, async () => ({
    changed: await showWaiting(latest, outcome),
  }));
  if ('outcome' in write) return write;
  return write.changed === undefined ? outcome : { ...outcome, changed: write.changed };
}

/** Handles the request in as many slices of the event loop as the signer's expressions take. */
function handled<T extends KubeObject, S extends SignerObject>(
  init: RequestControllerInit<T, S>,
  request: T,
  signer: S,
): Promise<RequestOutcome> {
  return attempted(init, async () => {
    try {
      return await runInSlices(() => init.handle(request, signer), ownerOf(signer));
    } catch (error) {
      const scope = init.kind === 'CertificateSigningRequest' ? 'cluster' : 'everywhere';
      reportSlowSigner(init.component, scope, signer, error);
      reportHolderRefusal(init.component, signer, error);
      throw error;
    }
  });
}

/** Returns the result of the work, or the outcome of its error. */
async function attempted<R>(
  { component }: Pick<RequestControllerInit<never, never>, 'component'>,
  work: () => Promise<R>,
): Promise<R | RequestOutcome> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof EvaluationDeferred) return deferred(error, component.clock());
    if (!(error instanceof SignerError)) throw error;
    return toOutcome(error, component.name, component.client.clockOffset());
  }
}

/** Lets the request wait while others are served. Records an Event only if users can act on it. */
function deferred({ reason, message, waitMs }: EvaluationDeferred, now: number): RequestOutcome {
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
