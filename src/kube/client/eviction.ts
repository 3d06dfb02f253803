// SPDX-License-Identifier: Apache-2.0
import type { Client } from './client.ts';
import { KubeError, type Status } from './kube-error.ts';
import { PODS } from '../resource/core-v1.ts';

/** One pod by its UID, never another with the same name. */
export interface EvictionTarget {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/**
 * The outcome of an eviction:
 * - `evicted`: the pod is being deleted.
 * - `gone`: it no longer exists, or another pod has its name.
 * - `blocked`: a PodDisruptionBudget denies it for now, or the API server is unavailable.
 * - `refused`: a retry is useless.
 */
export type Eviction =
  | { readonly kind: 'evicted' | 'gone' }
  | {
      readonly kind: 'blocked';
      readonly message: string;
      /** Retry-After in milliseconds. */
      readonly retryAfter: number | undefined;
    }
  | { readonly kind: 'refused'; readonly message: string };

/**
 * Creates one Eviction (`policy/v1`), which respects PodDisruptionBudgets. Does not retry. A second
 * eviction does no harm, because the UID is a precondition.
 *
 * @param dryRun - the API server checks everything and deletes nothing
 */
export async function evict(
  client: Client,
  target: EvictionTarget,
  dryRun: boolean,
): Promise<Eviction> {
  const { namespace, name, uid } = target;
  try {
    const answer = await client.request<Status & { readonly status?: string }>({
      method: 'POST',
      path: PODS.object({ namespace, name }, 'eviction'),
      query: { dryRun: dryRun ? 'All' : undefined },
      body: {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { namespace, name },
        deleteOptions: { preconditions: { uid } },
      },
    });
    // Several budgets for one pod: the response is 201 with a Status of Failure.
    if (answer.status === 'Failure') return { kind: 'refused', message: answer.message ?? '' };
    return { kind: 'evicted' };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    return outcomeOf(client, target, error);
  }
}

async function outcomeOf(
  client: Client,
  target: EvictionTarget,
  error: KubeError,
): Promise<Eviction> {
  const { message, retryAfter } = error;
  if (error.status === 404) return { kind: 'gone' };
  // A conflict is about the UID or a concurrent write. If it is unclear which, the caller retries.
  const isGone = error.status === 409 && !(await exists(client, target).catch(() => true));
  if (isGone) return { kind: 'gone' };
  if (error.disposition !== 'retry') return { kind: 'refused', message };
  return { kind: 'blocked', message: budgetOf(error) ?? message, retryAfter };
}

/** Returns the cause, which names the budget. The message is the same for all budgets. */
function budgetOf({ causes }: KubeError): string | undefined {
  return causes.find(({ reason }) => reason === 'DisruptionBudget')?.message;
}

async function exists(client: Client, { namespace, name, uid }: EvictionTarget): Promise<boolean> {
  try {
    const path = PODS.object({ namespace, name });
    const pod = await client.request<{ metadata: { uid: string } }>({ method: 'GET', path });
    return pod.metadata.uid === uid;
  } catch (error) {
    if (error instanceof KubeError && error.status === 404) return false;
    throw error;
  }
}
