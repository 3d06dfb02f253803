// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '../../api/object/object.ts';
import { SignerError, messageOf } from '../../errors.ts';
import { createRateLimiter } from '../../kube/workqueue/rate-limiter.ts';
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

export interface IssuerControllerInit<Config> {
  /** With a queue, a rate limiter and a concurrency limiter of its own. */
  readonly component: Component;
  readonly authority: AuthorityType<Config>;
  readonly issuers: IssuerCache<Config>;
  readonly call: GuardedCall<Config>;
}

/** Checks issuers and writes their status: their one writer in this process. */
export interface IssuerController {
  /** A request found the issuer at fault: it becomes not ready, and is checked. */
  readonly reportError: (key: string, error: ClassifiedError) => void;
  /** A request was signed: whatever was reported before is over. */
  readonly reportSuccess: (key: string) => void;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Checks are few and may take long: each has its issuer to itself. */
const WORKERS = 8;
/**
 * A check that passes does not prove that signing works: after a reported error the next check waits,
 * longer each time, so that both do not drive each other round and round.
 */
const FIRST_REPORT_MS = 1_000;
const MAX_REPORT_MS = 300_000;

export function createIssuerController<Config>(
  init: IssuerControllerInit<Config>,
): IssuerController {
  const { component, authority, issuers, call } = init;
  const { clock, shard, queue, random } = component;
  /** Errors that requests reported and no status tells yet. */
  const reported = new Map<string, ClassifiedError>();
  /** Issuers that this process took upon itself by a report, whoever's they are. */
  const adopted = new Set<string>();
  const reports = createRateLimiter({ firstMs: FIRST_REPORT_MS, maxMs: MAX_REPORT_MS, random });

  async function handle(key: string): Promise<ReconcileResult> {
    const raw = issuers.raw(key);
    if (raw === undefined) {
      forget(key);
      return undefined;
    }
    if (!shard.owns(raw.metadata.uid) && !adopted.has(key)) return undefined;
    const read = issuers.read(key);
    const elder = issuers.conflictOf(key);
    if (read === undefined || read instanceof SignerError) {
      const message = read === undefined ? 'it has not been read yet' : read.message;
      return tell(raw, { status: 'False', reason: 'InvalidSpec', message });
    }
    if (elder !== undefined) {
      const message = `${elder} is older and serves ${read.spec.signerName}`;
      return tell(raw, { status: 'False', reason: 'SignerNameTaken', message });
    }
    const error = reported.get(key);
    if (error !== undefined) return invalidate(key, raw, error);
    if (isTerminallyFailed(raw)) return undefined;
    return check(key, raw, read);
  }

  /** Ready is no longer true. */
  async function invalidate(
    key: string,
    raw: KubeObject,
    error: ClassifiedError,
  ): Promise<ReconcileResult> {
    if (isReady(raw)) await write(raw, readinessOf(error));
    // Only now: while it could not be written it is still to be told.
    reported.delete(key);
    return error.isPermanent ? undefined : { requeueAt: clock() + reports.nextDelay(key) };
  }

  async function check(
    key: string,
    raw: KubeObject,
    { view }: KnownIssuer<Config>,
  ): Promise<ReconcileResult> {
    const current =
      currentReady(raw) === undefined
        ? await write(raw, { status: 'Unknown', reason: 'Initializing', message: '' })
        : raw;
    const thrown = await call(view, (ctx) => authority.check(view, ctx)).then(
      () => undefined,
      (error: unknown) => classifyError(error),
    );
    if (thrown === undefined) {
      await write(current, { status: 'True', reason: 'Checked', message: '' });
      if (!shard.owns(raw.metadata.uid)) adopted.delete(key);
      return undefined;
    }
    await write(current, readinessOf(thrown));
    if (thrown.isPermanent) return undefined;
    return thrown.how === 'pending' ? { requeueAt: clock() + (thrown.afterMs ?? 0) } : 'backoff';
  }

  async function tell(raw: KubeObject, verdict: Readiness): Promise<ReconcileResult> {
    await write(raw, verdict);
    return undefined;
  }

  /** @returns the issuer as it then is */
  async function write(raw: KubeObject, verdict: Readiness): Promise<KubeObject> {
    const next = withReady(raw, verdict, serverTime(component));
    if (next === undefined) return raw;
    const written = await component.client.request<KubeObject>({
      method: 'PUT',
      path: issuers.resource.object(raw.metadata, 'status'),
      body: withoutManagedFields(next),
    });
    issuers.observe(written);
    announce(written, verdict);
    return written;
  }

  function announce({ apiVersion, kind, metadata }: KubeObject, verdict: Readiness): void {
    const { name, namespace, uid } = metadata;
    const { status, reason, message } = verdict;
    component.log.info({ issuer: name, namespace, status, reason, detail: message }, 'issuer');
    if (status !== 'False') return;
    component.events.record({
      regarding: { apiVersion, kind, name, uid, ...(namespace === undefined ? {} : { namespace }) },
      type: 'Warning',
      reason,
      action: 'Check',
      note: message,
    });
  }

  function forget(key: string): void {
    reported.delete(key);
    adopted.delete(key);
    reports.forget(key);
  }

  issuers.onTrigger(queue.add);
  shard.onChange(() => {
    for (const key of issuers.keys()) {
      const raw = issuers.raw(key);
      if (raw !== undefined && !isReady(raw)) queue.add(key);
    }
  });

  return {
    reportError: (key, error) => {
      reported.set(key, error);
      adopted.add(key);
      queue.add(key);
    },
    reportSuccess: (key) => {
      reports.forget(key);
    },
    run: (signal) =>
      runLoop(
        {
          ...component,
          workers: WORKERS,
          handle,
          onError: (key, error) => {
            component.log.warn({ issuer: key, error: messageOf(error) }, 'an issuer waits');
          },
        },
        signal,
      ),
  };
}

function readinessOf({ isPermanent, message }: ClassifiedError): Readiness {
  return { status: 'False', reason: isPermanent ? 'Failed' : 'Pending', message };
}
