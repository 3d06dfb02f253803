// SPDX-License-Identifier: Apache-2.0
import type { AcmeSolver } from '../api/acme/index.ts';
import { createRfc2136Solver } from './dns01/rfc2136.ts';
import { createRouteSolver } from './http/routes.ts';
import type { ChallengeSolver, SolverContext } from './solver.ts';

/**
 * The solver that a signer's settings describe.
 *
 * @returns undefined where this version has none for them
 */
export function solverOf(
  settings: AcmeSolver,
  context: SolverContext,
): ChallengeSolver | undefined {
  const { http01, rfc2136 } = settings;
  if (http01 !== undefined) return createRouteSolver(http01, context);
  if (rfc2136 !== undefined) return createRfc2136Solver(rfc2136, context);
  return undefined;
}
