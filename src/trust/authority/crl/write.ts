// SPDX-License-Identifier: Apache-2.0
import { secretOf, type ClusterSigner } from '#api/signer/cluster-signer.ts';
import { crlConfigMapName } from '#api/revocation/names.ts';
import type { Revocation, RevocationStatus } from '#api/revocation/revocation.ts';
import type { Client } from '#kube/client/client.ts';
import { CONFIG_MAPS } from '#kube/resource/core-v1.ts';
import { decodeCertificateList, type CertificateList } from '#pki/x509/certificate-list.ts';
import { encodeTbsList } from '#ca/revocation/encode-list.ts';
import type { NextList } from '#ca/revocation/next-list.ts';
import { prepareList } from '#ca/revocation/prepared-list.ts';
import { endsKey, listKey, writeEnds, type CrlConfigMap } from '#ca/revocation/published.ts';
import type { Authority } from '#ca/custody/contract.ts';
import { SignerError, messageOf } from '#base/errors.ts';
import { ownLabels } from '../apply/managed-secret.ts';
import type { CrlPlan, ListPlan } from './decide-lists.ts';
import { REVOCATION_PATHS } from './objects.ts';
import * as messages from '../messages.ts';

/** A CRL that was signed but not published yet. */
export interface SignedList {
  readonly fingerprint: string;
  readonly list: CertificateList;
  readonly ends: Extract<NextList, { due: true }>['ends'];
}

/**
 * Encodes a CRL, reads it strictly, compares it with the request, signs it and reads it again.
 *
 * @throws SignerError (`authority`) if the CA may not sign CRLs, or the encoding differs from the
 * request
 */
function signList(
  authority: Authority,
  { wanted, ends }: Extract<NextList, { due: true }>,
): SignedList {
  const { fingerprint } = authority.facts;
  if (authority.signList === undefined) {
    throw new SignerError({
      code: 'AUTHORITY_INVALID',
      disposition: 'authority',
      message: messages.CRL_SIGN_NOT_ALLOWED,
    });
  }
  const der = authority.signList(prepareList(encodeTbsList(wanted), wanted));
  return { fingerprint, list: decodeCertificateList(der), ends };
}

/** The CRLs that were signed, and why the others were not. */
interface SignedLists {
  readonly lists: readonly SignedList[];
  readonly faults: readonly string[];
}

/** Signs the CRLs that are due. An error of any kind in one does not stop the others. */
export function signDue({ lists }: Pick<CrlPlan, 'lists'>): SignedLists {
  const made = lists.map(signedOrFault);
  return {
    lists: made.flatMap((each) => (typeof each === 'object' ? [each] : [])),
    faults: made.flatMap((each) => (typeof each === 'string' ? [each] : [])),
  };
}

/** @returns undefined if the CRL is not due */
function signedOrFault({ authority, next }: ListPlan): SignedList | string | undefined {
  if (!next.due) return undefined;
  try {
    return signList(authority, next);
  } catch (error) {
    return messages.crlNotSigned(authority.facts.fingerprint, messageOf(error));
  }
}

/** Target and author of CRL writes. */
export interface CrlWriteInit {
  readonly client: Client;
  /** Version of Countersign, for the label that names the last writer. */
  readonly version: string;
  readonly signer: ClusterSigner;
}

/**
 * Creates the ConfigMap, or patches it with the resourceVersion that was read as precondition.
 *
 * @param gone - fingerprints of CAs whose lists are removed
 * @throws KubeError with 409 if another replica wrote first
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
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace, name, labels },
        binaryData: Object.fromEntries(binaryData),
        data: Object.fromEntries(data),
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

/**
 * Writes the status of a Revocation.
 *
 * @throws KubeError with 409 if it has changed since
 */
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
