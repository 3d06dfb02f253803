// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '#base/bounded-map.ts';
import { keyOf, type KubeObject } from '#api/object/object.ts';
import { SignerError, attempt } from '#base/errors.ts';
import type { Deadline } from '#base/ports.ts';
import { createSignerDeadline, ownerOf } from './deadline.ts';

/**
 * More than the signers of one kind in a cluster. The bound is necessary, because everyone who can
 * write Signers can create and delete them under new names without end.
 */
const MAX_KNOWN = 10_000;

/**
 * The milliseconds for which a spec is rejected that took too long to compile, unless it changes.
 * The machine may have been slower than usual.
 */
export const REFUSED_MS = 5 * 60_000;

/** The result of compiling one generation, or the error. */
interface Entry<T> {
  /** The UID and the generation. */
  readonly key: string;
  readonly deadline: Deadline;
  made: T | SignerError | undefined;
  /** The time at which `made` expires. */
  until: number;
}

/**
 * Compiles part of a signer's spec once for each generation. A failed compilation stays failed
 * until the generation changes: the same error is thrown again without the work. Only one that took
 * too long is tried again, after {@link REFUSED_MS}.
 *
 * @param compile - receives the deadline of the work. The returned function throws SliceEnded or
 *   EvaluationDeferred if the deadline passes, see runInSlices().
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
    if (performance.now() >= entry.until) {
      entry.made = undefined;
      entry.until = Infinity;
    }
    // SliceEnded passes through here. run-in-slices.ts then settles the entry by its deadline.
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
