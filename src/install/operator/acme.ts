// SPDX-License-Identifier: Apache-2.0
import type { CountersignSpec } from '#api/operator/countersign.ts';
import type { Refusal } from '../reconcile/desired.ts';
import { dnsWebhook } from '../values/check-acme.ts';
import * as messages from './messages.ts';

/**
 * Settings that no permission bounds: arguments of components, which are also in the danger zone of
 * the flag schema, and annotations that control Ingress controllers.
 */
const DANGEROUS = ['servers', 'solvers', 'networks', 'http01Zones', 'routeMetadata'] as const;

/**
 * Rejects settings that the operator's own role cannot bound. Its role bounds names of signers,
 * Secrets and providers: it cannot grant a permission that it lacks.
 *
 * @param dangerZone - the administrator lets the writer choose the destinations of components for
 * AcmeSigners
 */
export function refuseAcme(
  { acme = {} }: Pick<CountersignSpec, 'acme'>,
  dangerZone: boolean,
): Refusal | undefined {
  for (const [index, text] of (acme.dnsWebhooks ?? []).entries()) {
    const { group, solver } = dnsWebhook(text);
    if (solver !== undefined) continue;
    const message = messages.solverUnnamed(index, text, group);
    return { reason: 'InvalidSpec', message };
  }
  const dangerous = dangerZone ? undefined : DANGEROUS.find((each) => acme[each]?.length);
  if (dangerous === undefined) return undefined;
  const message = messages.dangerousAcme(dangerous);
  return { reason: 'DangerZoneNotAllowed', message };
}
