// SPDX-License-Identifier: Apache-2.0
import { membersOf } from '#base/record.ts';
import { bundleName, type ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { TRUST_DOMAIN } from '#api/object/federated-bundle.ts';
import type { KubeObject } from '#api/object/object.ts';
import { resolveNameConflicts, type NameClaimant } from '#api/signer/name-conflict.ts';
import { readClusterSigner } from '#api/signer/read-signer.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { installationNames } from '#install/installation-names.ts';
import type { ReadBundle, SignerState } from '#operations/signer-state.ts';
import { serverTime } from '#component/server-time.ts';
import { CLUSTER_SIGNERS } from '#component/signers/cluster-signers.ts';
import type { ReadInit, SignerFacts } from '../facts.ts';
import type { ReadResult } from '../finding.ts';
import { listVisible, listVisibleVersion, mapSeen } from './list-visible.ts';

/**
 * Lists all ClusterSigners and all bundles in one list request each, because there may be a
 * thousand.
 */
export async function readSigners(init: ReadInit): Promise<ReadResult<SignerFacts>> {
  const { client } = init;
  const [objects, bundles] = await Promise.all([
    listVisible<KubeObject, KubeObject>(client, CLUSTER_SIGNERS, (each) => [each]),
    readBundles(init),
  ]);
  return mapSeen(objects, (found) => factsOf(init, found, bundles));
}

function factsOf(
  init: ReadInit,
  objects: readonly KubeObject[],
  bundles: ReadResult<ReadonlyMap<string, ClusterTrustBundle>>,
): SignerFacts {
  const now = serverTime(init);
  const { propagationSeconds } = init;
  const states: SignerState[] = [];
  const invalid: { name: string; why: string }[] = [];
  for (const object of objects) {
    const { name } = object.metadata;
    const signer = attempt(() => readClusterSigner(object));
    if (signer instanceof SignerError) {
      invalid.push({ name, why: signer.message });
      continue;
    }
    const { signerName, trustBundle } = signer.spec;
    const bundle: ReadBundle =
      'lacks' in bundles
        ? 'unread'
        : bundles.value.get(bundleName(signerName, trustBundle?.name ?? ''));
    states.push({ signer, bundle, propagationSeconds, now });
  }
  const { conflicting } = resolveNameConflicts(objects.filter(isClaimant));
  // If two ClusterSigners share a signer name, the newer one serves nothing and needs no role.
  const serving = objects.filter(({ metadata }) => !conflicting.has(metadata.name));
  const { leftOut: _leftOut, ...names } = installationNames(serving, init);
  const { namespace, servingSigner } = init;
  const federated =
    'lacks' in bundles ? {} : { federated: [...bundles.value.values()].filter(isFederated) };
  return { states, invalid, installation: { ...names, namespace, servingSigner }, ...federated };
}

function isClaimant(object: KubeObject): object is NameClaimant {
  return typeof membersOf(object.spec)['signerName'] === 'string';
}

/** Reports whether `federation` writes the bundle. */
function isFederated({ metadata, spec }: ClusterTrustBundle): boolean {
  const trustDomain = metadata.annotations?.[TRUST_DOMAIN];
  return spec.signerName === undefined && trustDomain !== undefined;
}

async function readBundles({
  client,
}: ReadInit): Promise<ReadResult<ReadonlyMap<string, ClusterTrustBundle>>> {
  const found = await listVisibleVersion<ClusterTrustBundle, readonly [string, ClusterTrustBundle]>(
    client,
    'clustertrustbundles',
    (bundle) =>
      bundle.spec.signerName === undefined && !isFederated(bundle)
        ? []
        : [[bundle.metadata.name, bundle]],
  );
  return mapSeen(found, (all) => new Map(all));
}
