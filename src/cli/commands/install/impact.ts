// SPDX-License-Identifier: Apache-2.0
/** Describes the effects of an uninstallation on users of certificates, CRLs and bundles. */
import { crlConfigMapName } from '#api/revocation/names.ts';
import { secretOrNone, type ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';
import type { LeftBehind } from './left-behind.ts';

const NO_BUNDLE =
  'other trust domains cannot fetch the bundle: they keep the last one, and do not trust a new CA';

/** Effect of a Service whose callers are outside the installation, by its name. */
const PUBLIC_SERVICES: Readonly<Record<string, string>> = {
  'countersign-crl': 'verifiers cannot fetch CRLs from it',
  'countersign-bundle-endpoint-spiffe': NO_BUNDLE,
  'countersign-bundle-endpoint-web': NO_BUNDLE,
};

/**
 * Returns a line for each effect. Pure.
 *
 * @param gone - the objects that are deleted
 */
export function impactOf(
  left: Pick<LeftBehind, 'signers'>,
  gone: readonly ManagedObject[],
): readonly string[] {
  const isIssuing = left.signers.some(({ kind }) => kind.endsWith('Signer'));
  const services = gone.flatMap(({ kind, metadata }) => {
    const effect = kind === 'Service' ? PUBLIC_SERVICES[metadata.name] : undefined;
    return effect === undefined ? [] : [`Service ${metadata.name} is deleted: ${effect}`];
  });
  return [
    ...(isIssuing
      ? [
          'no component issues or renews certificates: those in use stay valid until they expire, and new pods with podCertificate volumes wait',
        ]
      : []),
    ...services,
    ...left.signers.filter(isClusterSigner).flatMap(withoutLists),
  ];
}

function isClusterSigner(object: ManagedObject): object is ManagedObject & ClusterSigner {
  return object.kind === 'ClusterSigner';
}

function withoutLists({ metadata, spec }: ClusterSigner): readonly string[] {
  if (spec.profile.crl === undefined) return [];
  const { urls = [], validity } = spec.profile.crl;
  const secret = secretOrNone(spec);
  const file =
    secret === undefined
      ? 'the ConfigMap with its CRLs'
      : `ConfigMap ${secret.namespace}/${crlConfigMapName(secret.name)}`;
  const where = urls.length === 0 ? '' : ` at ${urls.join(', ')}`;
  return [
    `ClusterSigner ${metadata.name}: no component signs its CRLs, or serves them${where}. A CRL expires at its nextUpdate, ${validity} after it was signed. After that, verifiers that require a CRL reject all certificates of this signer, and other verifiers accept revoked ones. Until nextUpdate, serve the last CRLs${where} yourself: ${file} has them. To get new CRLs, install again`,
  ];
}
