// SPDX-License-Identifier: Apache-2.0
import { mutation } from './injection/mutation.ts';
import type { InjectionProfile } from './injection/profiles.ts';
import { refusals } from './injection/refusals.ts';
import type { Installation } from '../installation.ts';
import { keysNamespaceOf, permissionNamesOf } from '../names.ts';
import type { Manifest } from '../roles.ts';
import { whoWritesAcme } from './acme.ts';
import { whoAsksByCertificateRequests } from './certificate-requests.ts';
import {
  whatAnswersChange,
  whatTheAuthorityChangesOfApiServices,
  whichBundlesTheAttesterWrites,
  whichEventsAreWritten,
  whichRequestsAreAnswered,
  whichSecretsTheAuthorityMakes,
} from './components.ts';
import { whichFederatedBundlesAreWritten } from './federation.ts';
import { whoWritesLeases } from './leases.ts';
import { whatIsRefreshed } from './refreshed.ts';
import { trustConfigMapName } from '../../api/object/trust-config-map.ts';
import { whichCaBundlesAreWritten, whichTrustConfigMapsAreWritten } from './trust.ts';
import { whichConfigMapsTheAuthorityMakes, whoRevokes } from './revocations.ts';
import {
  whoCreatesPodCertificateRequests,
  whoMayRequest,
  whoWritesClusterSignerStatus,
  whoWritesClusterSigners,
  whoWritesSignerStatus,
} from './policies.ts';

/** The opt-in policy file: once applied, each requester needs the verb `request`. */
export const OPT_IN = 'who-may-request.yaml';

/** The admission policies of an installation by file. The names are taken as they are. */
export function admissionOf(installation: Installation): ReadonlyMap<string, readonly Manifest[]> {
  const { signers, namespacedSigners = false, namespace, injection } = installation;
  const guarded = { signers, namespacedSigners };
  const writers = [
    ...whoWritesClusterSigners(),
    ...whoWritesClusterSignerStatus(namespace),
    ...whoWritesSignerStatus(namespace),
  ];
  return new Map([
    ['pod-certificate-requests.yaml', whoCreatesPodCertificateRequests(guarded)],
    ['cluster-signers.yaml', writers],
    ['certificate-requests.yaml', whoAsksByCertificateRequests()],
    ['acme.yaml', whoWritesAcme(namespace, keysNamespaceOf(installation))],
    ['components.yaml', onComponents(installation)],
    [
      'revocations.yaml',
      [...whoRevokes(), ...whichConfigMapsTheAuthorityMakes(crlNames(installation))],
    ],
    ['leases.yaml', whoWritesLeases(namespace)],
    ['refreshed.yaml', whatIsRefreshed(namespace)],
    ...(injection === undefined ? [] : [injectionOf(injection)]),
    [OPT_IN, whoMayRequest(guarded)],
  ]);
}

function injectionOf(profiles: readonly InjectionProfile[]): [string, readonly Manifest[]] {
  return ['injection.yaml', [...mutation(profiles), ...refusals(profiles)]];
}

/** The ConfigMaps of CRLs, by namespace: those behind our own ports included. */
function crlNames(
  installation: Installation,
): Parameters<typeof whichConfigMapsTheAuthorityMakes>[0] {
  const { namespace } = installation;
  return { namespace, secrets: permissionNamesOf({ servesOwnTls: true }, installation).secrets };
}

/** What holds the components to the names of this installation, and to their own work. */
function onComponents(installation: Installation): readonly Manifest[] {
  // Both hold the names behind our own ports as well.
  const { signerNames, bundles, secrets, accountKeys } = permissionNamesOf(
    { servesOwnTls: true },
    installation,
  );
  const { namespace } = installation;
  const names = { namespace, signers: signerNames, bundles, secrets, accountKeys };
  return [
    ...whichBundlesTheAttesterWrites(names),
    ...whichRequestsAreAnswered(namespace),
    ...whichSecretsTheAuthorityMakes(names),
    ...whatTheAuthorityChangesOfApiServices(namespace),
    ...whatAnswersChange(namespace),
    ...whichEventsAreWritten(namespace),
    ...whichFederatedBundlesAreWritten(namespace),
    ...whichTrustConfigMapsAreWritten(namespace, signerNames, bundles.map(trustConfigMapName)),
    ...whichCaBundlesAreWritten(namespace),
  ];
}
