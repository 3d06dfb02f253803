// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '../../bounded-map.ts';
import { isNamespaced } from '../../api/signer/signer.ts';
import { keyOf, type KubeObject } from '../../api/object/object.ts';
import { SignerError, attempt } from '../../errors.ts';
import { NO_DEADLINE, type Deadline } from '../../ports.ts';
import { createSignerDeadline } from './deadline.ts';

/**
 * More than the signers that a cluster has of one kind. The bound is needed because anyone who can write
 * Signers can create and delete them under new names without end.
 */
const MAX_KNOWN = 10_000;

/** The result of compiling one generation, or the error. */
interface Entry<T> {
  /** Uid and generation. */
  readonly key: string;
  readonly deadline: Deadline;
  made: T | SignerError | undefined;
}

/**
 * Compiles part of a signer's spec once for each generation. A failed compilation stays failed until the
 * generation changes: the same error is thrown again without the work.
 *
 * @param compile - is passed what ends the work where a namespace wrote the spec; the getter throws
 * TurnEnded then, see inTurns()
 */
export function compileOncePerGeneration<S extends KubeObject, T>(
  compile: (signer: S, deadline: Deadline) => T,
): (signer: S) => T {
  const known = new BoundedMap<string, Entry<T>>(MAX_KNOWN);
  return (signer) => {
    const { uid, generation } = signer.metadata;
    const key = `${uid}/${generation ?? 0}`;
    const name = keyOf(signer.metadata);
    const before = known.get(name);
    const entry = before?.key === key ? before : createEntry<T>(key, isNamespaced(signer));
    if (entry !== before) known.set(name, entry);
    const made = entry.made ?? attempt(() => compile(signer, entry.deadline));
    entry.made = made;
    if (made instanceof SignerError) throw made;
    return made;
  };
}

function createEntry<T>(key: string, isNamespaceOwned: boolean): Entry<T> {
  if (!isNamespaceOwned) return { key, deadline: NO_DEADLINE, made: undefined };
  const entry: Entry<T> = {
    key,
    made: undefined,
    deadline: createSignerDeadline((error) => {
      entry.made = error;
    }),
  };
  return entry;
}
