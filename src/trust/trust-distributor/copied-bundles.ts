// SPDX-License-Identifier: Apache-2.0
import { isManaged, publisherOf } from '#api/signer/bundle-annotations.ts';
import { bundleName, type ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { trustConfigMapName } from '#api/object/trust-config-map.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';

/**
 * Maximum number of retired bundles with copies, so that a client that creates many bundles cannot
 * cause a watch for each.
 */
const MAX_RETIRED = 64;

/** A bundle whose copies are kept: ConfigMaps of one name in all namespaces. */
export interface CopiedBundle {
  /** The name of the ClusterTrustBundle. */
  readonly bundle: string;
  readonly signerName: string;
  /** The name of the ClusterSigner that publishes the bundle, or did. */
  readonly clusterSigner: string;
  /** The ClusterSigner that publishes the bundle. Undefined for a retired bundle. */
  readonly publisher: ClusterSigner | undefined;
}

/** Inputs for the set of copied bundles. */
export interface CopiedBundlesSnapshot {
  /** The serving ClusterSigners. */
  readonly signers: readonly ClusterSigner[];
  readonly bundles: readonly ClusterTrustBundle[];
  readonly secretNamespace: string;
  /** The result of the last call. */
  readonly before: ReadonlyMap<string, CopiedBundle>;
  /** Reports whether a ConfigMap of this name may still be a copy. */
  readonly hasCopies: (name: string) => boolean;
}

/**
 * Returns the copied bundles by the name of their ConfigMap. A bundle that no ClusterSigner
 * publishes any more is among them while it exists, and then until its last copy is gone: the
 * copies would otherwise hold a CA that is distrusted later.
 */
export function copiedBundles(snapshot: CopiedBundlesSnapshot): ReadonlyMap<string, CopiedBundle> {
  const copied = new Map<string, CopiedBundle>();
  // Two bundles may map to the same ConfigMap name. The first keeps it.
  for (const each of published(snapshot.signers)) addNew(copied, each);
  const limit = copied.size + MAX_RETIRED;
  for (const each of retired(snapshot)) if (copied.size < limit) addNew(copied, each);
  return copied;
}

function addNew(copied: Map<string, CopiedBundle>, added: CopiedBundle): void {
  const name = trustConfigMapName(added.bundle);
  if (!copied.has(name)) copied.set(name, added);
}

function published(signers: readonly ClusterSigner[]): readonly CopiedBundle[] {
  return signers.flatMap((publisher) => {
    const { signerName, trustBundle } = publisher.spec;
    if (trustBundle === undefined) return [];
    const clusterSigner = publisher.metadata.name;
    const bundle = bundleName(signerName, trustBundle.name);
    return [{ bundle, signerName, clusterSigner, publisher }];
  });
}

/** Returns the bundles of this installation as if no ClusterSigner published them. */
function retired(snapshot: CopiedBundlesSnapshot): readonly CopiedBundle[] {
  const { bundles, secretNamespace, before, hasCopies } = snapshot;
  const served = new Map(bundles.map((each) => [each.metadata.name, each]));
  const known = [...before].filter(([name, { bundle }]) => {
    const found = served.get(bundle);
    return found === undefined ? hasCopies(name) : isManaged(found, secretNamespace);
  });
  const managed = bundles.filter((each) => isManaged(each, secretNamespace));
  return [
    ...known.map(([, each]) => ({ ...each, publisher: undefined })),
    ...managed.map((each) => ({
      bundle: each.metadata.name,
      signerName: each.spec.signerName ?? '',
      clusterSigner: publisherOf(each),
      publisher: undefined,
    })),
  ];
}
