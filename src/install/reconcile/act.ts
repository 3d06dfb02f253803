// SPDX-License-Identifier: Apache-2.0
import type { InstallationObject, InstallationStatus } from '#api/operator/installation.ts';
import { printable } from '#base/quote.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';
import type { ObjectChange } from '#kube/apply/reconcile-all.ts';
import { unexpectedText } from './unexpected-dependents.ts';
import type { Component } from '#component/contract.ts';
import type { InstalledKind } from './desired.ts';

/**
 * Writes the status if it differs.
 *
 * @returns true if it was written
 * @throws KubeError
 */
export async function writeStatus(
  { client }: Pick<Component, 'client'>,
  { resource, fieldManager }: Pick<InstalledKind, 'resource' | 'fieldManager'>,
  { apiVersion, kind, metadata, status: before }: InstallationObject,
  status: InstallationStatus,
): Promise<boolean> {
  if (textOf(before ?? {}) === textOf(status)) return false;
  await client.request({
    method: 'PATCH',
    path: resource.object(metadata, 'status'),
    query: { fieldManager, force: true },
    contentType: 'application/apply-patch+yaml',
    body: { apiVersion, kind, metadata: { name: metadata.name, uid: metadata.uid }, status },
  });
  return true;
}

/** Returns the same text for the same status, independent of the order of its conditions. */
function textOf({ conditions = [], ...fields }: InstallationStatus): string {
  const sorted = conditions.toSorted((a, b) => (a.type < b.type ? -1 : 1));
  const entries = sorted.map((each) => Object.entries(each).sort());
  return JSON.stringify([Object.entries(fields).sort(), entries]);
}

/** Text of an Event for each kind of change. */
const SAYINGS: Readonly<
  Record<ObjectChange['kind'], readonly [type: 'Normal' | 'Warning', reason: string, what: string]>
> = {
  made: ['Normal', 'Made', 'made'],
  adopted: ['Normal', 'Adopted', 'adopted'],
  restored: ['Normal', 'Restored', 'restored'],
  corrected: ['Warning', 'ForeignFieldsRemoved', 'removed what others added to'],
  removed: ['Normal', 'Removed', 'removed'],
};

/** Objects that one Event names. It counts the rest. */
const MAX_OBJECTS_NAMED = 5;

/**
 * Records the changes of a pass: one Event for each kind of change, and each former owner of
 * adopted objects.
 */
export function recordChanges(
  { events, log }: Pick<Component, 'events' | 'log'>,
  { apiVersion, kind, metadata }: InstallationObject,
  changes: readonly ObjectChange[],
): void {
  const groups = Map.groupBy(changes, (each) => `${each.kind} ${each.from ?? ''}`);
  for (const group of groups.values()) {
    const [first] = group;
    if (first === undefined) continue;
    const [type, reason, what] = SAYINGS[first.kind];
    const more =
      group.length > MAX_OBJECTS_NAMED ? ` and ${group.length - MAX_OBJECTS_NAMED} more` : '';
    const named = group.slice(0, MAX_OBJECTS_NAMED).map(textOfChange).join(', ');
    const from = first.from === undefined ? '' : ` from ${printable(first.from)}${adviceOn(first)}`;
    const note = `${what} ${named}${more}${from}`;
    log.info({ reason, objects: group.map(({ object }) => object) }, 'objects changed');
    const regarding = { apiVersion, kind, name: metadata.name, uid: metadata.uid };
    events.record({ type, reason, action: 'Reconcile', note, regarding });
  }
}

/** Records unmanaged objects that name this one as their owner. */
export function warnOfUnexpected(
  { events, log }: Pick<Component, 'events' | 'log'>,
  { apiVersion, kind, metadata }: InstallationObject,
  unexpected: readonly ManagedObject[],
): void {
  if (unexpected.length === 0) return;
  const note = unexpectedText(unexpected);
  log.warn({ objects: unexpected.length, note }, 'objects of others are left alone');
  const regarding = { apiVersion, kind, name: metadata.name, uid: metadata.uid };
  events.record({
    type: 'Warning',
    reason: 'UnexpectedDependents',
    action: 'Reconcile',
    note,
    regarding,
  });
}

function textOfChange({ object, paths }: ObjectChange): string {
  const [first, ...others] = paths;
  if (first === undefined) return object;
  return `${object} (${printable(first)}${others.length > 0 ? ` and ${others.length} more` : ''})`;
}

function adviceOn({ from = '' }: ObjectChange): string {
  const fate = '; what this object owns is deleted with it';
  return from.startsWith('Helm')
    ? `: forget it there without an uninstall, which would delete the objects${fate}`
    : fate;
}
