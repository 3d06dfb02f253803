// SPDX-License-Identifier: Apache-2.0
import { MAX_COST, type Compiled } from '../cel/compile.ts';
import { SignerError } from '../errors.ts';

/**
 * Most that all expressions of a policy may cost for one request: a hostile request holds up those
 * behind it for less than 100 ms, however many rules there are.
 */
export const MAX_POLICY_COST = 5 * MAX_COST;

/**
 * @param where - the part of the spec that holds the rules
 * @throws SignerError CEL_COST (`wait`), naming the dearest expression
 */
export function checkPolicyCost(where: string, expressions: readonly Compiled<boolean>[]): void {
  const cost = expressions.reduce((sum, each) => sum + each.cost, 0);
  const [dearest] = expressions.toSorted((a, b) => b.cost - a.cost);
  if (cost <= MAX_POLICY_COST || dearest === undefined) return;
  throw new SignerError({
    code: 'CEL_COST',
    disposition: 'wait',
    message: `${where}: its expressions may cost ${cost} together at worst, and ${MAX_POLICY_COST} is the limit; ${dearest.where} costs most (${dearest.cost})`,
  });
}
