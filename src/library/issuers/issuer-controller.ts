// SPDX-License-Identifier: Apache-2.0
import { keyOf, type KubeObject } from '#api/object/object.ts';
import { SignerError, messageOf } from '#base/errors.ts';
import { createRateLimiter, type RateLimiter } from '#kube/workqueue/rate-limiter.ts';
import { runLoop, type ReconcileResult } from '#kube/workqueue/run-loop.ts';
import type { Component } from '#component/contract.ts';
import { serverTime } from '#component/server-time.ts';
import type { GuardedCall } from '../calls/call-guard.ts';
import { classifyError, type ClassifiedError } from '../calls/classify-error.ts';
import type { AuthorityType } from '../define.ts';
import {
  currentReady,
  isTerminallyFailed,
  isReady,
  withReady,
  type Readiness,
} from './issuer-status.ts';
import type { IssuerCache, KnownIssuer } from './issuer-cache.ts';
import * as messages from '../messages.ts';

/** Parts of the issuer controller. */
export interface IssuerControllerInit<Config> {
  /** Component with a queue, a rate limiter, and a concurrency limiter of its own. */
  readonly component: Component;
  readonly authority: AuthorityType<Config>;
  readonly issuers: IssuerCache<Config>;
  readonly call: GuardedCall<Config>;
}

