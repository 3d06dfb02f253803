// SPDX-License-Identifier: Apache-2.0
import { CERT_MANAGER_DEPLOYMENTS } from '#api/operator/cert-manager-deployment.ts';
import { COUNTERSIGNS } from '#api/operator/countersign.ts';
import type { InstallationObject } from '#api/operator/installation.ts';
import { keysNamespaceOf, type ClusterSigner } from '#api/signer/cluster-signer.ts';
import { DEFAULT_SECRET_NAMESPACE, OWN_TLS_SIGNER } from '#api/signer/own-tls.ts';
import { membersOf } from '#base/record.ts';
import type { Client } from '#kube/client/client.ts';
import {
  componentNamespacesIn,
  keysNamespacesIn,
  listingFaults,
  type ListingFacts,
} from '../access/listed-signers.ts';
import type {
  AcmeFacts,
  InstallationFacts,
  OperatedInstallation,
  Place,
  ReadInit,
  SignerFacts,
} from '../facts.ts';
import type { Outcome, ReadResult } from '../finding.ts';
import { installerOf, type InstalledMetadata } from '../installer.ts';
import { mapSeen, listVisible } from './list-visible.ts';
import { readRoles } from './read-access.ts';
import { readAcme } from './read-acme.ts';
import { readDeployments } from './read-deployments.ts';
import { readExternal, withExternalNames } from './read-external.ts';
import { readSigners } from './read-signers.ts';

/**
 * Returns what `signers-listed` finds about one ClusterSigner, with what changes that. Undefined if
 * the components may serve it, or if the user may not read that.
 *
 * @throws KubeError for any error but 403
 */
export async function readListingFault(
  init: Pick<ReadInit, 'client' | 'clock' | 'propagationSeconds'>,
  signer: ClusterSigner,
): Promise<Outcome | undefined> {
  const roles = await readRoles(init.client);
  if (!('value' in roles)) return undefined;
  const facts = await readListing({ ...init, ...placeOf(roles.value, signer) }, { roles });
  // Without the Deployments, the installer is unknown, and so is its command.
  if (!('value' in facts.deployments)) return undefined;
  return listingFaults(facts).get(signer.metadata.name);
}

/** Returns the place that the roles name: explain has no flags for it. */
function placeOf(roles: Parameters<typeof keysNamespacesIn>[0], { spec }: ClusterSigner): Place {
  const own = keysNamespaceOf(spec) ?? DEFAULT_SECRET_NAMESPACE;
  const keys = keysNamespacesIn(roles);
  const homes = componentNamespacesIn(roles);
  return {
    namespace: homes.length === 1 ? (homes[0] ?? '') : '',
    secretNamespace: keys.includes(own) ? own : (keys[0] ?? own),
    servingSigner: OWN_TLS_SIGNER,
  };
}

/** Facts that the caller reads. */
interface ListingReads {
  readonly roles?: ListingFacts['roles'];
  readonly signers?: Promise<ReadResult<SignerFacts>>;
}

/**
 * Reads the signers of all kinds, the roles that name them, and the installer.
 *
 * @param init - the namespace of the components is empty if it is unknown
 * @throws KubeError for any error but 403
 */
export async function readListing(
  init: ReadInit,
  { roles: known, signers: signersRead = readSigners(init) }: ListingReads = {},
): Promise<ListingFacts & Pick<InstallationFacts, 'acme' | 'external'>> {
  const { client, namespace } = init;
  const installedBy: InstalledMetadata[] = [];
  const where = namespace === '' ? undefined : namespace;
  const [signers, roles, deployments, operated, acme, external] = await Promise.all([
    signersRead,
    known ?? readRoles(client),
    readDeployments(client, where, (metadata) => installedBy.push(metadata)),
    readOperated(client),
    readAcme(client),
    readExternal(client),
  ]);
  const named = withExternalNames(withAcmeNames(signers, acme, init.secretNamespace), external);
  const installer = installerOf(installedBy);
  return { namespace, signers: named, roles, deployments, operated, installer, acme, external };
}

/** Reads the objects of the operators. */
async function readOperated(client: Client): Promise<ReadResult<readonly OperatedInstallation[]>> {
  const take =
    (kind: OperatedInstallation['kind']) =>
    (object: InstallationObject): readonly OperatedInstallation[] => {
      const { metadata, status, spec } = object;
      const { signers } = membersOf(spec);
      const generation = metadata.generation ?? 0;
      const of = { kind, name: metadata.name, generation, status };
      return [Array.isArray(signers) ? { ...of, signers } : of];
    };
  const [ours, certManagers] = await Promise.all([
    listVisible(client, COUNTERSIGNS, take('Countersign')),
    listVisible(client, CERT_MANAGER_DEPLOYMENTS, take('CertManagerDeployment')),
  ]);
  if (!('value' in ours)) return ours;
  return mapSeen(certManagers, (found) => [...ours.value, ...found]);
}

/**
 * Adds the names of ACME signers, which roles list as well. `acme` reads every account key, because
 * the creator of a key is unknown.
 */
function withAcmeNames(
  signers: ReadResult<SignerFacts>,
  acme: ReadResult<AcmeFacts>,
  secretNamespace: string,
): ReadResult<SignerFacts> {
  if (!('value' in acme)) return signers;
  const ofCluster = acme.value.signers.filter(({ kind }) => kind === 'AcmeClusterSigner');
  if (ofCluster.length === 0) return signers;
  const names = {
    signers: ofCluster.map(({ spec }) => spec.signerName),
    secrets: ofCluster.map(({ spec }) => ({
      namespace: secretNamespace,
      name: spec.acme.accountKey.secret.name,
    })),
  };
  return mapSeen(signers, (facts) => ({
    ...facts,
    installation: { ...facts.installation, acme: names },
  }));
}
