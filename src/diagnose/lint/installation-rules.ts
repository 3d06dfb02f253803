// SPDX-License-Identifier: Apache-2.0
import { COUNTERSIGNS } from '#api/operator/countersign.ts';
import { printable } from '#base/quote.ts';
import { unknownFields } from '#install/operator/unknown-fields.ts';
import type { LintFinding } from './finding.ts';

/**
 * Finds fields of an object of an operator that the API server drops. Undefined for an object of
 * another group.
 */
export function lintInstallation(
  object: Readonly<Record<string, unknown>>,
  where: string,
): readonly LintFinding[] | undefined {
  if (object['apiVersion'] !== `${COUNTERSIGNS.group}/${COUNTERSIGNS.version}`) return undefined;
  return unknownFields(object)?.map((field) => ({
    severity: 'error',
    rule: 'known-field',
    source: 'docs/how-to/operator.md',
    where: `${where} ${printable(field)}`,
    message: 'unknown field: the API server drops it, so it has no effect; correct or remove it',
  }));
}
