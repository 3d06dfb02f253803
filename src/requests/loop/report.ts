// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '#api/object/object.ts';
import type { EventDetails } from '#kube/events/body.ts';
import type { FlowAssignment } from '#kube/workqueue/fair-queue.ts';
import type { Component } from '#component/contract.ts';
import type { RequestOutcome } from './outcome.ts';
import { serverTime } from '#component/server-time.ts';
import * as messages from './messages.ts';
import { REQUEST_SERIES, type RequestKind } from './metrics.ts';

/** Dependencies of reporting a reconciliation. */
export interface RequestReportInit<T> {
  readonly component: Component;
  readonly kind: RequestKind;
  /** Returns the objects of an Event about a request. */
  readonly regarding: (request: T) => Pick<EventDetails, 'regarding' | 'related'>;
  /** The first flow is charged for the Events about the request. */
  readonly fairnessKeyOf: (request: T) => FlowAssignment;
}

/** The result of one reconciliation of a request. */
export interface ReconciliationReport<T> {
  readonly request: T;
  readonly signerName: string;
  readonly outcome: RequestOutcome;
  /** False if the previous reconciliation had the same outcome and reason. */
  readonly news: boolean;
}

/** Counts a reconciliation, logs its outcome, and records an Event if the outcome has one. */
export function report<T extends KubeObject>(
  init: RequestReportInit<T>,
  reconciliation: ReconciliationReport<T>,
): void {
  const { request, signerName, outcome, news } = reconciliation;
  if (outcome.outcome === 'ignored') return;
  const { component, kind } = init;
  const { requests, requestDuration } = component.metrics.of(REQUEST_SERIES);
  const labels = { kind, signer: signerName };
  requests.inc({ ...labels, outcome: outcome.outcome, reason: outcome.reason });
  if (outcome.written !== undefined) {
    const { creationTimestamp } = request.metadata;
    const seconds = (serverTime(component) - Date.parse(creationTimestamp)) / 1000;
    requestDuration.observe(labels, Math.max(0, seconds));
  }
  component.log[levelOf(outcome, news)](
    fieldsOf(kind, request, signerName, outcome),
    messages.requestOutcome(outcome.outcome),
  );
  if (outcome.event !== undefined) {
    const [flow] = init.fairnessKeyOf(request).distinguishers;
    component.events.record({ ...init.regarding(request), ...outcome.event, flow });
  }
}

function levelOf({ outcome }: RequestOutcome, news: boolean): 'debug' | 'info' | 'warn' {
  if (!news) return 'debug';
  return outcome === 'waiting' ? 'warn' : 'info';
}

function fieldsOf(
  kind: RequestKind,
  { metadata }: KubeObject,
  signerName: string,
  { outcome, reason, message }: RequestOutcome,
): Readonly<Record<string, unknown>> {
  return {
    kind,
    namespace: metadata.namespace,
    name: metadata.name,
    uid: metadata.uid,
    signer: signerName,
    outcome,
    reason,
    detail: message,
  };
}
