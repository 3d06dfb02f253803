// SPDX-License-Identifier: Apache-2.0
import type { CountersignSpec } from '#api/operator/countersign.ts';
import type { Refusal } from '../reconcile/desired.ts';
import { dnsWebhook } from '../values/check-acme.ts';
import * as messages from './messages.ts';

/**
 * Settings that no permission bounds: arguments of components, which are also in the danger zone of
 * the flag schema, and annotations that control Ingress controllers.
 */
const ACME = ['servers', 'solvers', 'networks', 'http01Zones', 'routeMetadata'] as const;

/**
 * Settings of recording, storage and retention. The flag schema has their flags in the danger zone,
 * too, or never. `aggregatedApi` makes the deletion of namespaces depend on the ledger.
 */
const LEDGER = ['aggregatedApi', 'mode', 'postgres', 'checkpoints', 'retention', 'omit'] as const;

/**
 * Rejects settings that the operator's own role cannot bound. Its role bounds names of signers,
 * providers and Secrets, since it cannot grant a permission that it lacks.
 *
 * @param dangerZone - the administrator lets the writer choose what these settings name
 */
export function refuseUnbounded(spec: CountersignSpec, dangerZone: boolean): Refusal | undefined {
  const unnamed = unnamedSolver(spec);
  if (unnamed !== undefined) return { reason: 'InvalidSpec', message: unnamed };
  const message = dangerZone ? undefined : dangerousSetting(spec);
  return message === undefined ? undefined : { reason: 'DangerZoneNotAllowed', message };
}

/** Returns the fault of a webhook of DNS without the name of its solver. */
function unnamedSolver({ acme = {} }: CountersignSpec): string | undefined {
  for (const [index, text] of (acme.dnsWebhooks ?? []).entries()) {
    const { group, solver } = dnsWebhook(text);
    if (solver === undefined) return messages.solverUnnamed(index, text, group);
  }
  return undefined;
}

/** Returns the fault of the first setting that is used without the danger zone. */
function dangerousSetting(spec: CountersignSpec): string | undefined {
  const { acme = {}, bundleEndpoint = {}, components = {} } = spec;
  const ofAcme = ACME.find((each) => acme[each]?.length);
  if (ofAcme !== undefined) return messages.dangerousAcme(ofAcme);
  const ofLedger = dangerousLedger(spec);
  if (ofLedger !== undefined) return ofLedger;
  // The kubelet requests a pod's certificate from any signer.
  if ((bundleEndpoint.svidSigner ?? '') !== '') return messages.SVID_SIGNER_NOT_ALLOWED;
  // They name Secrets to mount, consent for the owners of keys, and are the limits of the keys.
  const holder = Object.entries(components).find(([, each]) => each['keyHolder'] !== undefined);
  return holder === undefined ? undefined : messages.dangerousKeyHolder(holder[0]);
}

function dangerousLedger({ ledger = {} }: CountersignSpec): string | undefined {
  const found = LEDGER.find((each) => ledger[each] !== undefined);
  if (found === undefined) return undefined;
  const what =
    found === 'aggregatedApi' ? messages.AGGREGATED_API_DANGER : messages.RECORDING_DANGER;
  return messages.dangerousLedger(found, what);
}
