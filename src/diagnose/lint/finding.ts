// SPDX-License-Identifier: Apache-2.0

import type { SignerError } from '#base/errors.ts';

/** A problem that `countersign lint` found. */
export interface LintFinding {
  /** `error`: a verifier or the API server rejects it. `warning`: one may reject it. */
  readonly severity: 'error' | 'warning';
  /** A stable id in kebab-case. */
  readonly rule: string;
  /** The section or the function of the API server that the rule comes from. */
  readonly source: string;
  /** The object among the inputs, and the field in it. */
  readonly where: string;
  readonly message: string;
}

/** Returns the finding for an object that Countersign's strict reader rejects. */
export function unreadable(where: string, { message }: SignerError): LintFinding {
  const source = 'docs/reference/strictness.md';
  return { severity: 'error', rule: 'readable', source, where, message };
}
