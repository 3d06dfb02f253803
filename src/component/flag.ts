// SPDX-License-Identifier: Apache-2.0
/**
 * Describes flags of components as data, and parses their values. `cli` turns them into options.
 */
import { parseDuration } from '#api/object/duration.ts';
import { usageError } from '#base/errors.ts';

/** One flag. Without `<…>` it is a switch. */
export interface Flag {
  /** The flag as in the help: `--target <name=url>`. */
  readonly flag: string;
  readonly help: string;
  /** Parses a value. Absent if the text is the value. @throws SignerError */
  readonly parse?: (text: string) => unknown;
  readonly default?: unknown;
  /** The default as in the help. */
  readonly shown?: string;
  /** True if it may be given several times, so that its values are a list. */
  readonly repeatable?: true;
  /**
   * Adds a value to those of `default`, or to a map, for a flag that may be given several times.
   * @throws SignerError
   */
  add?(before: object, text: string): object;
  /**
   * The default port of an address. The default address is local, unless the process runs in a pod.
   */
  readonly listens?: number;
}

/** Parses a whole number from 1. @throws SignerError USAGE */
export function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw usageError('write a whole number from 1');
}

/** Parses seconds of a Go duration, or of whole days such as `7d`. @throws SignerError USAGE */
export function parseDays(text: string): number {
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  return days === undefined ? parseDuration(text) : Number(days) * 86_400;
}
