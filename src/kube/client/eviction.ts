// SPDX-License-Identifier: Apache-2.0
import type { Client } from './client.ts';
import { KubeError, type Status } from './kube-error.ts';
import { resource } from '../resource/resource.ts';

export const PODS = resource({ group: '', version: 'v1', plural: 'pods' });

/** One pod, and no other that took its name. */
export interface EvictionTarget {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/**
 * - `evicted`: it is being deleted;
 * - `gone`: it was already, or another has its name by now;
 * - `blocked`: a PodDisruptionBudget, or an API server in trouble, says not now;
 * - `refused`: asking again is of no use.
 */
export type Eviction =
  | { readonly kind: 'evicted' | 'gone' }
  | {
      readonly kind: 'blocked';
      readonly message: string;
      /** Milliseconds that the server asks us to stay away. */
      readonly retryAfter: number | undefined;
    }
  | { readonly kind: 'refused'; readonly message: string };

/**
 * Asks for one eviction (`policy/v1` Eviction), which respects PodDisruptionBudgets. It retries
 * nothing. Evicting twice does no harm: the UID is a precondition.
 *
 * @param dryRun - everything is checked, nothing is deleted
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
    // Several budgets over one pod: 201, and in it a Status that says Failure.
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
  // A conflict is the UID's, or that of a write beside ours: where nobody knows, it is asked again.
  const isGone = error.status === 409 && !(await isThere(client, target).catch(() => true));
  if (isGone) return { kind: 'gone' };
  if (error.disposition !== 'retry') return { kind: 'refused', message };
  return { kind: 'blocked', message: budgetOf(error) ?? message, retryAfter };
}

/** The cause says which budget; the message is the same for all. */
function budgetOf({ causes }: KubeError): string | undefined {
  return causes.find(({ reason }) => reason === 'DisruptionBudget')?.message;
}

async function isThere(client: Client, { namespace, name, uid }: EvictionTarget): Promise<boolean> {
  try {
    const path = PODS.object({ namespace, name });
    const pod = await client.request<{ metadata: { uid: string } }>({ method: 'GET', path });
    return pod.metadata.uid === uid;
  } catch (error) {
    if (error instanceof KubeError && error.status === 404) return false;
    throw error;
  }
}
