// SPDX-License-Identifier: Apache-2.0
import { secretOf, type ClusterSigner } from '../../../api/signer/cluster-signer.ts';
import {
  crlConfigMapName,
  type Revocation,
  type RevocationStatus,
} from '../../../api/revocation/revocation.ts';
import type { Client } from '../../../kube/client/client.ts';
import { CONFIG_MAPS } from '../../../kube/resource/core-v1.ts';
import { decodeCertificateList, type CertificateList } from '../../../pki/x509/certificate-list.ts';
import { encodeTbsList } from '../../../revocation/encode-list.ts';
import type { NextList } from '../../../revocation/next-list.ts';
import { prepareList } from '../../../revocation/prepared-list.ts';
import { endsKey, listKey, writeEnds, type CrlConfigMap } from '../../../revocation/published.ts';
import type { Authority } from '../../../authorities/contract.ts';
import { SignerError } from '../../../errors.ts';
import { ownLabels } from '../apply/managed-secret.ts';
import { REVOCATION_PATHS } from './objects.ts';

/** A CRL that was signed, and is not published yet. */
export interface SignedList {
  readonly fingerprint: string;
  readonly list: CertificateList;
  readonly ends: Extract<NextList, { due: true }>['ends'];
}

/**
 * Signs a CRL: encoded, read strictly, compared with what was wanted, signed, read again.
 *
 * @throws SignerError (`authority`) where the CA may not sign CRLs, or what was encoded is not what was wanted
 */
export function signList(
  authority: Authority,
  { wanted, ends }: Extract<NextList, { due: true }>,
): SignedList {
  const { fingerprint } = authority.facts;
  if (authority.signList === undefined) {
    throw new SignerError({
      code: 'AUTHORITY_INVALID',
      disposition: 'authority',
      message: 'the CA signs no CRLs here',
    });
  }
  const der = authority.signList(prepareList(encodeTbsList(wanted), wanted));
  return { fingerprint, list: decodeCertificateList(der), ends };
}

/** Where CRLs are written, and by whom. */
export interface CrlWriteInit {
  readonly client: Client;
  /** The version of Countersign; labels say which version wrote last. */
  readonly version: string;
  readonly signer: ClusterSigner;
}

/**
 * One write: the ConfigMap is created, or patched with the version that was read as precondition.
 *
 * @param gone - fingerprints of CAs whose lists are removed
 * @throws KubeError, a 409 where another replica was faster
 */
export function writeLists(
  { client, version, signer }: CrlWriteInit,
  before: CrlConfigMap | undefined,
  { signed, gone }: { readonly signed: readonly SignedList[]; readonly gone: readonly string[] },
): Promise<CrlConfigMap> {
  const { namespace, name: secretName } = secretOf(signer.spec);
  const name = crlConfigMapName(secretName);
  const binaryData = signed.map(({ fingerprint, list }): [string, string] => [
    listKey(fingerprint),
    Buffer.from(list.raw).toString('base64'),
  ]);
  const data = signed.map(({ fingerprint, ends }): [string, string] => [
    endsKey(fingerprint),
    writeEnds(ends),
  ]);
  const labels = ownLabels(signer, version);
  const removed = (keyOf: (fingerprint: string) => string): [string, null][] =>
    gone.map((each) => [keyOf(each), null]);
  if (before === undefined) {
    return client.request<CrlConfigMap>({
      method: 'POST',
      path: CONFIG_MAPS.collection(namespace),
      body: {
        ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name, labels } },
        ...{ binaryData: Object.fromEntries(binaryData), data: Object.fromEntries(data) },
      },
    });
  }
  return client.request<CrlConfigMap>({
    method: 'PATCH',
    path: CONFIG_MAPS.object({ namespace, name }),
    contentType: 'application/merge-patch+json',
    body: {
      metadata: { resourceVersion: before.metadata.resourceVersion, labels },
      binaryData: Object.fromEntries<string | null>([...removed(listKey), ...binaryData]),
      data: Object.fromEntries<string | null>([...removed(endsKey), ...data]),
    },
  });
}

/** Writes the status of a Revocation. @throws KubeError, a 409 where it has changed since */
export function writeRevocationStatus(
  client: Client,
  revocation: Revocation,
  status: RevocationStatus,
): Promise<Revocation> {
  return client.request<Revocation>({
    method: 'PUT',
    path: `${REVOCATION_PATHS.object(revocation.metadata)}/status`,
    body: { ...revocation, status },
  });
}
