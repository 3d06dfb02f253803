// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '../../api/object/object.ts';
import { SignerError, messageOf } from '../../errors.ts';
import { createRateLimiter, type RateLimiter } from '../../kube/workqueue/rate-limiter.ts';
import { runLoop, type ReconcileResult } from '../../kube/workqueue/run-loop.ts';
import { withoutManagedFields } from '../../kube/resource/object.ts';
import type { Component } from '../../runtime/component/component.ts';
import { serverTime } from '../../runtime/component/server-time.ts';
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

/** What the issuer controller needs. */
export interface IssuerControllerInit<Config> {
  /** With a queue, a rate limiter and a concurrency limiter of its own. */
  readonly component: Component;
  readonly authority: AuthorityType<Config>;
  readonly issuers: IssuerCache<Config>;
  readonly call: GuardedCall<Config>;
}

/** Checks issuers and writes their Ready condition. The only writer of it in this process. */
export interface IssuerController {
  /** `sign` threw an IssuerError: the issuer becomes not ready and is checked again. */
  readonly reportError: (key: string, error: ClassifiedError) => void;
  /** `sign` returned a certificate: ends the backoff of earlier reports. */
  readonly reportSuccess: (key: string) => void;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Checks are few and may take long, so each issuer gets a worker. */
const CHECK_WORKERS = 8;
/**
 * A check that passes does not prove that signing works. After a reported error the next check waits,
 * longer each time, so that check and sign do not alternate at full speed.
 */
const FIRST_REPORT_MS = 1_000;
const MAX_REPORT_MS = 300_000;

/** Everything that the controller knows between two reconciles. */
interface ControllerState<Config> extends IssuerControllerInit<Config> {
  /** Errors that requests reported and no status shows yet. */
  readonly reported: Map<string, ClassifiedError>;
  /** Issuers of other replicas that this process reconciles because its requests found them at fault. */
  readonly adopted: Set<string>;
  /** Delay of the check after a report. */
  readonly reportBackoff: RateLimiter;
}

/** Makes the controller; `run` starts it. */
export function createIssuerController<Config>(
  init: IssuerControllerInit<Config>,
): IssuerController {
  const { component, issuers } = init;
  const { shard, queue, random } = component;
  const state: ControllerState<Config> = {
    ...init,
    reported: new Map(),
    adopted: new Set(),
    reportBackoff: createRateLimiter({ firstMs: FIRST_REPORT_MS, maxMs: MAX_REPORT_MS, random }),
  };
  issuers.onTrigger(queue.add);
  shard.onChange(() => {
    for (const key of issuers.keys()) {
      const raw = issuers.raw(key);
      if (raw !== undefined && !isReady(raw)) queue.add(key);
    }
  });
  return {
    reportError: (key, error) => {
      state.reported.set(key, error);
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
              'issuer check failed, retrying',
            );
          },
        },
        signal,
      ),
  };
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
  const parsed = issuers.read(key);
  if (parsed === undefined || parsed instanceof SignerError) {
    const message = parsed === undefined ? 'not parsed yet' : parsed.message;
    await writeReady(state, raw, { status: 'False', reason: 'InvalidSpec', message });
    return undefined;
  }
  const older = issuers.conflictOf(key);
  if (older !== undefined) {
    const message = `${older} is older and serves ${parsed.spec.signerName}`;
    await writeReady(state, raw, { status: 'False', reason: 'SignerNameTaken', message });
    return undefined;
  }
  const error = reported.get(key);
  if (error !== undefined) return invalidate(state, { key, raw, error });
  if (isTerminallyFailed(raw)) return undefined;
  return check(state, { key, raw, parsed });
}

/** A request found the issuer at fault: Ready becomes False, and the next check is scheduled. */
async function invalidate<Config>(
  state: ControllerState<Config>,
  reported: { readonly key: string; readonly raw: KubeObject; readonly error: ClassifiedError },
): Promise<ReconcileResult> {
  const { key, raw, error } = reported;
  if (isReady(raw)) await writeReady(state, raw, readinessOf(error));
  // After the write only: when it fails, the error is still to be reported.
  state.reported.delete(key);
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
    await writeReady(state, current, { status: 'True', reason: 'Checked', message: '' });
    if (!component.shard.owns(raw.metadata.uid)) state.adopted.delete(key);
    return undefined;
  }
  await writeReady(state, current, readinessOf(error));
  if (error.isPermanent) return undefined;
  return error.how === 'pending'
    ? { requeueAt: component.clock() + (error.afterMs ?? 0) }
    : 'backoff';
}

/** Writes Ready if it differs. @returns the issuer as the API server then has it */
async function writeReady<Config>(
  { component, issuers }: ControllerState<Config>,
  raw: KubeObject,
  readiness: Readiness,
): Promise<KubeObject> {
  const next = withReady(raw, readiness, serverTime(component));
  if (next === undefined) return raw;
  const written = await component.client.request<KubeObject>({
    method: 'PUT',
    path: issuers.resource.object(raw.metadata, 'status'),
    body: withoutManagedFields(next),
  });
  issuers.observe(written);
  announce(component, written, readiness);
  return written;
}

/** Logs a new Ready condition; records an Event when it is False. */
function announce(
  { log, events }: Component,
  { apiVersion, kind, metadata }: KubeObject,
  { status, reason, message }: Readiness,
): void {
  const { name, namespace, uid } = metadata;
  log.info(
    { issuer: name, namespace, status, reason, detail: message },
    'issuer readiness changed',
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

function forget<Config>(
  { reported, adopted, reportBackoff }: ControllerState<Config>,
  key: string,
): void {
  reported.delete(key);
  adopted.delete(key);
  reportBackoff.forget(key);
}

function readinessOf({ isPermanent, message }: ClassifiedError): Readiness {
  return { status: 'False', reason: isPermanent ? 'Failed' : 'Pending', message };
}
