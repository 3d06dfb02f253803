// SPDX-License-Identifier: Apache-2.0
/** The hub, as all commands of a fleet see it. */
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { CLUSTER_NAME, FLEET_SIGNER } from '#api/signer/upstream-hub.ts';
import { FLEET_MEMBERS } from '#api/signer/fleet-member.ts';
import { MAX_SIGNER_NAME } from '#api/signer/signer-name.ts';
import type { KubeObject } from '#api/object/object.ts';
import { usageError } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import { ignoreNotFound } from '#kube/client/kube-error.ts';
import { ruleOf } from '#kube/apply/objects/kinds.ts';
import { toManagedObject } from '#kube/apply/objects/managed-object.ts';
import { NAMESPACES } from '#kube/resource/core-v1.ts';
import { resource } from '#kube/resource/resource.ts';
import type { Manifest } from '#install/roles.ts';
import { clusterSignersOf } from '#cli/sources/issued-certificates.ts';
import type { UserOptions } from '#cli/user-options.ts';

/** Flags of all commands. */
export interface FleetOptions extends UserOptions {
  readonly signer: string;
  readonly fleetNamespace: string;
}

/** FleetMembers, which the table of kinds for the operator does not have. */
export const MEMBERS = resource(FLEET_MEMBERS);

/** @throws SignerError USAGE */
export function checkCluster(cluster: string): void {
  if (CLUSTER_NAME.test(cluster)) return;
  throw usageError(
    'the name of a cluster has lower-case letters, digits and inner hyphens, 63 at most',
  );
}

/** Returns the signer that signs the CAs of members. Undefined if it does not exist. */
export async function hubSignerOf(
  client: Client,
  signerName: string,
): Promise<ClusterSigner | undefined> {
  const signers = await clusterSignersOf(client);
  return signers.find(
    ({ spec }) => spec.signerName === signerName && spec.intermediates !== undefined,
  );
}

/** Identifies the fields that these commands set (server-side apply). */
const FIELD_MANAGER = 'countersign-fleet';

/**
 * Returns the signer of the hub, and the name of its bundle.
 *
 * @throws KubeError, or SignerError USAGE if this cluster is not that hub
 */
export async function hubOf(
  client: Client,
  signerName: string,
): Promise<{ readonly signer: ClusterSigner; readonly bundle: string }> {
  const signer = await hubSignerOf(client, signerName);
  const bundle = signer?.spec.trustBundle?.name;
  if (signer !== undefined && bundle !== undefined) return { signer, bundle };
  throw usageError(
    `there is no ClusterSigner ${signerName.slice(0, MAX_SIGNER_NAME)} with intermediates and trustBundle; run the command with the kubeconfig of the hub`,
  );
}

/**
 * Reads the Namespace of a fleet. Undefined if it does not exist.
 *
 * @throws KubeError, or SignerError USAGE if it has the members of another signer
 */
export async function fleetNamespaceOf(
  client: Client,
  { namespace, signerName }: { readonly namespace: string; readonly signerName: string },
): Promise<KubeObject | undefined> {
  const path = NAMESPACES.object({ name: namespace });
  const found = await client.request<KubeObject>({ method: 'GET', path }).catch(ignoreNotFound);
  const other = found?.metadata.annotations?.[FLEET_SIGNER];
  if (other === undefined || other === signerName) return found;
  throw usageError(
    `Namespace ${namespace} has the members of ${other.slice(0, MAX_SIGNER_NAME)}; choose another --fleet-namespace`,
  );
}

/** Creates an object, or restores its fields. */
export async function applyObject(
  client: Client,
  manifest: Manifest,
  path = pathOf(manifest),
): Promise<void> {
  await client.request({
    method: 'PATCH',
    path,
    query: { fieldManager: FIELD_MANAGER, force: true },
    contentType: 'application/apply-patch+yaml',
    body: manifest,
  });
}

/**
 * Deletes the object of a path.
 *
 * @returns false if it does not exist
 */
export async function deletePath(client: Client, path: string): Promise<boolean> {
  const answer = await client.request<unknown>({ method: 'DELETE', path }).catch(ignoreNotFound);
  return answer !== undefined;
}

/** Returns the path of an object in the API. */
export function pathOf(manifest: Manifest): string {
  const object = toManagedObject(manifest);
  return ruleOf(object).resource.object(object.metadata);
}
