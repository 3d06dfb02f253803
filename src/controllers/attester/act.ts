// SPDX-License-Identifier: Apache-2.0
import type { ClusterTrustBundle } from '../../api/object/cluster-trust-bundle.ts';
import { ignoreNotFound } from '../../kube/client/kube-error.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import { withoutManagedFields } from '../../kube/resource/object.ts';
import type { Component } from '../../runtime/component/component.ts';
import { areClocksApart, isSameClock } from '../../runtime/component/server-time.ts';
import { quote } from '../../quote.ts';
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
    if (plan.repaired) {
      const what = 'another client had deleted it; the audit log says who';
      warn(input, made, { what, of: 'delete' });
    } else log.info(fields, 'bundle published');
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
  input: ApplyInput,
  { bundle, strangers }: Extract<BundleChange, { kind: 'update' }>,
): void {
  const { signerName = '' } = bundle.spec;
  for (const anchor of strangers) input.component.metrics.strangerAnchor(signerName, anchor);
  const named = strangers.slice(0, MAX_NAMED).join(', ');
  const more = strangers.length > MAX_NAMED ? `, and ${strangers.length - MAX_NAMED} more` : '';
  const held = strangers.length === 0 ? 'its text could not be read' : `it held ${named}${more}`;
  const editor = lastEditor(bundle);
  const who = editor === undefined ? 'another client' : `field manager ${quote(editor)}`;
  warn(input, bundle, { what: `${who} had changed it, ${held}`, of: 'update' }, strangers);
}

function warn(
  { component, resource }: ApplyInput,
  { metadata: { name, uid }, spec: { signerName = '' } }: ClusterTrustBundle,
  { what, of }: { readonly what: string; readonly of: 'update' | 'delete' },
  anchors: readonly string[] = [],
): void {
  const note = `bundle repaired: ${what}; it holds the anchors of its ClusterSigner again. Find out who may ${of} ClusterTrustBundles and attest for ${signerName}`;
  component.log.warn({ kind: 'ClusterTrustBundle', name, anchors }, note);
  component.events.record({
    // With the uid, by which kubectl describe finds it.
    regarding: { apiVersion: resource.apiVersion, kind: 'ClusterTrustBundle', name, uid },
    type: 'Warning',
    reason: 'BundleRepaired',
    action: 'Attest',
    note,
  });
}

/** `metav1.ManagedFieldsEntry`, as far as it is read. */
interface FieldsEntry {
  readonly manager?: string;
  readonly time?: string;
  readonly fieldsV1?: { readonly 'f:spec'?: object };
}

/** Our own field manager: the API server takes it from the user agent. */
const OURS = 'countersign-attester';

/** The field manager that wrote the spec last: a name that its client chose. Undefined if it is not known. */
function lastEditor(bundle: ClusterTrustBundle): string | undefined {
  const { managedFields = [] } = bundle.metadata as {
    readonly managedFields?: readonly FieldsEntry[];
  };
  return managedFields
    .filter(({ manager, fieldsV1 }) => manager !== OURS && fieldsV1?.['f:spec'] !== undefined)
    .toSorted((a, b) => ((a.time ?? '') < (b.time ?? '') ? -1 : 1))
    .at(-1)?.manager;
}
