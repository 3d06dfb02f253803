// SPDX-License-Identifier: Apache-2.0
import { bundleName } from '../../../api/object/cluster-trust-bundle.ts';
import { keyOf, type KubeObject } from '../../../api/object/object.ts';
import { secretOf } from '../../../api/signer/cluster-signer.ts';
import { readClusterSigner } from '../../../api/signer/read-signer.ts';
import { isDerivedName } from '../../../api/signer/signer.ts';
import { SignerError, attempt } from '../../../errors.ts';
import type { Client } from '../../../kube/client/client.ts';
import { ignoreNotFound } from '../../../kube/client/kube-error.ts';
import { resource } from '../../../kube/resource/resource.ts';
import type { Installation } from '../../../manifests/installation.ts';
import { CLUSTER_SIGNERS } from '../../../runtime/signers/cluster-signers.ts';

/** The names of ClusterSigners, and those that were left out, with the reason. */
export interface ClusterNames extends Pick<Installation, 'signers' | 'bundles' | 'secrets'> {
  readonly leftOut: readonly string[];
}

/** Which ClusterSigners count. */
export interface ClusterNamesInit {
  /** Those with a Secret in another namespace belong to another installation. */
  readonly secretNamespace: string;
  /** Every installation has the names behind its own ports. */
  readonly servingSigner: string;
}

/**
 * The names that the ClusterSigners of a cluster need in the roles.
 *
 * @throws KubeError if they cannot be listed
 */
export async function clusterNames(
  client: Client,
  { secretNamespace, servingSigner }: ClusterNamesInit,
): Promise<ClusterNames> {
  const path = CLUSTER_SIGNERS.collection();
  const { items } = await client.request<{ readonly items: readonly KubeObject[] }>({
    method: 'GET',
    path,
  });
  const leftOut: string[] = [];
  const taken = items.flatMap((item) => {
    const key = keyOf(item.metadata);
    const read = attempt(() => readClusterSigner(item));
    if (read instanceof SignerError) leftOut.push(`${key}: ${read.message}`);
    else if (secretOf(read.spec).namespace === secretNamespace) return [read];
    else leftOut.push(`${key}: its Secret is not in namespace ${secretNamespace}`);
    return [];
  });
  const ours = taken.filter(({ spec }) => spec.signerName !== servingSigner);
  const unique = (names: readonly string[]): string[] => [...new Set(names)].sort();
  return {
    leftOut,
    signers: unique(ours.map(({ spec }) => spec.signerName)),
    bundles: unique(
      ours.flatMap(({ spec: { signerName, trustBundle } }) =>
        trustBundle === undefined ? [] : [bundleName(signerName, trustBundle.name)],
      ),
    ),
    secrets: unique(ours.map(({ spec }) => secretOf(spec).name)).map((name) => ({
      namespace: secretNamespace,
      name,
    })),
  };
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

/** Those whose rules name signers of every kind of request. */
const WITH_SIGNERS = ['approver', 'signer', 'pcr-issuer', 'attester'];

/**
 * The signer names in the cluster's roles of our components that are not among `printed`: whoever applies the print-out
 * takes them away.
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
