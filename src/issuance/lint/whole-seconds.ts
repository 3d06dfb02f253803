// SPDX-License-Identifier: Apache-2.0
import type { LintRule } from './rule.ts';

/** The decoder accepts UTCTime before 2050 and GeneralizedTime after only; here the order. */
export const wholeSeconds: LintRule = {
  name: 'whole-seconds',
  source: 'RFC 5280 §4.1.2.5',
  check: ({ notBefore, notAfter }) => {
    if (notBefore % 1000 !== 0 || notAfter % 1000 !== 0) return 'a time has a fraction of a second';
    return notBefore < notAfter ? undefined : 'notAfter is not later than notBefore';
  },
};
