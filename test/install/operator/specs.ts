// SPDX-License-Identifier: Apache-2.0
import type { CountersignSpec } from '#api/operator/countersign.ts';
import { isRefusal, type DesiredInstallation } from '#install/reconcile/desired.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { desiredInstallation } from '#install/operator/desired.ts';

/** Of an operator. */
export const SETTINGS = {
  namespace: 'countersign-system',
  keysNamespace: 'countersign-keys',
  image: 'r.example/c',
  allowedImages: ['other.example:5000/c'],
  dangerZone: false,
};
/** An administrator allows the danger zone. */
export const ALLOWED = { ...SETTINGS, dangerZone: true };
/** The least that is installed. */
export const SPEC: CountersignSpec = {
  version: '0.1.0',
  signers: [{ name: 'example.com/workload' }],
};

/** With everything of ACME that permissions bound. */
export const ACME_SPEC: CountersignSpec = {
  ...SPEC,
  components: {
    acme: { enabled: true },
    'acme-responder': { enabled: true },
    'acme-solver': { enabled: true },
  },
  acme: {
    signers: [
      { name: 'example.com/public', externalAccountSecret: 'public-external' },
      { name: 'example.com/staging', accountSecret: 'staging' },
    ],
    solverSecrets: [{ namespace: 'countersign-dns', name: 'tsig' }],
    dnsWebhooks: ['acme.provider.example/records'],
    renewCertificates: true,
  },
};

/** A ledger that the API server serves, with what that takes. */
export const AGGREGATED = { aggregatedApi: true, postgres: { secret: 'ledger-database' } };

/** With a ledger that two components read. */
export const FACTS_SPEC: CountersignSpec = {
  ...SPEC,
  components: { ledger: { enabled: true }, 'pod-refresher': { enabled: true } },
  ledger: { facts: true },
};

/** @throws Error if it is refused */
export function made(spec: CountersignSpec, settings = SETTINGS): DesiredInstallation {
  const desired = desiredInstallation(spec, settings);
  if (isRefusal(desired)) throw new Error(`${desired.reason}: ${desired.message}`);
  return desired;
}

/** `accepted`, or the reason and the message. @param more - beside {@link SPEC} */
export function refused(more: object, settings = SETTINGS): string {
  const desired = desiredInstallation({ ...SPEC, ...more }, settings);
  return isRefusal(desired) ? `${desired.reason}: ${desired.message}` : 'accepted';
}

/** Each verb on each resource by each name that a rule grants, in a namespace or in all. */
export function grantsOf(rule: PermissionRule): readonly string[] {
  const { apiGroups, resources, verbs, resourceNames = ['*'], namespace = '*' } = rule;
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) =>
        resourceNames.map((name) => [verb, group, resource, name, namespace].join(' ')),
      ),
    ),
  );
}
