// SPDX-License-Identifier: Apache-2.0

/**
 * Options of laws that only `make test-silence` holds: they take a minute, or say little that
 * others do not.
 */
export const LONG = { skip: process.env['FAULTS'] !== 'long' && 'FAULTS=long' };
