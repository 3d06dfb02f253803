// SPDX-License-Identifier: Apache-2.0
import type { AcmeSolver } from '#api/acme/acme-signer.ts';
import { createAcmeDnsSolver } from './dns01/acme-dns.ts';
import { createRfc2136Solver } from './dns01/rfc2136.ts';
import { createWebhookSolver } from './dns01/webhook.ts';
import { createRouteSolver } from './http/routes.ts';
import type { ChallengeSolver, SolverContext } from './solver.ts';

/**
 * Returns the solver for a signer's settings.
 *
 * @returns undefined if this version has none for them
 */
export function solverOf(
  settings: AcmeSolver,
  context: SolverContext,
): ChallengeSolver | undefined {
  const { http01, rfc2136, acmeDNS, webhook } = settings;
  if (http01 !== undefined) return createRouteSolver(http01, context);
  if (rfc2136 !== undefined) return createRfc2136Solver(rfc2136, context);
  if (acmeDNS !== undefined) return createAcmeDnsSolver(acmeDNS, context);
  if (webhook !== undefined) return createWebhookSolver(webhook, context);
  return undefined;
}
