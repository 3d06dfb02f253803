// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { count } from './count.ts';

/** The numbers that a bench can be run with, and where its results go. */
export type Arguments<Name extends string> = Readonly<Record<Name, number>> & {
  /** A directory. */
  readonly results: string;
};

interface Option {
  readonly default: number;
  readonly least: number;
}

/** What is checked in, and docs/reference/performance.md is made of. */
export const RESULTS = join(import.meta.dirname, '../results');

/**
 * Reads `--name 123` for each name, and `--results <directory>`. @throws Error for anything else
 */
export function readArguments<Name extends string>(
  options: Readonly<Record<Name, Option>>,
): Arguments<Name> {
  const entries = Object.entries(options) as [Name, Option][];
  const text = (each: Option): { type: 'string'; default: string } => ({
    type: 'string',
    default: String(each.default),
  });
  const { values } = parseArgs({
    options: {
      results: { type: 'string', default: RESULTS },
      ...Object.fromEntries(entries.map(([name, each]) => [name, text(each)])),
    },
  });
  const given = values as Readonly<Record<string, string>>;
  const numbers = entries.map(([name, { least }]) => [name, count(name, given[name] ?? '', least)]);
  return { ...Object.fromEntries(numbers), results: given['results'] } as Arguments<Name>;
}
