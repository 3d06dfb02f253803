// SPDX-License-Identifier: Apache-2.0
import type { ClusterTrustBundle } from '../../api/object/cluster-trust-bundle.ts';
import { ignoreNotFound } from '../../kube/client/kube-error.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import { withoutManagedFields } from '../../kube/resource/object.ts';
import type { Component } from '../../runtime/component/component.ts';
import { areClocksApart, isSameClock } from '../../runtime/component/server-time.ts';
import type { BundleChange } from './decide.ts';

export interface ApplyInput {
  readonly component: Component;
  readonly resource: Resource;
  readonly plan: BundleChange;
  /** Milliseconds, by the clock that the plan used. */
  readonly judgedAt: number;
  readonly clocksApart: boolean;
}

/**
 * Carries a plan out: at most one write, with resourceVersion and UID as preconditions. Signers count from
 * the time at which an anchor was first served, so the API server is first asked for its time.
 *
 * @returns the bundle as written; 'backoff' where our clock had jumped
 */
export async function act(input: ApplyInput): Promise<ClusterTrustBundle | 'backoff' | undefined> {
  const { component, resource, plan } = input;
  const { client, log } = component;
  if (plan.kind === 'ignore') return undefined;
  const { name } = plan.bundle.metadata;
  const path = resource.object({ name });
  await client.request({ method: 'GET', path }).catch(ignoreNotFound);
  if (!isSameClock(component, input.judgedAt)) return 'backoff';
  if (areClocksApart(component) !== input.clocksApart) return 'backoff';
  const fields = { kind: 'ClusterTrustBundle', name };
  if (plan.kind === 'delete') {
    const { uid, resourceVersion } = plan.bundle.metadata;
    const preconditions = { preconditions: { uid, resourceVersion } };
    await client.request({ method: 'DELETE', path, body: preconditions });
    log.info(
      fields,
      'bundle deleted: its last leaf has expired, or all its anchors are distrusted',
    );
    return undefined;
  }
  const body = { ...withoutManagedFields(plan.bundle), apiVersion: resource.apiVersion };
  if (plan.kind === 'create') {
    const { labels, annotations } = plan.bundle.metadata;
    const made = await client.request<ClusterTrustBundle>({
      method: 'POST',
      path: resource.collection(),
      body: { ...body, metadata: { name, labels, annotations } },
    });
    log.info(fields, 'bundle published');
    return made;
  }
  const written = await client.request<ClusterTrustBundle>({ method: 'PUT', path, body });
  if (plan.repaired) warnOfRepair(input, plan);
  else log.info(fields, 'bundle updated');
  return written;
}

/** How many fingerprints fit into an Event's note besides its text. */
const MAX_NAMED = 8;

/** Another client added trust: an alarm each time, which nothing in the bundle can silence. */
function warnOfRepair(
  { component, resource }: ApplyInput,
  { bundle, strangers }: Extract<BundleChange, { kind: 'update' }>,
): void {
  const { name } = bundle.metadata;
  const { signerName = '' } = bundle.spec;
  for (const anchor of strangers) component.metrics.strangerAnchor(signerName, anchor);
  const named = strangers.slice(0, MAX_NAMED).join(', ');
  const more = strangers.length > MAX_NAMED ? `, and ${strangers.length - MAX_NAMED} more` : '';
  const what = strangers.length === 0 ? 'its text could not be read' : `it held ${named}${more}`;
  const note = `bundle repaired: another client had changed it, ${what}; it holds the anchors of its ClusterSigner again. Find out who may update ClusterTrustBundles and attest for ${signerName}`;
  component.log.warn({ kind: 'ClusterTrustBundle', name, anchors: strangers }, note);
  component.events.record({
    regarding: { apiVersion: resource.apiVersion, kind: 'ClusterTrustBundle', name },
    type: 'Warning',
    reason: 'BundleRepaired',
    action: 'Attest',
    note,
  });
}
