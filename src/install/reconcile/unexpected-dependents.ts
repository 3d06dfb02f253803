// SPDX-License-Identifier: Apache-2.0
import { printable } from '#base/quote.ts';
import { titleOf, type ManagedObject } from '#kube/apply/objects/managed-object.ts';

/** Objects that a message names. It counts the rest. */
const MAX_UNEXPECTED_NAMED = 5;

/**
 * Returns the message about unmanaged objects that name an installation's object as their owner.
 * Any user who may write such an object can set that owner, so it is not an error of the
 * installation.
 */
export function unexpectedText(unexpected: readonly ManagedObject[]): string {
  const named = unexpected
    .slice(0, MAX_UNEXPECTED_NAMED)
    .map((each) => printable(titleOf(each)))
    .join(', ');
  const more =
    unexpected.length > MAX_UNEXPECTED_NAMED
      ? ` and ${unexpected.length - MAX_UNEXPECTED_NAMED} more`
      : '';
  return `left alone, since it is not of the installation although it names this object as its owner: ${named}${more}; delete it, or take the owner reference away: it goes with this object`;
}
