// SPDX-License-Identifier: Apache-2.0
import {
  conditionMessage,
  findCondition,
  setCondition,
  type Condition,
} from '#api/request/conditions.ts';
import type { KubeObject } from '#api/object/object.ts';
import type { IssuerStatus } from '#api/signer/issuer.ts';
import { formatTime } from '#api/object/time.ts';

type IssuerWithStatus = KubeObject & { readonly status?: IssuerStatus };

/** Reasons of an issuer's Ready condition. docs/reference/library.md has a row for each. */
export type IssuerReason =
  | 'Initializing'
  | 'Checked'
  | 'AnchorRejected'
  | 'Pending'
  | 'Failed'
  | 'InvalidSpec'
  | 'SignerNameTaken'
  | 'QuotaExceeded';

/** Desired contents of an issuer's Ready condition. */
export interface Readiness {
  readonly status: Condition['status'];
  readonly reason: IssuerReason;
  readonly message: string;
}

/** Returns the Ready condition if it was observed for the current generation. */
export function currentReady({ metadata, status }: IssuerWithStatus): Condition | undefined {
  const ready = findCondition(status?.conditions, 'Ready');
  return ready?.observedGeneration === metadata.generation ? ready : undefined;
}

/** Reports whether the issuer is ready, for the current generation. */
export function isReady(issuer: IssuerWithStatus): boolean {
  return currentReady(issuer)?.status === 'True';
}

/**
 * Reports whether `check` waits until the spec changes. A new release of the author may accept an
 * invalid spec, so `InvalidSpec` is not final.
 */
export function isTerminallyFailed(issuer: IssuerWithStatus): boolean {
  const ready = currentReady(issuer);
  return ready?.status === 'False' && ready.reason === ('Failed' satisfies IssuerReason);
}

/**
 * Returns the object with this Ready condition, for PUT /status.
 *
 * @param now - milliseconds since the epoch, by the API server's clock
 * @returns undefined if the condition is already equal
 */
export function withReady<T extends IssuerWithStatus>(
  issuer: T,
  verdict: Readiness,
  now: number,
): T | undefined {
  const message = conditionMessage(verdict.message);
  const before = currentReady(issuer);
  const same =
    before?.status === verdict.status &&
    before.reason === verdict.reason &&
    before.message === message;
  if (same) return undefined;
  const { generation } = issuer.metadata;
  const next = {
    ...verdict,
    type: 'Ready',
    message,
    lastTransitionTime: formatTime(now),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
  const conditions = setCondition(issuer.status?.conditions, next);
  return { ...issuer, status: { ...issuer.status, conditions } };
}

/**
 * Returns the parts of an issuer whose change triggers a reconcile: annotations, generation, and
 * whether it has a Ready condition, not its content. Source: the README of cert-manager's
 * issuer-lib.
 */
export function issuerTrigger({ metadata, status }: IssuerWithStatus): string {
  const annotations = Object.entries(metadata.annotations ?? {}).sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const hasReady = findCondition(status?.conditions, 'Ready') !== undefined;
  return JSON.stringify([annotations, metadata.generation, hasReady]);
}

/**
 * Returns the parts of an issuer whose change requeues its requests: its Ready condition, and its
 * generation.
 */
export function readyTrigger(issuer: IssuerWithStatus): string {
  const ready = findCondition(issuer.status?.conditions, 'Ready');
  return JSON.stringify([ready?.status, ready?.observedGeneration, isReady(issuer)]);
}
