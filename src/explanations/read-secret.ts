// SPDX-License-Identifier: Apache-2.0
/** What a Secret is for. Only its metadata is asked for, so that no key reaches this process. */
import { byAge, type KubeObject } from '../api/object/object.ts';
import {
  CERTIFICATE_REQUEST_RESOURCE,
  type CertificateRequest,
} from '../api/request/certificate-request.ts';
import {
  CERTIFICATE_RESOURCE,
  controllingCertificate,
  type CertManagerCertificate,
} from '../api/workload/certificate.ts';
import type { Client } from '../kube/client/client.ts';
import { KubeError, ignoreNotFound } from '../kube/client/kube-error.ts';
import { SECRETS } from '../kube/resource/core-v1.ts';
import { resource, type Resource } from '../kube/resource/resource.ts';
import { listPages } from '../kube/watch/list-pages.ts';
import { CLUSTER_SIGNERS } from '../runtime/signers/cluster-signers.ts';

const CERTIFICATES = resource(CERTIFICATE_RESOURCE);
const REQUESTS = resource(CERTIFICATE_REQUEST_RESOURCE);
/** And nothing else: a server that does not know it is to refuse. */
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

interface Reference {
  readonly namespace: string;
  readonly name: string;
}

/** What refers to a Secret. */
export interface SecretReferrers {
  /** RFC 3339; undefined: there is no such Secret. */
  readonly createdAt: string | undefined;
  /** The names of the ClusterSigners whose CA is in it. */
  readonly signers: readonly string[];
  /** The Certificate of cert-manager that writes it. */
  readonly certificate: string | undefined;
  /** The newest request of that Certificate. */
  readonly request: CertificateRequest | undefined;
}

/** Reads with the user's permissions; what is not installed or may not be listed refers to nothing. */
export async function readSecretReferrers(
  client: Client,
  reference: Reference,
): Promise<SecretReferrers> {
  const { namespace, name } = reference;
  const get = { method: 'GET', path: SECRETS.object(reference), accept: METADATA } as const;
  const found = await client.request<KubeObject>(get).catch(ignoreNotFound);
  const signers = await listed(client, CLUSTER_SIGNERS);
  const certificates = await listed(client, CERTIFICATES, namespace);
  const certificate = certificates.find(
    (each) => (each as CertManagerCertificate).spec.secretName === name,
  );
  const requests = certificate === undefined ? [] : await listed(client, REQUESTS, namespace);
  const uid = certificate?.metadata.uid;
  const own = requests.filter((each) => controllingCertificate(each)?.uid === uid);
  return {
    createdAt: found?.metadata.creationTimestamp,
    signers: signers.filter((each) => hasCaIn(each, reference)).map((each) => each.metadata.name),
    certificate: certificate?.metadata.name,
    request: own.toSorted(byAge).at(-1) as CertificateRequest | undefined,
  };
}

/** Of any ClusterSigner, also of one whose spec is not valid. */
function hasCaIn(signer: KubeObject, { namespace, name }: Reference): boolean {
  const { authority } =
    (signer as { readonly spec?: { readonly authority?: Authority } }).spec ?? {};
  const secret = authority?.managed?.secret ?? authority?.secret;
  return secret?.namespace === namespace && secret.name === name;
}

interface Authority {
  readonly secret?: Partial<Reference>;
  readonly managed?: { readonly secret?: Partial<Reference> };
}

async function listed(
  client: Client,
  kind: Resource,
  namespace?: string,
): Promise<readonly KubeObject[]> {
  const found: KubeObject[] = [];
  try {
    await listPages({ client, path: kind.collection(namespace) }, (object) => {
      found.push(object as KubeObject);
    });
  } catch (error) {
    if (!(error instanceof KubeError) || ![403, 404].includes(error.status)) throw error;
  }
  return found;
}
