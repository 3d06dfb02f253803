// SPDX-License-Identifier: Apache-2.0
/** The spec of a ValidatingAdmissionPolicy, changed by somebody. */

export type Spec = Readonly<Record<string, unknown>>;

/** Of the first entry of a list. */
export const expressionOf = (spec: Spec, field: string): string =>
  (spec[field] as readonly { expression: string }[])[0]?.expression ?? '';
/** Other match constraints. */
export const match = (spec: Spec, more: object): Spec => ({
  ...spec,
  matchConstraints: { ...(spec['matchConstraints'] as object), ...more },
});
/** One match condition in place of all. */
export const condition = (spec: Spec, expression: string): Spec => ({
  ...spec,
  matchConditions: [{ name: 'our-signers', expression }],
});

/** Writes each expression of the validations again. */
export function rewritten(write: (expression: string) => string): (spec: Spec) => Spec {
  return (spec) => ({
    ...spec,
    validations: (spec['validations'] as { expression: string }[]).map((each) => ({
      ...each,
      expression: write(each.expression),
    })),
  });
}
