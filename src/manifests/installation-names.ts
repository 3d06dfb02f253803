// SPDX-License-Identifier: Apache-2.0
import { bundleName } from '../api/object/cluster-trust-bundle.ts';
import { keyOf, type KubeObject } from '../api/object/object.ts';
import { readsPods, secretOf } from '../api/signer/cluster-signer.ts';
import { readClusterSigner } from '../api/signer/read-signer.ts';
import { SignerError, attempt } from '../errors.ts';
import type { Installation } from './installation.ts';

/** The names of ClusterSigners, and those that were left out, with the reason. */
export interface ClusterNames extends Pick<Installation, 'signers' | 'bundles' | 'secrets'> {
  /** Whether one of them asks for pods and Services. */
  readonly podServices: boolean;
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
 * The names that the roles must spell out for these ClusterSigners, each once and sorted.
 *
 * @param items - ClusterSigners as the API server has them
 */
export function installationNames(
  items: readonly KubeObject[],
  { secretNamespace, servingSigner }: ClusterNamesInit,
): ClusterNames {
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
    podServices: ours.some(({ spec }) => readsPods(spec)),
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
