// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner, ClusterSignerStatus } from '#api/signer/cluster-signer.ts';
import { compileProfile, type Profile } from '#ca/issuance/profile.ts';
import { changed, clusterSigner, workloadSpec } from './cluster-signer.ts';
import { readClusterSigner } from '#api/signer/read-signer.ts';

/** The ClusterSigner of design §2, read; `changes` replaces what lies at these paths. */
export function workload(
  changes: Readonly<Record<string, unknown>> = {},
  more: { metadata?: Partial<ClusterSigner['metadata']>; status?: ClusterSignerStatus } = {},
): ClusterSigner {
  let spec = workloadSpec();
  for (const [path, value] of Object.entries(changes)) spec = changed(spec, path, value);
  const read = readClusterSigner(clusterSigner(spec));
  const metadata = { ...read.metadata, ...more.metadata };
  return more.status === undefined
    ? { ...read, metadata }
    : { ...read, metadata, status: more.status };
}

export function workloadProfile(changes: Readonly<Record<string, unknown>> = {}): Profile {
  return compileProfile(workload(changes).spec);
}
