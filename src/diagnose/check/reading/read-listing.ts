// SPDX-License-Identifier: Apache-2.0
import { keysNamespaceOf, type ClusterSigner } from '#api/signer/cluster-signer.ts';
import { DEFAULT_SECRET_NAMESPACE, OWN_TLS_SIGNER } from '#api/signer/own-tls.ts';
import { checkListed, type ListingFacts } from '../access/listed-signers.ts';
import type { ReadInit } from '../facts.ts';
import type { Outcome } from '../finding.ts';
import { installerOf, type InstalledMetadata } from '../installer.ts';
import { readRoles } from './read-access.ts';
import { readAcme } from './read-acme.ts';
import { readDeployments } from './read-deployments.ts';
import { readExternal, withExternalNames } from './read-external.ts';
import { readOperated, withAcmeNames } from './read-installation.ts';
import { readSigners } from './read-signers.ts';

type ListingInit = Pick<ReadInit, 'client' | 'clock' | 'propagationSeconds'>;

/**
 * Returns what `signers-listed` finds about one ClusterSigner: that no role names it, and how this
 * installation lists it. Undefined if a role names it, or if the user may not read that.
 *
 * @throws KubeError for any error but 403
 */
export async function readUnlisted(
  init: ListingInit,
  signer: ClusterSigner,
): Promise<Outcome | undefined> {
  const facts = await readListing(init, keysNamespaceOf(signer.spec) ?? DEFAULT_SECRET_NAMESPACE);
  // Without the Deployments, the installer is unknown, and so is its command.
  if (!('value' in facts.deployments)) return undefined;
  const subject = `clustersigner/${signer.metadata.name}`;
  return checkListed(facts).find((each) => each.severity === 'error' && each.subject === subject);
}

async function readListing(init: ListingInit, secretNamespace: string): Promise<ListingFacts> {
  const { client } = init;
  const installedBy: InstalledMetadata[] = [];
  const place = { namespace: '', secretNamespace, servingSigner: OWN_TLS_SIGNER };
  const [signers, roles, deployments, operated, acme, external] = await Promise.all([
    readSigners({ ...init, ...place }),
    readRoles(client),
    // The namespace of the components is unknown here.
    readDeployments(client, undefined, (metadata) => installedBy.push(metadata)),
    readOperated(client),
    readAcme(client),
    readExternal(client),
  ]);
  const named = withExternalNames(withAcmeNames(signers, acme, secretNamespace), external);
  return { signers: named, roles, deployments, operated, installer: installerOf(installedBy) };
}
