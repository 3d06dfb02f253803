// SPDX-License-Identifier: Apache-2.0
import type { LintRule } from './rule.ts';

/** RFC 5280 allows 20 octets; 64 random bits are the least (CA/B BR §7.1), we always use 16. */
const MAX_OCTETS = 19;
const MIN_OCTETS = 9;

export const serialPositive: LintRule = {
  name: 'serial-positive',
  source: 'RFC 5280 §4.1.2.2',
  check: ({ serial }) => {
    if (serial.length > MAX_OCTETS) return `the serial number has ${serial.length} octets`;
    if (serial.length < MIN_OCTETS) return 'the serial number has too few random bits';
    return ((serial[0] ?? 0x80) & 0x80) === 0 ? undefined : 'the serial number is negative';
  },
};
