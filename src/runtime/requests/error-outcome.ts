// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '../../errors.ts';
import { KubeError } from '../../kube/client/kube-error.ts';
import type { EventObject } from '../../kube/events/body.ts';
import type { Component } from '../component/component.ts';
import type { RequestOutcome } from './outcome.ts';
import { offsetText } from '../component/server-time.ts';

/** Temporary answers: worth a log line, not an Event. */
const QUIET: ReadonlySet<string> = new Set([
  'KUBE_CONFLICT',
  'KUBE_NOT_FOUND',
  'KUBE_THROTTLED',
  'KUBE_UNAVAILABLE',
  'KUBE_UNAUTHORIZED',
  'KUBE_ALREADY_EXISTS',
  'NOT_LEADING',
  'POD_CHANGED',
  'POD_ADDRESS_UNKNOWN',
  'SERVICES_NOT_LISTED',
]);

/**
 * Maps an error to an outcome: the request waits, and if a person must act, an Event says what to do. Nothing
 * here ever ends a request.
 *
 * @param clockOffset - milliseconds that our clock is ahead of the API server's
 */
export function toOutcome(
  error: SignerError,
  component: string,
  clockOffset: number,
): RequestOutcome {
  const reason = reasonOf(error);
  const message = adviceOf(error, component, clockOffset);
  const sharedBy = sharedByOf(error);
  if (QUIET.has(error.code)) return { outcome: 'waiting', reason, message, sharedBy };
  return {
    outcome: 'waiting',
    reason,
    message,
    sharedBy,
    event: { type: 'Warning', reason, action: 'Wait', note: message },
  };
}

/** An object whose reconciliation failed. */
export interface RetriedObject {
  /** The noun of the log message. */
  readonly noun: 'bundle' | 'signer' | 'Order' | 'Challenge' | 'ConfigMap' | 'caBundle';
  /** The fields that name it in the log. */
  readonly named: Readonly<Record<string, string>>;
  /** The object of the Event; undefined: no Event may be written about it. */
  readonly regarding: EventObject | undefined;
}

/** Logs why an object is retried. If a person must act, records an Event that says what to do. */
export function reportRetry(
  component: Component,
  error: unknown,
  { noun, named, regarding }: RetriedObject,
): void {
  const { name, client, log, events } = component;
  if (!(error instanceof SignerError)) {
    log.error({ ...named, error: String(error) }, `unexpected error, ${noun} is retried`);
    return;
  }
  const { message = '', reason, event } = toOutcome(error, name, client.clockOffset());
  log.warn({ ...named, reason, error: message }, `${noun} is retried`);
  if (event !== undefined && regarding !== undefined) events.record({ ...event, regarding });
}

/** Answers that describe the state of the server, independent of the request. */
const OF_THE_SERVER: ReadonlySet<string> = new Set([
  'KUBE_THROTTLED',
  'KUBE_UNAVAILABLE',
  'KUBE_UNAUTHORIZED',
]);

/** The cause that requests share while they wait; undefined: the cause may concern this request alone. */
function sharedByOf(error: SignerError): RequestOutcome['sharedBy'] {
  if (error.disposition === 'authority') return 'signer';
  if (error.code === 'CLOCKS_APART' || error.code === 'LEDGER_UNAVAILABLE') return 'server';
  if (error.code === 'LEDGER_REFUSED') return 'signer';
  if (!(error instanceof KubeError)) return undefined;
  if (isForbidden(error)) return 'signer';
  return OF_THE_SERVER.has(error.code) || isClock(error) ? 'server' : undefined;
}

/** The reason of Events and metrics: `ANCHOR_NOT_SERVED` → `AnchorNotServed`; a denied permission gets its own name. */
export function reasonOf(error: SignerError): string {
  if (error instanceof KubeError && isForbidden(error)) return 'RightMissing';
  if (error instanceof KubeError && isClock(error)) return 'ClockSkew';
  return error.code
    .toLowerCase()
    .replaceAll(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

function adviceOf(error: SignerError, component: string, clockOffset: number): string {
  if (!(error instanceof KubeError)) return error.message;
  if (isForbidden(error)) {
    return `a permission is missing in ClusterRole countersign-${component} (rbac/${component}.yaml, or countersign rbac): ${error.message}`;
  }
  if (isClock(error)) {
    return `the API server refuses notBefore, which may be five minutes from its clock: ${offsetText(clockOffset)}: ${error.message}`;
  }
  return error.message;
}

/**
 * 403, or on a PodCertificateRequest's status 422 with spec.signerName Forbidden: there the sign
 * check runs inside validation (podcertificaterequest/strategy.go).
 */
function isForbidden(error: KubeError): boolean {
  return (
    error.status === 403 ||
    (error.status === 422 &&
      error.causes.some(
        ({ reason, field }) => reason === 'FieldValueForbidden' && field === 'spec.signerName',
      ))
  );
}

function isClock(error: KubeError): boolean {
  return error.status === 422 && error.causes.some(({ field }) => field === 'status.notBefore');
}
