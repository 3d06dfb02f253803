// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '../../bounded-map.ts';
import { keyOf, type KubeObject } from '../../api/object/object.ts';
import { SignerError, attempt } from '../../errors.ts';
import type { Deadline } from '../../ports.ts';
import { createSignerDeadline, ownerOf } from './deadline.ts';

/**
 * More than the signers that a cluster has of one kind. The bound is needed because anyone who can write
 * Signers can create and delete them under new names without end.
 */
const MAX_KNOWN = 10_000;

/**
 * For how many milliseconds a spec that took too long to compile is refused, unless it changes. The machine may have
 * been slower than usual.
 */
export const REFUSED_MS = 5 * 60_000;

/** The result of compiling one generation, or the error. */
interface Entry<T> {
  /** Uid and generation. */
  readonly key: string;
  readonly deadline: Deadline;
  made: T | SignerError | undefined;
  /** When `made` is forgotten. */
  until: number;
}

/**
 * Compiles part of a signer's spec once for each generation. A failed compilation stays failed until the
 * generation changes: the same error is thrown again without the work. Only one that took too long is tried again,
 * after five minutes.
 *
 * @param compile - is passed what limits the work; the getter throws TurnEnded or PutOff then, see inTurns()
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
    const entry = before?.key === key ? before : createEntry<T>(key, signer);
    if (entry !== before) known.set(name, entry);
    if (performance.now() >= entry.until)
      Object.assign(entry, { made: undefined, until: Infinity });
    const made = entry.made ?? attempt(() => compile(signer, entry.deadline));
    entry.made = made;
    if (made instanceof SignerError) throw made;
    return made;
  };
}

function createEntry<T>(key: string, signer: KubeObject): Entry<T> {
  const entry: Entry<T> = {
    key,
    made: undefined,
    until: Infinity,
    deadline: createSignerDeadline(ownerOf(signer), (error) => {
      entry.made = error;
      entry.until = error === undefined ? Infinity : performance.now() + REFUSED_MS;
    }),
  };
  return entry;
}
