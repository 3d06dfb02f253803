// SPDX-License-Identifier: Apache-2.0
import type { Component } from './contract.ts';

/** Returns the flow of objects in a namespace: a namespace is a tenant. */
export function namespaceFlow({ metadata }: NamespacedObject): string {
  return `namespace ${metadata.namespace ?? ''}`;
}

interface NamespacedObject {
  readonly metadata: { readonly namespace?: string | undefined };
}

/**
 * Runs synchronous work, and charges a flow for the milliseconds that it blocked the process. Only
 * a flow whose expressions, patterns or requests are slow waits longer for its next turn.
 *
 * @throws what `work` throws
 */
export function charged<R>(
  { clock, queue }: Pick<Component, 'clock' | 'queue'>,
  flow: string,
  work: () => R,
): R {
  const begun = clock();
  try {
    return work();
  } finally {
    queue.charge(flow, clock() - begun);
  }
}
