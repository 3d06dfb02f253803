// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { BoundedMap } from '#base/bounded-map.ts';
import type { CaBundlePlace } from '#api/object/ca-bundle-object.ts';
import type { KubeObject, ObjectMeta } from '#api/object/object.ts';
import type { ManagedFieldsEntry } from '#kube/protobuf/object-meta.ts';
import { parseTime } from '#api/object/time.ts';

/** Writes of the same contents that are not delayed: a tool may apply its own several times. */
const FREE_WRITES = 3;
const FIRST_DELAY_MS = 10_000;
const LONGEST_DELAY_MS = 10 * 60_000;
/** After this long without a write, the next is not delayed. */
const QUIET_MS = 3_600_000;
/** Exceeds the number of targets that are written in the longest delay. */
const MAX_TARGETS = 10_000;

interface TargetWrite {
  /** SHA-256 of the contents, which may have a megabyte. */
  readonly digest: string;
  readonly count: number;
  /** Milliseconds. */
  readonly at: number;
}

/**
 * Delays writes of contents that another writer replaces again and again: each would be one write
 * of theirs and one of ours. The delay doubles from 10 seconds to 10 minutes.
 */
export class ContestedTargets {
  readonly #written = new BoundedMap<string, TargetWrite>(MAX_TARGETS);

  /**
   * Returns when the target may be written, in milliseconds, or undefined for at once.
   *
   * @param contents - that would be written. Other contents are never delayed.
   */
  heldUntil(target: string, contents: string, now: number): number | undefined {
    const last = this.#lastOf(target, contents, now);
    if (last === undefined || last.count < FREE_WRITES) return undefined;
    const delay = Math.min(FIRST_DELAY_MS * 2 ** (last.count - FREE_WRITES), LONGEST_DELAY_MS);
    return last.at + delay > now ? last.at + delay : undefined;
  }

  /**
   * Returns until when the target counts as contested, in milliseconds, or undefined. It does for
   * two delays after the last write: right after ours the contents are what they should be.
   */
  contestedUntil(target: string, now: number): number | undefined {
    const last = this.#written.get(target);
    if (last === undefined || last.count < FREE_WRITES) return undefined;
    const until = last.at + 2 * LONGEST_DELAY_MS;
    return until > now ? until : undefined;
  }

  /** Records a write. */
  wrote(target: string, contents: string, now: number): void {
    const count = (this.#lastOf(target, contents, now)?.count ?? 0) + 1;
    this.#written.set(target, { digest: digestOf(contents), count, at: now });
  }

  #lastOf(target: string, contents: string, now: number): TargetWrite | undefined {
    const last = this.#written.get(target);
    if (last === undefined || now - last.at >= QUIET_MS) return undefined;
    return last.digest === digestOf(contents) ? last : undefined;
  }
}

function digestOf(contents: string): string {
  return createHash('sha256').update(contents).digest('base64');
}

/**
 * Returns the contents of a write for {@link ContestedTargets}: the texts without their places.
 * Otherwise a writer that replaces one `caBundle` of an object after another would never be
 * delayed.
 */
export function contentsOf(places: readonly CaBundlePlace[]): string {
  return [...new Set(places.map(({ text }) => text))].sort().join('');
}

/**
 * Returns the field manager that last wrote a field of the object, besides `own`.
 *
 * @param field - its name at any depth, such as `caBundle`
 */
export function lastWriter(
  { metadata }: KubeObject,
  field: string,
  own: string,
): string | undefined {
  return lastWrite(metadata.managedFields, field, own)?.manager;
}

/** Returns the write of {@link lastWriter}. */
export function lastWrite(
  managedFields: ObjectMeta['managedFields'] = [],
  field: string,
  own: string,
): ManagedFieldsEntry | undefined {
  const [newest] = managedFields
    .filter(({ manager, fieldsV1 = {} }) => {
      return manager !== own && JSON.stringify(fieldsV1).includes(`"f:${field}"`);
    })
    .sort((a, b) => parseTime(b.time ?? '') - parseTime(a.time ?? ''));
  return newest;
}
