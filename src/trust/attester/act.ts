// SPDX-License-Identifier: Apache-2.0
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { ignoreNotFound } from '#kube/client/kube-error.ts';
import type { Resource } from '#kube/resource/resource.ts';
import { withoutManagedFields } from '#kube/resource/object.ts';
import type { Component } from '#component/contract.ts';
import { areClocksApart, isSameClock } from '#component/server-time.ts';
import type { BundleChange } from './decide.ts';
import * as messages from './messages.ts';
import { BUNDLE_SERIES } from './metrics.ts';

export interface ApplyInput {
  readonly component: Component;
  readonly resource: Resource;
  readonly plan: BundleChange;
  /** Milliseconds, by the clock that the plan used. */
  readonly judgedAt: number;
  readonly clocksApart: boolean;
}

/**
 * Applies a plan with at most one write, which has resourceVersion and UID as preconditions.
 * Signers count from the time at which an anchor was first served, so this reads the API server's
 * time first.
 *
 * @returns the bundle as written, or 'backoff' if our clock had jumped
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
    log.info(fields, messages.BUNDLE_DELETED);
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
      const what = messages.DELETED_BY_ANOTHER_CLIENT;
      warn(input, made, { what, of: 'delete' });
    } else log.info(fields, messages.BUNDLE_PUBLISHED);
    return made;
  }
  const written = await client.request<ClusterTrustBundle>({ method: 'PUT', path, body });
  if (plan.repaired) warnOfRepair(input, plan);
  else log.info(fields, messages.BUNDLE_UPDATED);
  return written;
}

/** Maximum number of fingerprints that fit into an Event's note beside its text. */
const MAX_NAMED = 8;

/** Raises an alarm each time another client adds trust. The bundle's contents cannot silence it. */
function warnOfRepair(
  input: ApplyInput,
  { bundle, strangers }: Extract<BundleChange, { kind: 'update' }>,
): void {
  const { signerName = '' } = bundle.spec;
  const counts = input.component.metrics.of(BUNDLE_SERIES);
  for (const anchor of strangers) counts.strangers.inc({ signer: signerName, anchor });
  const named = strangers.slice(0, MAX_NAMED).join(', ');
  const more =
    strangers.length > MAX_NAMED ? messages.moreAnchors(strangers.length - MAX_NAMED) : '';
  const held =
    strangers.length === 0 ? messages.UNREADABLE_TEXT : messages.addedAnchors(named, more);
  const editor = lastEditor(bundle);
  const who = editor === undefined ? messages.ANOTHER_CLIENT : messages.fieldManager(editor);
  warn(input, bundle, { what: messages.changedBy(who, held), of: 'update' }, strangers);
}

function warn(
  { component, resource }: ApplyInput,
  { metadata: { name, uid }, spec: { signerName = '' } }: ClusterTrustBundle,
  { what, of }: { readonly what: string; readonly of: 'update' | 'delete' },
  anchors: readonly string[] = [],
): void {
  const note = messages.bundleRepaired(what, of, signerName);
  component.log.warn({ kind: 'ClusterTrustBundle', name, anchors }, note);
  component.events.record({
    // The UID lets kubectl describe find the Event.
    regarding: { apiVersion: resource.apiVersion, kind: 'ClusterTrustBundle', name, uid },
    type: 'Warning',
    reason: 'BundleRepaired',
    action: 'Attest',
    note,
  });
}

/** Our own field manager: the API server takes it from the user agent. */
const FIELD_MANAGER = 'countersign-attester';

/**
 * Returns the field manager that wrote the spec last, a name that its client chose. Returns
 * undefined if it is not known.
 */
function lastEditor(bundle: ClusterTrustBundle): string | undefined {
  const { managedFields = [] } = bundle.metadata;
  return managedFields
    .filter(
      ({ manager, fieldsV1 }) => manager !== FIELD_MANAGER && fieldsV1?.['f:spec'] !== undefined,
    )
    .toSorted((a, b) => ((a.time ?? '') < (b.time ?? '') ? -1 : 1))
    .at(-1)?.manager;
}
