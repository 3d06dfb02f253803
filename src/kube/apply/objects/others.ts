// SPDX-License-Identifier: Apache-2.0
/** Handles fields that others fill in, within fields that the operator manages. */
import { mergeKeyOf } from './compare.ts';
import { isRecord } from '#base/record.ts';

/** Stands for each item of a list. */
const EVERY = '*';

type Path = readonly string[];

/**
 * Reports whether a JSON pointer leads to a field of others, or into it.
 *
 * @param path - `*` stands for each item of a list
 */
export function isOthers(path: Path, pointer: string): boolean {
  const segments = pointer
    .split('/')
    .slice(1)
    .map((each) => each.replaceAll('~1', '/').replaceAll('~0', '~'));
  return (
    segments.length >= path.length &&
    path.every((each, index) => each === EVERY || each === segments[index])
  );
}

/**
 * Returns the desired value, with the live values of those fields of others that it does not name.
 */
export function withOthers(
  desired: unknown,
  live: unknown,
  { path, others }: { readonly path: Path; readonly others: readonly Path[] },
): unknown {
  const within = others
    .filter((each) => path.every((segment, index) => each[index] === segment))
    .map((each) => each.slice(path.length));
  return merged(desired, live, within, path.at(-1) ?? '');
}

function merged(desired: unknown, live: unknown, others: readonly Path[], field: string): unknown {
  if (live === undefined || others.length === 0) return desired;
  if (others.some(({ length }) => length === 0)) return over(desired, live);
  if (Array.isArray(desired) && Array.isArray(live))
    return mergedItems(desired, live, below(others, EVERY), field);
  return isRecord(desired) && isRecord(live) ? mergedFields(desired, live, others) : desired;
}

/** Merges two values. Within a field of others, the desired one still wins. */
function over(desired: unknown, live: unknown): unknown {
  return isRecord(desired) && isRecord(live) ? { ...live, ...desired } : (desired ?? live);
}

function mergedFields(
  desired: Readonly<Record<string, unknown>>,
  live: Readonly<Record<string, unknown>>,
  others: readonly Path[],
): Readonly<Record<string, unknown>> {
  const keys = new Set([...Object.keys(desired), ...others.flatMap(([key]) => key ?? [])]);
  const entries = [...keys].map(
    (key) => [key, merged(desired[key], live[key], below(others, key), key)] as const,
  );
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** Merges lists. Items match by their merge key, or by their position. */
function mergedItems(
  desired: readonly unknown[],
  live: readonly unknown[],
  others: readonly Path[],
  field: string,
): readonly unknown[] {
  const key = mergeKeyOf(field);
  return desired.map((each, index) => {
    const same =
      key === undefined
        ? live[index]
        : live.find((other) => isRecord(other) && isRecord(each) && other[key] === each[key]);
    return merged(each, same, others, field);
  });
}

/** Returns the rest of those paths that lead below a key. */
function below(others: readonly Path[], key: string): readonly Path[] {
  return others.filter(([first]) => first === key || first === EVERY).map((each) => each.slice(1));
}
