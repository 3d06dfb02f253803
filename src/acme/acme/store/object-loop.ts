// SPDX-License-Identifier: Apache-2.0
import { KubeError } from '#kube/client/kube-error.ts';
import { runLoop, type ReconcileResult } from '#kube/workqueue/run-loop.ts';
import type { Component } from '#component/contract.ts';
import { reportRetry } from '#requests/loop/error-outcome.ts';

/** A loop over our own objects. */
export interface ObjectLoopInit {
  readonly noun: 'Order' | 'Challenge';
  /** Limit on concurrent work. */
  readonly workers: number;
  /** @param key - `namespace/name` */
  readonly handle: (key: string) => Promise<ReconcileResult>;
}

/** @returns the component with a queue of its own, in which each namespace is a flow */
export function withOwnQueue(component: Component, name: string): Component {
  const own = { ...component, ...component.anotherLoop(name) };
  own.queue.assignFlows((key) => ({ distinguishers: [`namespace ${key.split('/')[0] ?? ''}`] }));
  return own;
}

/** Runs the loop until `signal` aborts. Retries a changed or deleted object without a report. */
export function runObjectLoop(
  component: Component,
  { noun, workers, handle }: ObjectLoopInit,
  signal: AbortSignal,
): Promise<void> {
  const onError = (key: string, error: unknown): void => {
    if (!isOutdated(error)) {
      reportRetry(component, error, { noun, named: { key }, regarding: undefined });
    }
  };
  return runLoop({ ...component, workers, handle, onError }, signal);
}

function isOutdated(error: unknown): boolean {
  return error instanceof KubeError && ['KUBE_CONFLICT', 'KUBE_NOT_FOUND'].includes(error.code);
}
