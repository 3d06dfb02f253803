// SPDX-License-Identifier: Apache-2.0
/** The effects of an uninstallation on those who use certificates, CRLs and bundles. */
import { crlConfigMapName } from '#api/revocation/names.ts';
import { secretOrNone, type ClusterSigner } from '#api/signer/cluster-signer.ts';
import { CLUSTER_SIGNERS } from '#component/signers/cluster-signers.ts';
import type { Client } from '#kube/client/client.ts';
import { ignoreNotFound } from '#kube/client/kube-error.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { listObjects } from '#kube/watch/list-objects.ts';
import type { LeftBehind } from './left-behind.ts';

/** Effect of a Service whose callers are outside the installation, by its name. */
const PUBLIC_SERVICES: Readonly<Record<string, string>> = {
  'countersign-crl': 'a verifier gets no CRL from it any longer',
  'countersign-bundle-endpoint-spiffe':
    'other trust domains keep the bundle that they have, and learn of no new CA',
  'countersign-bundle-endpoint-web':
    'other trust domains keep the bundle that they have, and learn of no new CA',
};

/** A ClusterSigner with CRLs, as far as its verifiers depend on it. */
export type ListedSigner = Pick<ClusterSigner, 'metadata' | 'spec'>;

/**
 * Lists the ClusterSigners that sign CRLs.
 *
 * @throws KubeError
 */
export async function readListedSigners(client: Client): Promise<readonly ListedSigner[]> {
  const found = await listObjects<ClusterSigner>(client, CLUSTER_SIGNERS, {
    keep: ({ spec }) => spec.profile.crl !== undefined,
  }).catch(ignoreNotFound);
  return found ?? [];
}

/**
 * Returns a line for each effect. Pure.
 *
 * @param gone - the objects that are deleted
 */
export function impactOf(
  left: Pick<LeftBehind, 'signers'>,
  gone: readonly ManagedObject[],
  listed: readonly ListedSigner[],
): readonly string[] {
  const isIssuing = left.signers.some(({ kind }) => kind.endsWith('Signer'));
  const services = gone.flatMap(({ kind, metadata }) => {
    const effect = kind === 'Service' ? PUBLIC_SERVICES[metadata.name] : undefined;
    return effect === undefined ? [] : [`Service ${metadata.name} goes: ${effect}`];
  });
  return [
    ...(isIssuing
      ? [
          'nothing issues or renews certificates: those in use stay valid until they expire, and new pods with podCertificate volumes wait',
        ]
      : []),
    ...services,
    ...listed.map(withoutLists),
  ];
}

function withoutLists({ metadata, spec }: ListedSigner): string {
  const { urls = [], validity } = spec.profile.crl ?? { validity: '' };
  const secret = secretOrNone(spec);
  const file =
    secret === undefined
      ? 'its CRLs'
      : `ConfigMap ${secret.namespace}/${crlConfigMapName(secret.name)}`;
  const where = urls.length === 0 ? '' : `, at ${urls.join(', ')}`;
  return `ClusterSigner ${metadata.name}: no component signs or serves its CRLs${where}. A verifier that requires a CRL rejects its certificates once its copy is past nextUpdate, ${validity} after it was signed; a verifier that requires none accepts revoked ones. Until then, serve what ${file} has there; install again to have new ones`;
}
