// SPDX-License-Identifier: Apache-2.0
import { bundleName } from '#api/object/cluster-trust-bundle.ts';
import { keyOf, type KubeObject } from '#api/object/object.ts';
import {
  byServedKind,
  keysNamespaceOf,
  readsPods,
  secretOrNone,
  servedKinds,
  type ClusterSigner,
  type ServedKind,
  type SecretReference,
} from '#api/signer/cluster-signer.ts';
import { readClusterSigner } from '#api/signer/read-signer.ts';
import { upstreamIssuersOf } from '#api/signer/upstream-issuer.ts';
import { SignerError, attempt } from '#base/errors.ts';
import type { Installation, ServedNames } from './installation.ts';

/** The names of ClusterSigners, and the omitted ones with the reason. */
export interface ClusterNames extends Pick<Installation, 'signers' | 'bundles' | 'secrets'> {
  /** Namespace of the CAs, also if no key is in a Secret. */
  readonly keysNamespace: string;
  /** Names of the signers that serve each kind of requests. */
  readonly served: Readonly<Record<ServedKind, ServedNames>>;
  /** One of them reads pods and Services. */
  readonly podServices: boolean;
  /** Issuers of cert-manager that sign their CAs. */
  readonly upstreamIssuers: readonly string[];
  readonly leftOut: readonly string[];
}

/** Filter of ClusterSigners. */
export interface ClusterNamesInit {
  /**
   * Namespace of the Secrets. ClusterSigners with a Secret in another namespace belong to another
   * installation.
   */
  readonly secretNamespace: string;
  /** Signer name for the components' HTTPS ports, which every installation includes anyway. */
  readonly servingSigner: string;
}

/**
 * Returns the names that the roles must list for these ClusterSigners, each once and sorted.
 *
 * @param items - ClusterSigners as the API server returns them
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
    else if (keysNamespaceOf(read.spec) === secretNamespace) return [read];
    else leftOut.push(`${key}: its Secret is not in namespace ${secretNamespace}`);
    return [];
  });
  const ours = taken.filter(({ spec }) => spec.signerName !== servingSigner);
  return {
    leftOut,
    keysNamespace: secretNamespace,
    podServices: ours.some(({ spec }) => readsPods(spec)),
    upstreamIssuers: unique(upstreamIssuersOf(ours.map(({ spec }) => spec))),
    signers: signersOf(ours),
    bundles: unique(
      ours.flatMap(({ spec: { signerName, trustBundle } }) =>
        trustBundle === undefined ? [] : [bundleName(signerName, trustBundle.name)],
      ),
    ),
    secrets: secretsOf(ours),
    served: byServedKind((kind) => {
      const ofKind = ours.filter(({ spec }) => servedKinds(spec).includes(kind));
      return { signers: signersOf(ofKind), secrets: secretsOf(ofKind) };
    }),
  };
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}

function signersOf(signers: readonly ClusterSigner[]): readonly string[] {
  return unique(signers.map(({ spec }) => spec.signerName));
}

/** Returns the Secrets, which are all in one namespace. */
function secretsOf(signers: readonly ClusterSigner[]): readonly SecretReference[] {
  const secrets = signers.flatMap(({ spec }) => secretOrNone(spec) ?? []);
  const byName = new Map(secrets.map((secret) => [secret.name, secret]));
  return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, secret]) => secret);
}
