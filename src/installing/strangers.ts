// SPDX-License-Identifier: Apache-2.0
import { printable } from '../quote.ts';
import { titleOf, type ManagedObject } from '../reconciling/objects/managed-object.ts';

/** Objects that a message names; it counts the rest. */
const MAX_STRANGERS_NAMED = 5;

/**
 * Says of objects that name an installation's object as their owner, and are not of the installation: anybody who may
 * write such an object can write that, and it is no failure of ours.
 */
export function strangersText(strangers: readonly ManagedObject[]): string {
  const named = strangers
    .slice(0, MAX_STRANGERS_NAMED)
    .map((each) => printable(titleOf(each)))
    .join(', ');
  const more =
    strangers.length > MAX_STRANGERS_NAMED
      ? ` and ${strangers.length - MAX_STRANGERS_NAMED} more`
      : '';
  return `left alone, since it is not of the installation although it names this object as its owner: ${named}${more}; delete it, or take the owner reference away: it goes with this object`;
}
