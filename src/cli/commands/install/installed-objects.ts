// SPDX-License-Identifier: Apache-2.0
/** Finds and deletes the objects of `countersign install`, whatever its values were. */
import type { KubeObject } from '#api/object/object.ts';
import { ownTlsSecret } from '#api/signer/own-tls.ts';
import { isRecord } from '#base/record.ts';
import { installerOf, isInstalled } from '#diagnose/check/installer.ts';
import { COMPONENTS } from '#install/component-list.ts';
import { isLasting } from '#install/lasting.ts';
import { kindRules, ruleOf, stepIndexOf, type KindRule } from '#kube/apply/objects/kinds.ts';
import { listOf, titleOf, type ManagedObject } from '#kube/apply/objects/managed-object.ts';
import type { Client } from '#kube/client/client.ts';
import { ignoreNotFound, KubeError } from '#kube/client/kube-error.ts';
import { LEASES } from '#kube/lease/lease.ts';
import type { Resource } from '#kube/resource/resource.ts';
import { listObjects } from '#kube/watch/list-objects.ts';
import { isAppliedRbac, isOfInstallation } from './hand-over.ts';
import { INSTALLED, METADATA_LIST } from './left-behind.ts';

/** Parts of the installations in a cluster. */
export interface InstalledParts {
  /**
   * The objects that `install` applied, as their managed fields show, the last step first. They
   * include objects of `countersign rbac` that kubectl applied beside them. There are none if the
   * operator or a Helm release manages the components by now: that installation uses the rest.
   */
  readonly objects: readonly ManagedObject[];
  /** The namespaces of the components of any installer. */
  readonly namespaces: ReadonlySet<string>;
}

/**
 * Reads the objects of `install`, and the namespaces of components.
 *
 * @throws KubeError
 */
export async function readInstalled(client: Client): Promise<InstalledParts> {
  const found: ManagedObject[] = [];
  // Secrets hold keys. An uninstallation deletes none of them.
  for (const rule of kindRules().filter(({ kind }) => kind !== 'Secret'))
    found.push(...(await objectsOf(client, rule)));
  const namespaces = componentNamespaces(found);
  return { objects: lastFirst(ownObjects(found, namespaces)), namespaces };
}

function ownObjects(
  found: readonly ManagedObject[],
  namespaces: ReadonlySet<string>,
): readonly ManagedObject[] {
  const own = found.filter(({ metadata }) => isInstalled(metadata));
  if (own.length === 0) return [];
  const deployments = found.filter(
    ({ kind, metadata: { namespace = '' } }) => kind === 'Deployment' && namespaces.has(namespace),
  );
  const { kind } = installerOf(deployments.map(({ metadata }) => metadata));
  if (kind === 'helm' || kind === 'operator') return [];
  // The Deployments of another program need the roles that were applied with them.
  const isAlone = deployments.every(({ metadata }) => isInstalled(metadata));
  return isAlone ? found.filter((each) => own.includes(each) || isAppliedRbac(each)) : own;
}

/**
 * Returns the namespaces of an installation, and those whose ServiceAccounts have a ClusterRole of
 * one. Only their Deployments are components. A tenant may put any label on a Deployment, but may
 * label no namespace, and may bind no ClusterRole to the whole cluster. The bindings go with an
 * uninstallation, and the namespaces stay.
 *
 * @param objects - with the bindings and the namespaces
 */
function componentNamespaces(objects: readonly ManagedObject[]): ReadonlySet<string> {
  const bindings = objects.filter(({ kind }) => kind === 'ClusterRoleBinding');
  const subjects = bindings.flatMap((each) => listOf(each['subjects'])).filter(isRecord);
  const own = objects.filter(({ kind }) => kind === 'Namespace');
  return new Set([
    ...subjects.map(({ namespace }) => String(namespace)),
    ...own.map(({ metadata }) => metadata.name),
  ]);
}

/**
 * Names of the only Secrets that `install` deletes. Every writer of an object can claim a field
 * manager in it, and no such claim may end the key of a CA.
 */
