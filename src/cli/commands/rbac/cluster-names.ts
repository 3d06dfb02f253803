// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '#api/object/object.ts';
import { isDerivedName } from '#api/signer/signer.ts';
import type { Client } from '#kube/client/client.ts';
import { ignoreNotFound } from '#kube/client/kube-error.ts';
import { resource } from '#kube/resource/resource.ts';
import {
  installationNames,
  type ClusterNames,
  type ClusterNamesInit,
} from '#install/installation-names.ts';
import { CLUSTER_SIGNERS } from '#component/signers/cluster-signers.ts';

/**
 * Returns the names in the roles that the ClusterSigners of a cluster need.
 *
 * @throws KubeError if they cannot be listed
 */
export async function clusterNames(client: Client, init: ClusterNamesInit): Promise<ClusterNames> {
  const path = CLUSTER_SIGNERS.collection();
  const { items } = await client.request<{ readonly items: readonly KubeObject[] }>({
    method: 'GET',
    path,
  });
  return installationNames(items, init);
}

const CLUSTER_ROLES = resource({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'clusterroles',
});

interface ClusterRole {
  readonly rules?: readonly {
    readonly resources?: readonly string[];
    readonly resourceNames?: readonly string[];
  }[];
}

/** Components whose rules name signers of every kind of request. */
const WITH_SIGNERS = ['approver', 'signer', 'pcr-issuer', 'attester'];

/**
 * Returns the signer names in the cluster's component roles that are not among `printed`. Applying
 * the output removes them.
 *
 * @throws KubeError if the roles cannot be read
 */
export async function lostSigners(
  client: Client,
  printed: readonly string[],
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const roles = await Promise.all(
    WITH_SIGNERS.map((component) => {
      const path = CLUSTER_ROLES.object({ name: `countersign-${component}` });
      return client.request<ClusterRole>({ method: 'GET', path, signal }).catch(ignoreNotFound);
    }),
  );
  const named = roles
    .flatMap((role) => role?.rules ?? [])
    .filter(({ resources = [] }) => resources.includes('signers'))
    .flatMap(({ resourceNames = [] }) => resourceNames);
  return [...new Set(named)]
    .filter((name) => !printed.includes(name) && !isDerivedName(name))
    .sort();
}