/** Checks issuers and writes their Ready condition. The only writer of it in this process. */
export interface IssuerController {
  /**
   * Reports an IssuerError of `sign`. The issuer becomes not ready and is checked again, unless its
   * spec is another by then.
   *
   * @param issuer - the version that `sign` was called with
   */
  readonly reportError: (issuer: KubeObject, error: ClassifiedError) => void;
  /**
   * Reports which verifiers reject the anchors of certificates that `sign` returned, or undefined
   * for none. The Ready condition names them.
   */
  readonly reportAnchors: (key: string, rejected: string | undefined) => void;
  /** Reports a certificate of `sign`, which ends the backoff of earlier reports. */
  readonly reportSuccess: (key: string) => void;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Limit on concurrent checks. They are few, and each worker waits for one CA at a time. */
const CHECK_WORKERS = 8;
/**
 * Waits after reported errors. A check that passes does not prove that signing works. Each report
 * makes the wait before the next check longer, so that check and sign do not alternate at full
 * speed.
 */
const FIRST_REPORT_MS = 1_000;
const MAX_REPORT_MS = 300_000;

/** An error, and the issuer whose spec it is about. */
interface ReportedError {
  readonly issuer: KubeObject;
  readonly error: ClassifiedError;
}

/** State of the controller between two reconciles. */
interface ControllerState<Config> extends IssuerControllerInit<Config> {
  /** Errors that requests reported and no status shows yet. */
  readonly reported: Map<string, ReportedError>;
  /** Rejected anchors by issuer, and the verifiers. */
  readonly rejected: Map<string, string>;
  /**
   * Issuers of other replicas that this process reconciles, because its requests reported errors of
   * them.
   */
  readonly adopted: Set<string>;
  /** Delay of the check after a report. */
  readonly reportBackoff: RateLimiter;
}

/** Creates the controller. `run` starts it. */
export function createIssuerController<Config>(
  init: IssuerControllerInit<Config>,
): IssuerController {
  const { component, issuers } = init;
  const { shard, queue, random } = component;
  const state: ControllerState<Config> = {
    ...init,
    reported: new Map(),
    rejected: new Map(),
    adopted: new Set(),
    reportBackoff: createRateLimiter({ firstMs: FIRST_REPORT_MS, maxMs: MAX_REPORT_MS, random }),
  };
  queue.assignFlows((key) => ({ distinguishers: [tenantOf(key)] }));
  issuers.onTrigger(queue.add);
  shard.onChange(() => {
    for (const key of issuers.keys()) {
      const raw = issuers.raw(key);
      if (raw !== undefined && !isReady(raw)) queue.add(key);
    }
  });
  return {
    reportError: (issuer, error) => {
      const key = keyOf(issuer.metadata);
      // A call may end after the spec that it was for was corrected.
      if (!isOfSameSpec(issuer, issuers.raw(key))) return;
      const before = state.reported.get(key);
      const isKnown = before?.error.isPermanent === true && isOfSameSpec(before.issuer, issuer);
      if (!isKnown) state.reported.set(key, { issuer, error });
      state.adopted.add(key);
      queue.add(key);
    },
    reportAnchors: (key, rejected) => {
      if (state.rejected.get(key) === rejected) return;
      if (rejected === undefined) state.rejected.delete(key);
      else state.rejected.set(key, rejected);
      state.adopted.add(key);
      queue.add(key);
    },
    reportSuccess: (key) => {
      state.reportBackoff.forget(key);
    },
    run: (signal) =>
      runLoop(
        {
          ...component,
          workers: CHECK_WORKERS,
          handle: (key) => reconcile(state, key),
          onError: (key, error) => {
            component.log.warn(
              { issuer: key, error: messageOf(error) },
              messages.ISSUER_CHECK_FAILED,
            );
          },
        },
        signal,
      ),
  };
}

/**
 * Returns the flow of an issuer. Namespaces take turns, as do issuers of the cluster. An author of
 * issuers may choose CAs that never answer, and each of those blocks a worker until its time limit.
 */
function tenantOf(key: string): string {
  return key.includes('/') ? `namespace ${key.slice(0, key.indexOf('/'))}` : `issuer ${key}`;
}

async function reconcile<Config>(
  state: ControllerState<Config>,
  key: string,
): Promise<ReconcileResult> {
  const { component, issuers, adopted, reported } = state;
  const raw = issuers.raw(key);
  if (raw === undefined) {
    forget(state, key);
    return undefined;
  }
  if (!component.shard.owns(raw.metadata.uid) && !adopted.has(key)) return undefined;
  const parsed = servedOf(issuers, key);
  if ('reason' in parsed) {
    await writeReady(state, raw, parsed);
    return undefined;
  }
  const report = reported.get(key);
  if (report !== undefined && isOfSameSpec(report.issuer, raw)) {
    return invalidate(state, { key, raw, report });
  }
  reported.delete(key);
  if (isTerminallyFailed(raw)) return undefined;
  return check(state, { key, raw, parsed });
}

/** Returns the issuer, or why it is not served. */
function servedOf<Config>(
  issuers: IssuerCache<Config>,
  key: string,
): KnownIssuer<Config> | Readiness {
  const beyond = issuers.beyondQuota(key);
  if (beyond !== undefined) return { status: 'False', reason: 'QuotaExceeded', message: beyond };
  const parsed = issuers.read(key);
  if (parsed === undefined || parsed instanceof SignerError) {
    const message = parsed === undefined ? messages.NOT_PARSED : parsed.message;
    return { status: 'False', reason: 'InvalidSpec', message };
  }
  const older = issuers.conflictOf(key);
  if (older === undefined) return parsed;
  const message = messages.signerNameTaken(older, parsed.spec.signerName);
  return { status: 'False', reason: 'SignerNameTaken', message };
}

/** Sets Ready to False after a request reported an error, and schedules the next check. */
async function invalidate<Config>(
  state: ControllerState<Config>,
  at: { readonly key: string; readonly raw: KubeObject; readonly report: ReportedError },
): Promise<ReconcileResult> {
  const { key, raw, report } = at;
  const { error } = report;
  // The first ordinary error stays until the next check. A permanent one ends the checks.
  if (isReady(raw) || (error.isPermanent && !isTerminallyFailed(raw))) {
    await writeReady(state, raw, readinessOf(error));
  }
  // Delete it only after the write. If the write fails, the error must be reported again. Another
  // one may have come meanwhile.
  if (state.reported.get(key) === report) state.reported.delete(key);
  if (error.isPermanent) return undefined;
  return { requeueAt: state.component.clock() + state.reportBackoff.nextDelay(key) };
}

async function check<Config>(
  state: ControllerState<Config>,
  issuer: { readonly key: string; readonly raw: KubeObject; readonly parsed: KnownIssuer<Config> },
): Promise<ReconcileResult> {
  const { authority, call, component } = state;
  const { key, raw, parsed } = issuer;
  const current =
    currentReady(raw) === undefined
      ? await writeReady(state, raw, { status: 'Unknown', reason: 'Initializing', message: '' })
      : raw;
  const error = await call(parsed.view, (ctx) => authority.check(parsed.view, ctx)).then(
    () => undefined,
    (thrown: unknown) => classifyError(thrown),
  );
  if (error === undefined) {
    await writeReady(state, current, checked(state.rejected.get(key)));
    if (!component.shard.owns(raw.metadata.uid)) state.adopted.delete(key);
    return undefined;
  }
  await writeReady(state, current, readinessOf(error));
  if (error.isPermanent) return undefined;
  return error.how === 'pending'
    ? { requeueAt: component.clock() + (error.afterMs ?? 0) }
    : 'backoff';
}

function checked(rejected: string | undefined): Readiness {
  if (rejected === undefined) return { status: 'True', reason: 'Checked', message: '' };
  const message = messages.anchorRejected(rejected);
  return { status: 'True', reason: 'AnchorRejected', message };
}

/** Writes Ready if it differs. @returns the issuer in its new version */
async function writeReady<Config>(
  { component, issuers }: ControllerState<Config>,
  raw: KubeObject,
  readiness: Readiness,
): Promise<KubeObject> {
  const next = withReady(raw, readiness, serverTime(component));
  if (next === undefined) return raw;
  // The cache of a namespaced kind has no other metadata, and the API server takes no other here.
  const { name, namespace, uid, resourceVersion } = raw.metadata;
  const written = await component.client.request<KubeObject>({
    method: 'PUT',
    path: issuers.resource.object(raw.metadata, 'status'),
    body: { ...next, metadata: { name, namespace, uid, resourceVersion } },
  });
  issuers.observe(written);
  announce(component, written, readiness);
  return written;
}

/** Logs a new Ready condition. Records an Event if it is False. */
function announce(
  { log, events }: Component,
  { apiVersion, kind, metadata }: KubeObject,
  { status, reason, message }: Readiness,
): void {
  const { name, namespace, uid } = metadata;
  log.info(
    { issuer: name, namespace, status, reason, detail: message },
    messages.ISSUER_READINESS_CHANGED,
  );
  if (status !== 'False') return;
  events.record({
    regarding: { apiVersion, kind, name, uid, ...(namespace === undefined ? {} : { namespace }) },
    type: 'Warning',
    reason,
    action: 'Check',
    note: message,
  });
}

/** Reports whether both are one object with one spec. */
function isOfSameSpec({ metadata: one }: KubeObject, other: KubeObject | undefined): boolean {
  return one.uid === other?.metadata.uid && one.generation === other.metadata.generation;
}

function forget<Config>(
  { reported, rejected, adopted, reportBackoff }: ControllerState<Config>,
  key: string,
): void {
  reported.delete(key);
  rejected.delete(key);
  adopted.delete(key);
  reportBackoff.forget(key);
}

function readinessOf({ isPermanent, message }: ClassifiedError): Readiness {
  return { status: 'False', reason: isPermanent ? 'Failed' : 'Pending', message };
}
