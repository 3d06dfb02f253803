// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '#base/errors.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import type { EventObject } from '#kube/events/body.ts';
import type { Component } from '#component/contract.ts';
import type { RequestOutcome } from './outcome.ts';
import { RIGHT_MISSING } from '#component/rbac/rights-faults.ts';
import { offsetText } from '#component/server-time.ts';
import * as messages from './messages.ts';

/** Codes of temporary errors, which get a log line but no Event. */
const QUIET: ReadonlySet<string> = new Set([
  'KUBE_CONFLICT',
  'KUBE_NOT_FOUND',
  'KUBE_THROTTLED',
  'KUBE_UNAVAILABLE',
  'KUBE_UNAUTHORIZED',
  'KUBE_ALREADY_EXISTS',
  'NOT_LEADING',
  'POD_CHANGED',
  'SIGNER_CHANGED',
  'POD_ADDRESS_UNKNOWN',
  'SERVICES_NOT_LISTED',
]);

/**
 * Maps an error to an outcome: the request waits. If a user must act, an Event names the remedy. No
 * error ends a request here.
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
  /** The object of the Event, or undefined if no Event may be written about it. */
  readonly regarding: EventObject | undefined;
}

/** Logs why an object is retried. If a user must act, records an Event with the remedy. */
export function reportRetry(
  component: Component,
  error: unknown,
  { noun, named, regarding }: RetriedObject,
): void {
  const { name, client, log, events } = component;
  if (!(error instanceof SignerError)) {
    log.error({ ...named, error: String(error) }, messages.unexpectedErrorOf(noun));
    return;
  }
  const { message = '', reason, event } = toOutcome(error, name, client.clockOffset());
  log.warn({ ...named, reason, error: message }, messages.retried(noun));
  if (event !== undefined && regarding !== undefined) events.record({ ...event, regarding });
}

/** Codes that describe the state of the server, independent of the request. */
const OF_THE_SERVER: ReadonlySet<string> = new Set([
  'KUBE_THROTTLED',
  'KUBE_UNAVAILABLE',
  'KUBE_UNAUTHORIZED',
]);

/**
 * Returns the cause that requests share while they wait, or undefined if it may concern this
 * request alone.
 */
function sharedByOf(error: SignerError): RequestOutcome['sharedBy'] {
  if (error.disposition === 'authority') return 'signer';
  if (error.code === 'CLOCKS_APART' || error.code === 'LEDGER_UNAVAILABLE') return 'server';
  if (error.code === 'LEDGER_REFUSED') return 'signer';
  if (!(error instanceof KubeError)) return undefined;
  if (isForbidden(error)) return 'signer';
  return OF_THE_SERVER.has(error.code) || isClock(error) ? 'server' : undefined;
}

/**
 * Returns the reason of Events and metrics: `ANCHOR_NOT_SERVED` → `AnchorNotServed`. A denied
 * permission has its own name.
 */
export function reasonOf(error: SignerError): string {
  if (error instanceof KubeError && isForbidden(error)) return RIGHT_MISSING;
  if (error instanceof KubeError && isClock(error)) return 'ClockSkew';
  return error.code
    .toLowerCase()
    .replaceAll(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

function adviceOf(error: SignerError, component: string, clockOffset: number): string {
  if (!(error instanceof KubeError)) return error.message;
  if (isForbidden(error)) {
    return messages.permissionMissing(component, error.message);
  }
  if (isClock(error)) {
    return messages.clockSkew(offsetText(clockOffset), error.message);
  }
  return error.message;
}

/**
 * Reports a denied permission: 403, or on a PodCertificateRequest's status 422 with spec.signerName
 * Forbidden. There the sign check runs inside validation (podcertificaterequest/strategy.go).
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
