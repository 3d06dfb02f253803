// SPDX-License-Identifier: Apache-2.0
/**
 * Values of --signer and --secret: a name, and the kinds of requests for which the roles grant it.
 */
import { byServedKind, SERVED_KINDS, type ServedKind } from '#api/signer/cluster-signer.ts';
import { usageError } from '#base/errors.ts';

/** A name, and the kinds of requests that its signer serves. */
export interface NamedKinds {
  readonly name: string;
  readonly kinds: readonly ServedKind[];
}

/**
 * Reads `<name>` or `<name>=<kind>,...`. Without kinds, it returns all of them.
 *
 * @throws SignerError USAGE (`fail`) for an unknown kind
 */
export function readNamedKinds(flag: string, text: string): NamedKinds {
  const [name = '', list] = text.split('=', 2);
  if (list === undefined) return { name, kinds: SERVED_KINDS };
  const words = list.split(',').filter((each) => each !== '');
  const unknown = words.find((each) => !SERVED_KINDS.some((kind) => kind === each));
  if (unknown !== undefined) {
    throw usageError(
      `${flag} ${name}: "${unknown.slice(0, 80)}" is not a kind of requests; write one of ${SERVED_KINDS.join(', ')}`,
    );
  }
  return { name, kinds: SERVED_KINDS.filter((kind) => words.includes(kind)) };
}

/**
 * Returns, for each kind, the given names that serve it and those found in the cluster, each once.
 */
export function namesByKind(
  given: readonly NamedKinds[],
  found: (kind: ServedKind) => readonly string[],
): Readonly<Record<ServedKind, readonly string[]>> {
  return byServedKind((kind) => {
    const own = given.filter(({ kinds }) => kinds.includes(kind)).map(({ name }) => name);
    return [...new Set([...own, ...found(kind)])];
  });
}
