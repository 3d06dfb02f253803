// SPDX-License-Identifier: Apache-2.0
import { usageError } from './errors.ts';

/** The result of a schema: the value, or its faults. */
interface ParseResult<T> {
  readonly data?: T | undefined;
  readonly error?: { readonly issues: readonly Issue[] } | undefined;
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** The limit of faults in one message. */
const MAX_FILE_FAULTS = 10;

/**
 * Returns the value of a file that a person wrote, if neither its schema nor `faultsOf` finds a
 * fault.
 *
 * @param name - of the file, for messages
 * @param faultsOf - returns the faults that concern several fields
 * @throws SignerError USAGE (`fail`) with the path of each fault
 */
export function requireNoFaults<T>(
  { data, error }: ParseResult<T>,
  name: string,
  faultsOf: (value: T) => readonly string[],
): T {
  const faults =
    data === undefined ? (error?.issues ?? []).map((issue) => faultText(issue)) : faultsOf(data);
  if (data !== undefined && faults.length === 0) return data;
  const more =
    faults.length > MAX_FILE_FAULTS ? `, and ${faults.length - MAX_FILE_FAULTS} more` : '';
  throw usageError(`${name}: ${faults.slice(0, MAX_FILE_FAULTS).join('; ')}${more}`);
}

function faultText({ path, message }: Issue): string {
  return `${path.map(String).join('.') || 'the file'}: ${message}`;
}
