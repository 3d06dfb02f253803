// SPDX-License-Identifier: Apache-2.0
/** Many targets, one of them broken indefinitely. */
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';

/** Namespaces with a copy each; one in five has a truststore as well. */
export const CROWD: readonly string[] = Array.from({ length: 50 }, (_none, at) => `crowd-${at}`);

/** The namespace whose ConfigMap nobody can change. */
export const BROKEN = 'broken';

/** {@link CROWD} and {@link BROKEN} as YAML. @param name - of the ConfigMap */
export function crowd(name: string): string {
  const namespace = (each: string, value: string): object => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: each, labels: { 'countersign.dev/trust': value } },
  });
  const fixed = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    immutable: true,
    data: { 'ca.crt': '' },
    metadata: {
      namespace: BROKEN,
      name,
      annotations: { 'countersign.dev/signer-name': 'example.com/workload' },
    },
  };
  const all = CROWD.map((each, at) => namespace(each, at % 5 === 0 ? 'pkcs12' : 'enabled'));
  return [...all, namespace(BROKEN, 'enabled'), fixed]
    .map((each) => JSON.stringify(each))
    .join('\n---\n');
}

/** The CA that signs now. */
export function signing({ status }: ClusterSigner): string {
  return status?.authorities?.find(({ phase }) => phase === 'Active')?.fingerprint ?? '';
}
