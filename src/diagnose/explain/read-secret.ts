// SPDX-License-Identifier: Apache-2.0
/**
 * Reads the purpose of a Secret. It requests only metadata, so that no key reaches this process.
 */
import { membersOf } from '#base/record.ts';
import { byAge, type KubeObject } from '#api/object/object.ts';
import {
  CERTIFICATE_REQUEST_RESOURCE,
  type CertificateRequest,
} from '#api/request/certificate-request.ts';
import {
  CERTIFICATE_RESOURCE,
  controllingCertificate,
  type CertManagerCertificate,
} from '#api/workload/certificate.ts';
import type { Client } from '#kube/client/client.ts';
import { ignoreNotFound } from '#kube/client/kube-error.ts';
import { SECRETS } from '#kube/resource/core-v1.ts';
import { resource } from '#kube/resource/resource.ts';
import { listReadable } from '#kube/watch/list-objects.ts';
import { CLUSTER_SIGNERS } from '#component/signers/cluster-signers.ts';

const CERTIFICATES = resource(CERTIFICATE_RESOURCE);
const REQUESTS = resource(CERTIFICATE_REQUEST_RESOURCE);
/** Accepts only metadata: a server that does not support this rejects the request. */
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

interface Reference {
  readonly namespace: string;
  readonly name: string;
}

/** The objects that refer to a Secret. */
export interface SecretReferrers {
  /** RFC 3339. Undefined if the Secret does not exist. */
  readonly createdAt: string | undefined;
  /** Names of the ClusterSigners whose CA is in it. */
  readonly signers: readonly string[];
  /** The Certificate of cert-manager that writes it. */
  readonly certificate: string | undefined;
  /** The latest request of that Certificate. */
  readonly request: CertificateRequest | undefined;
}

/**
 * Reads the referrers with the user's permissions. Kinds that are not installed, or that the user
 * may not list, count as empty.
 */
export async function readSecretReferrers(
  client: Client,
  reference: Reference,
): Promise<SecretReferrers> {
  const { namespace, name } = reference;
  const get = { method: 'GET', path: SECRETS.object(reference), accept: METADATA } as const;
  const found = await client.request<KubeObject>(get).catch(ignoreNotFound);
  const signers = await listReadable<KubeObject>(client, CLUSTER_SIGNERS);
  const [certificate] = await listReadable<CertManagerCertificate>(client, CERTIFICATES, {
    namespace,
    keep: ({ spec }) => spec?.secretName === name,
  });
  const requests =
    certificate === undefined
      ? []
      : await listReadable<CertificateRequest>(client, REQUESTS, { namespace });
  const uid = certificate?.metadata.uid;
  const own = requests.filter((each) => controllingCertificate(each)?.uid === uid);
  return {
    createdAt: found?.metadata.creationTimestamp,
    signers: signers.filter((each) => hasCaIn(each, reference)).map((each) => each.metadata.name),
    certificate: certificate?.metadata.name,
    request: own.toSorted(byAge).at(-1),
  };
}

/** Reports whether the CA of a ClusterSigner, even of an invalid one, is in the Secret. */
function hasCaIn(signer: KubeObject, { namespace, name }: Reference): boolean {
  const { managed, secret } = membersOf(membersOf(signer.spec)['authority']);
  const reference = membersOf(membersOf(managed)['secret'] ?? secret);
  return reference['namespace'] === namespace && reference['name'] === name;
}
