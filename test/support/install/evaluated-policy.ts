// SPDX-License-Identifier: Apache-2.0
import { Environment } from '@marcbachmann/cel-js';
import { isDeepStrictEqual } from 'node:util';
import { printedAdmission } from './printed-admission.ts';

interface Optional {
  readonly hasValue: () => boolean;
  readonly value: () => unknown;
}

/** What a policy reads of a write. */
export interface ReviewedWrite {
  readonly object: object;
  /** Undefined: it is created. */
  readonly oldObject?: object | undefined;
  readonly request: Readonly<Record<string, unknown>>;
  readonly namespaceObject?: object;
}

/** How the API server compares optional values, which cel-js does not. */
function createEnvironment(): Environment {
  const environment = new Environment({
    enableOptionalTypes: true,
    unlistedVariablesAreDyn: true,
    homogeneousAggregateLiterals: false,
  });
  return environment.registerOperator(
    'optional<dyn> == optional<dyn>',
    (a: Optional, b: Optional) =>
      a.hasValue() === b.hasValue() && (!a.hasValue() || isDeepStrictEqual(a.value(), b.value())),
  );
}

/**
 * Evaluates a printed policy without an API server, so that a law about a field takes milliseconds.
 * Its conditions are not evaluated: the write is one that it is for.
 *
 * @returns the numbers of the validations that reject the write; those that fail reject it as well
 */
export function rejectionsOf(
  name: string,
  write: ReviewedWrite,
  more: Parameters<typeof printedAdmission>[0] = {},
): readonly number[] {
  const found = printedAdmission(more).get(name);
  if (found === undefined) throw new Error(`no policy ${name}`);
  const { validations, variables = [] } = found.policy.spec as unknown as {
    readonly validations: readonly { readonly expression: string }[];
    readonly variables?: readonly { readonly name: string; readonly expression: string }[];
  };
  const environment = createEnvironment();
  const context = asCel({
    namespaceObject: {},
    ...write,
    oldObject: write.oldObject ?? null,
  }) as Record<string, unknown>;
  const values = variables.map((each): readonly [string, unknown] => [
    each.name,
    environment.evaluate(each.expression, context),
  ]);
  const all = { ...context, variables: Object.fromEntries(values) as object };
  return validations.flatMap(({ expression }, index) => {
    try {
      return environment.evaluate(expression, all) === true ? [] : [index];
    } catch {
      return [index];
    }
  });
}

/** Whole numbers of JSON are integers in CEL. */
function asCel(value: object): object {
  return JSON.parse(JSON.stringify(value), (_key, each: unknown) =>
    Number.isInteger(each) ? BigInt(each as number) : each,
  ) as object;
}
