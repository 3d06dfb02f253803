// SPDX-License-Identifier: Apache-2.0
import type { SecretReference } from '#api/signer/cluster-signer.ts';
import { mutation } from './injection/mutation.ts';
import { refusals } from './injection/refusals.ts';
import type { Installation } from '../installation.ts';
import { keysNamespaceOf, permissionNamesOf } from '../names.ts';
import type { Manifest } from '../roles.ts';
import { acmePolicies } from './acme.ts';
import { externalPolicies } from './external.ts';
import { certificateRequestIdentityPolicies } from './certificate-requests.ts';
import {
  requestMetadataPolicy,
  attesterBundlesPolicy,
  eventsPolicy,
  certificateRequestAnswersPolicy,
  authoritySecretsPolicy,
  type ComponentNames,
} from './components.ts';
import { upstreamRequestsPolicy, signerUpstreamsPolicy, signerVaultsPolicy } from './upstreams.ts';
import { federatedBundlesPolicy } from './federation.ts';
import { leasesPolicies } from './leases.ts';
import { refreshedWorkloadsPolicies } from './refreshed.ts';
import { trustConfigMapName } from '#api/object/trust-config-map.ts';
import { authorityApiServicePolicy, trustCaBundlesPolicy } from './held/ca-bundles.ts';
import { componentMetadataPolicy } from './held/metadata.ts';
import { ownObjectPolicies } from './held/own-objects.ts';
import { routePolicies } from './held/routes.ts';
import { trustConfigMapsPolicy } from './trust.ts';
import { authorityCrlPolicy, revocationsPolicy } from './revocations.ts';
import {
  podRequestsPolicy,
  requestersPolicies,
  clusterSignerStatusPolicy,
  clusterSignersPolicy,
  signerStatusPolicy,
  type GuardedSigners,
} from './policies.ts';

/** File of the opt-in policy. Once applied, each requester needs the verb `request`. */
export const OPT_IN = 'who-may-request.yaml';

/** The names and lists in the policies of one installation. */
export interface PolicyNames {
  readonly components: ComponentNames;
  readonly guarded: GuardedSigners;
  /** Namespace of the CA Secrets of cluster-scoped signers. */
  readonly keysNamespace: string;
  /** The CA Secrets whose CRLs `authority` publishes. */
  readonly crls: readonly SecretReference[];
  /** ConfigMaps of bundles, in the order of their signers. */
  readonly trustConfigMaps: readonly string[];
  /** Issuers of cert-manager that sign managed CAs: `<namespace>/<Kind>.<group>/<name>`. */
  readonly upstreamIssuers: readonly string[];
  /** `key=value` of labels and annotations that a route of a Challenge may have. */
  readonly routeMetadata: readonly string[];
}

/** Returns the admission policies of an installation by file. It does not check the names. */
export function admissionOf(installation: Installation): ReadonlyMap<string, readonly Manifest[]> {
  const { signers, signerDomains = [], namespacedSigners = false } = installation;
  const { namespace, injection, routeMetadata = [], upstreamIssuers = [] } = installation;
  // All lists include the names for the components' HTTPS ports.
  const { signerNames, bundles, secrets, accountKeys } = permissionNamesOf(
    { servesOwnTls: true },
    installation,
  );
  const { external, acme } = installation;
  const guarded = {
    signers: [...signers, ...(external?.signers ?? [])],
    signerDomains,
    namespacedSigners,
  };
  const files = policiesOf({
    components: { namespace, signers: signerNames, bundles, secrets, accountKeys },
    guarded,
    keysNamespace: keysNamespaceOf(installation),
    crls: secrets,
    trustConfigMaps: bundles.map(trustConfigMapName),
    upstreamIssuers,
    routeMetadata,
  });
  if (injection !== undefined)
    files.set('injection.yaml', [...mutation(injection), ...refusals(injection)]);
  // No kubelet creates requests for ACME signers, but their users need the verb.
  const requested = [...guarded.signers, ...(acme?.signers ?? [])];
  return files.set(OPT_IN, requestersPolicies({ ...guarded, signers: requested }));
}

/** Returns the policies on which components rely, by file. */
export function policiesOf(names: PolicyNames): Map<string, readonly Manifest[]> {
  const { guarded, keysNamespace, crls: secrets } = names;
  const { namespace } = names.components;
  const writers = [
    ...clusterSignersPolicy(),
    ...signerUpstreamsPolicy(),
    ...signerVaultsPolicy(),
    ...clusterSignerStatusPolicy(namespace),
    ...signerStatusPolicy(namespace),
  ];
  return new Map([
    ['pod-certificate-requests.yaml', podRequestsPolicy(guarded)],
    ['cluster-signers.yaml', writers],
    ['certificate-requests.yaml', certificateRequestIdentityPolicies()],
    ['acme.yaml', acmePolicies(namespace, keysNamespace)],
    ['external.yaml', externalPolicies(namespace)],
    ['components.yaml', onComponents(names)],
    ['revocations.yaml', [...revocationsPolicy(), ...authorityCrlPolicy({ namespace, secrets })]],
    ['leases.yaml', leasesPolicies(namespace)],
    ['refreshed.yaml', refreshedWorkloadsPolicies(namespace)],
  ]);
}

/**
 * Returns the policies that restrict the components to the names of this installation, and to their
 * own work.
 */
function onComponents({
  components,
  trustConfigMaps,
  upstreamIssuers,
  routeMetadata,
}: PolicyNames): readonly Manifest[] {
  const { namespace, signers } = components;
  return [
    ...attesterBundlesPolicy(components),
    ...certificateRequestAnswersPolicy(namespace),
    ...authoritySecretsPolicy(components),
    ...upstreamRequestsPolicy(namespace, upstreamIssuers),
    ...authorityApiServicePolicy(namespace),
    ...requestMetadataPolicy(namespace),
    ...eventsPolicy(namespace),
    ...federatedBundlesPolicy(namespace),
    ...trustConfigMapsPolicy(namespace, signers, trustConfigMaps),
    ...trustCaBundlesPolicy(namespace),
    ...ownObjectPolicies(namespace),
    ...routePolicies(namespace, routeMetadata),
    ...componentMetadataPolicy(namespace),
  ];
}