const SERVING_SECRETS: ReadonlySet<string> = new Set([...COMPONENTS.keys()].map(ownTlsSecret));

/**
 * Returns the objects that `install` applied for earlier values and that the present values lack,
 * such as the Service and the Secret of a disabled component. Keys, records and trust stay.
 *
 * @param desired - the objects for the present values
 */
export async function supersededObjects(
  client: Client,
  desired: readonly ManagedObject[],
): Promise<readonly ManagedObject[]> {
  const wanted = new Set(desired.map(titleOf));
  const secrets = kindRules().filter(({ kind }) => kind === 'Secret');
  const found = [...(await readInstalled(client)).objects];
  for (const rule of secrets) {
    const all = await namesOf(client, rule);
    found.push(...all.filter(({ metadata: { name } }) => SERVING_SECRETS.has(name)));
  }
  return lastFirst(
    found.filter(
      (each) =>
        isInstalled(each.metadata) &&
        !wanted.has(titleOf(each)) &&
        !isLasting(each.kind, each.metadata.name),
    ),
  );
}

function lastFirst(objects: readonly ManagedObject[]): readonly ManagedObject[] {
  return objects.toSorted((a, b) => stepIndexOf(b) - stepIndexOf(a));
}

async function objectsOf(client: Client, rule: KindRule): Promise<readonly ManagedObject[]> {
  const { apiVersion, kind, resource } = rule;
  const keep = (each: ManagedObject): boolean =>
    isInstalled(each.metadata) || isOfInstallation(each);
  const ours = await listObjects<ManagedObject & KubeObject>(client, resource, { keep }).catch(
    ignoreNotFound,
  );
  // If the API server does not serve the kind, `install` created no object of it.
  return (ours ?? []).map((each) => ({ ...each, apiVersion, kind }));
}

/** Lists only the metadata of an installation's objects, since Secrets hold keys. */
async function namesOf(
  client: Client,
  { apiVersion, kind, resource }: KindRule,
): Promise<readonly ManagedObject[]> {
  const found = await listObjects<ManagedObject>(client, resource, {
    labelSelector: INSTALLED,
    accept: METADATA_LIST,
  });
  return found.map(({ metadata }) => ({ apiVersion, kind, metadata }));
}

/**
 * Deletes one object if it still has the UID that was listed. It ignores an absent object.
 *
 * @throws KubeError
 */
export async function removeObject(
  client: Client,
  object: ManagedObject,
  dryRun: boolean,
): Promise<void> {
  await removeAt(client, ruleOf(object).resource, { metadata: object.metadata, dryRun });
}

async function removeAt(
  client: Client,
  of: Resource,
  { metadata, dryRun }: Pick<ManagedObject, 'metadata'> & { readonly dryRun: boolean },
): Promise<void> {
  const options = {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    propagationPolicy: 'Background',
    preconditions: { uid: metadata.uid },
    ...(dryRun ? { dryRun: ['All'] } : {}),
  };
  const path = of.object(metadata);
  await client.request({ method: 'DELETE', path, body: options }).catch((error: unknown) => {
    if (!(error instanceof KubeError) || error.status !== 404) throw error;
  });
}

/**
 * Statuses of a deletion that changes nothing: no permission, another UID, or an admission policy.
 * Tenants can cause the last two with Leases of their own.
 */
const REFUSED: readonly number[] = [400, 403, 409, 422];

/**
 * Deletes a Lease of a component that has stopped. A component that lost its role first could not
 * release the Lease, and the next installation would read its last report.
 *
 * @returns kept if the API server refuses to delete it, or if another client has replaced it. It
 *   expires within a minute
 * @throws KubeError without an answer of the API server
 */
export async function removeLease(
  client: Client,
  lease: ManagedObject,
  dryRun: boolean,
): Promise<'kept' | 'deleted'> {
  try {
    await removeAt(client, LEASES, { metadata: lease.metadata, dryRun });
    return 'deleted';
  } catch (error) {
    if (!(error instanceof KubeError) || !REFUSED.includes(error.status)) throw error;
    return 'kept';
  }
}
