// SPDX-License-Identifier: Apache-2.0

import type { SignerError } from '../errors.ts';

/** What `countersign lint` found wrong with one thing. */
export interface LintFinding {
  /** `error`: somebody refuses it. `warning`: somebody may. */
  readonly severity: 'error' | 'warning';
  /** A stable id in kebab-case. */
  readonly rule: string;
  /** The section or the function of the API server that the rule comes from. */
  readonly source: string;
  /** Which of the things that were read, and the field in it. */
  readonly where: string;
  readonly message: string;
}

/** What our strict reader refuses, by its error. */
export function unreadable(where: string, { message }: SignerError): LintFinding {
  const source = 'docs/reference/strictness.md';
  return { severity: 'error', rule: 'readable', source, where, message };
}
