// SPDX-License-Identifier: Apache-2.0
import { lineOf, type InstalledObject } from './run.ts';

/** Maximum number of deleted objects of one kind that are named. */
const MAX_NAMED_OBJECTS = 15;

/**
 * Returns what an uninstallation did, for people: the deleted objects, with a count for a kind that
 * has many, and then the kept objects.
 */
export function removalText(done: readonly InstalledObject[]): string {
  const deleted = done.filter(({ outcome }) => outcome === 'deleted');
  const kept = done.filter(({ outcome }) => outcome !== 'deleted');
  const byKind = Map.groupBy(deleted, ({ object }) => object.split('/')[0] ?? '');
  const lines = [...byKind].flatMap(([kind, all]) =>
    all.length <= MAX_NAMED_OBJECTS ? all.map(lineOf) : [countLine(kind, all)],
  );
  return [...lines, ...kept.map(lineOf)].join('');
}

function countLine(kind: string, all: readonly InstalledObject[]): string {
  const dryRun = all.some((each) => each.dryRun) ? ' (server dry run)' : '';
  return `${all.length} objects of kind ${kind} deleted${dryRun}; uninstall -o name prints every name instead\n`;
}
