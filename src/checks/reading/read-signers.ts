// SPDX-License-Identifier: Apache-2.0
import { bundleName, type ClusterTrustBundle } from '../../api/object/cluster-trust-bundle.ts';
import type { KubeObject } from '../../api/object/object.ts';
import { DEFAULT_PROPAGATION_SECONDS } from '../../issuance/propagation-gate.ts';
import { readClusterSigner } from '../../api/signer/read-signer.ts';
import { SignerError, attempt } from '../../errors.ts';
import { installationNames } from '../../manifests/installation-names.ts';
import type { ReadBundle, SignerState } from '../../operations/signer-state.ts';
import { certificatesResourceIfServed } from '../../app/certificates-resources.ts';
import { serverTime } from '../../runtime/component/server-time.ts';
import { CLUSTER_SIGNERS } from '../../runtime/signers/cluster-signers.ts';
import type { ReadInit, SignerFacts } from '../facts.ts';
import type { Seen } from '../finding.ts';
import { mapSeen, seeAll } from './see.ts';

/** Lists the ClusterSigners and the bundles once each: a thousand of them are two lists. */
export async function readSigners(init: ReadInit): Promise<Seen<SignerFacts>> {
  const { client } = init;
  const [objects, bundles] = await Promise.all([
    seeAll<KubeObject, KubeObject>(client, CLUSTER_SIGNERS, (each) => [each]),
    readBundles(init),
  ]);
  return mapSeen(objects, (found) => factsOf(init, found, bundles));
}

function factsOf(
  init: ReadInit,
  objects: readonly KubeObject[],
  bundles: Seen<ReadonlyMap<string, ClusterTrustBundle>>,
): SignerFacts {
  const now = serverTime(init);
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
    states.push({ signer, bundle, propagationSeconds: DEFAULT_PROPAGATION_SECONDS, now });
  }
  const { leftOut: _leftOut, ...names } = installationNames(objects, init);
  const { namespace, servingSigner } = init;
  return { states, invalid, installation: { ...names, namespace, servingSigner } };
}

async function readBundles({
  client,
}: ReadInit): Promise<Seen<ReadonlyMap<string, ClusterTrustBundle>>> {
  const kind = await certificatesResourceIfServed(client, 'clustertrustbundles');
  if (kind === undefined) return { value: new Map() };
  const found = await seeAll<ClusterTrustBundle, readonly [string, ClusterTrustBundle]>(
    client,
    kind,
    (bundle) => (bundle.spec.signerName === undefined ? [] : [[bundle.metadata.name, bundle]]),
  );
  return mapSeen(found, (all) => new Map(all));
}
