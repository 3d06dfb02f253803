// SPDX-License-Identifier: Apache-2.0
import type { CountersignSpec } from '../../api/operator/countersign.ts';
import type { Refusal } from '../../installing/desired.ts';
import { quote } from '../../quote.ts';
import { dnsWebhook } from '../values/check-acme.ts';

/** What the components are told by flags, and no permission bounds: the mould has the flags in the danger zone, too. */
const DANGEROUS = ['servers', 'solvers', 'networks', 'http01Zones'] as const;

/**
 * Refuses what the operator's own role cannot bound. Names of signers, Secrets and providers are bounded by it: what it
 * does not hold, it cannot give.
 *
 * @param dangerZone - whether an administrator lets the writer say whom components call for AcmeSigners
 */
export function refuseAcme(
  { acme = {} }: Pick<CountersignSpec, 'acme'>,
  dangerZone: boolean,
): Refusal | undefined {
  for (const [index, text] of (acme.dnsWebhooks ?? []).entries()) {
    const { group, solver } = dnsWebhook(text);
    if (solver !== undefined) continue;
    const message = `spec.acme.dnsWebhooks[${index}]: ${quote(text, 256)} names no solver; write ${quote(`${group}/<solverName>`, 256)}: the operator’s permissions have no wildcard`;
    return { reason: 'InvalidSpec', message };
  }
  const dangerous = dangerZone ? undefined : DANGEROUS.find((each) => acme[each]?.length);
  if (dangerous === undefined) return undefined;
  const message = `spec.acme.${dangerous}: it decides whom components call, or which names are proved, for the writers of AcmeSigners; an administrator adds --allow-danger-zone to the operator’s flags`;
  return { reason: 'DangerZoneNotAllowed', message };
}
