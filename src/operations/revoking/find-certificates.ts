// SPDX-License-Identifier: Apache-2.0
/** Certificates of our CAs that objects of the cluster still have, by what a person knows of them. */
import { ORDERS, type Order } from '../../api/acme/index.ts';
import type { KubeObject } from '../../api/object/object.ts';
import {
  CERTIFICATE_REQUEST_RESOURCE,
  type CertificateRequest,
} from '../../api/request/certificate-request.ts';
import { CSR_RESOURCE, type CertificateSigningRequest } from '../../api/request/csr.ts';
import type { PodCertificateRequest } from '../../api/request/pod-certificate-request.ts';
import { GROUP, type ClusterSigner } from '../../api/signer/cluster-signer.ts';
import { SignerError, attempt } from '../../errors.ts';
import type { Client } from '../../kube/client/client.ts';
import { KubeError } from '../../kube/client/kube-error.ts';
import { resource } from '../../kube/resource/resource.ts';
import { listPages } from '../../kube/watch/list-pages.ts';
import { readCertificates, type Certificate } from '../../pki/x509/certificate.ts';

/** A certificate, who has it, and what said so. */
export interface FoundCertificate {
  readonly signerName: string;
  /** Leaf first. */
  readonly chain: readonly [Certificate, ...Certificate[]];
  /** `podcertificaterequest team-a/web-0-abc`, `record 1-42`, for people. */
  readonly source: string;
  readonly user?: string | undefined;
  readonly pod?:
    { readonly namespace: string; readonly name: string; readonly uid?: string } | undefined;
  /** Whose team it is for. */
  readonly namespace?: string | undefined;
  readonly serviceAccount?: { readonly namespace: string; readonly name: string } | undefined;
  /** `sha256:<hex>` of the CA, where the source says so. */
  readonly authority?: string | undefined;
  /** The Order that got it from an ACME server. */
  readonly order?: { readonly namespace: string; readonly name: string } | undefined;
}

/** Who has a certificate, for people: `pod team-a/web-0`, `user alice`. */
export function holderOf({ pod, user, serviceAccount }: FoundCertificate): string | undefined {
  if (pod !== undefined) return `pod ${pod.namespace}/${pod.name}`;
  if (user !== undefined) return `user ${user}`;
  return serviceAccount && `serviceaccount ${serviceAccount.namespace}/${serviceAccount.name}`;
}

/** What was looked through. */
export interface Searched {
  readonly found: readonly FoundCertificate[];
  /** For people: `12 CertificateSigningRequests`, or why a place was not searched. */
  readonly places: readonly string[];
}

/** Something that knows certificates: the cluster's objects, or the ledger. */
export type CertificateSource = (signers: readonly ClusterSigner[]) => Promise<Searched>;

const CSRS = resource(CSR_RESOURCE);
const POD_REQUESTS = resource({
  ...{ group: 'certificates.k8s.io', version: 'v1', plural: 'podcertificaterequests' },
});
const ORDER_PATHS = resource(ORDERS);
const CERTIFICATE_REQUESTS = resource(CERTIFICATE_REQUEST_RESOURCE);

/** The requests that the API server has: pods' are gone after 15 minutes, those of people after hours. */
export function liveRequests(client: Client): CertificateSource {
  return async (signers) => {
    const byObject = new Map(signers.map(({ metadata, spec }) => [metadata.name, spec.signerName]));
    const places = [
      await searched(client, CSRS.collection(), 'CertificateSigningRequests', fromCsr),
      await searched(client, POD_REQUESTS.collection(), 'PodCertificateRequests', fromPod),
      await searched(client, CERTIFICATE_REQUESTS.collection(), 'CertificateRequests', (each) =>
        fromCertificateRequest(each, byObject),
      ),
    ];
    return {
      found: places.flatMap(({ found }) => found),
      places: places.flatMap(({ places: texts }) => texts),
    };
  };
}

/** The Orders of ACME servers, which revoke certificates themselves; none where they cannot be listed. */
export function liveOrders(client: Client): CertificateSource {
  return async () => {
    const { found } = await searched(client, ORDER_PATHS.collection(), 'Orders', fromOrder);
    return { found, places: [] };
  };
}

async function searched(
  client: Client,
  path: string,
  kind: string,
  read: (object: KubeObject) => FoundCertificate | undefined,
): Promise<Searched> {
  const found: FoundCertificate[] = [];
  let count = 0;
  try {
    await listPages({ client, path }, (object) => {
      count += 1;
      const one = read(object as unknown as KubeObject);
      if (one !== undefined) found.push(one);
    });
  } catch (error) {
    if (!(error instanceof KubeError) || ![403, 404].includes(error.status)) throw error;
    const why = error.status === 404 ? 'are not installed' : 'may not be listed by you';
    return { found, places: [`no ${kind}: they ${why}`] };
  }
  return { found, places: [`${count} ${kind}`] };
}

function fromCsr(object: KubeObject): FoundCertificate | undefined {
  const { spec, status, metadata } = object as CertificateSigningRequest;
  return foundIn(fromBase64(status?.certificate), {
    ...{ signerName: spec.signerName, source: `csr ${metadata.name}`, user: spec.username },
  });
}

function fromPod(object: KubeObject): FoundCertificate | undefined {
  const { spec, status, metadata } = object as PodCertificateRequest;
  const { namespace = '', name } = metadata;
  return foundIn(status?.certificateChain, {
    ...{ signerName: spec.signerName, source: `podcertificaterequest ${namespace}/${name}` },
    namespace,
    pod: { namespace, name: spec.podName, uid: spec.podUID },
  });
}

function fromCertificateRequest(
  object: KubeObject,
  byObject: ReadonlyMap<string, string>,
): FoundCertificate | undefined {
  const { spec, status, metadata } = object as CertificateRequest;
  const { group, kind, name } = spec.issuerRef;
  const signerName = group === GROUP && kind === 'ClusterSigner' ? byObject.get(name) : undefined;
  if (signerName === undefined) return undefined;
  const source = `certificaterequest ${metadata.namespace ?? ''}/${metadata.name}`;
  // Its requester is cert-manager, for everybody.
  return foundIn(fromBase64(status?.certificate), { signerName, source });
}

function fromOrder(object: KubeObject): FoundCertificate | undefined {
  const { spec, status, metadata } = object as Partial<Order> & Pick<Order, 'metadata'>;
  const { kind = '', name: signer = '' } = spec?.signerRef ?? {};
  const { namespace = '', name } = metadata;
  const source = `order ${namespace}/${name}`;
  const order = { namespace, name };
  return foundIn(status?.certificate, { signerName: `${kind} ${signer}`, source, order });
}

function foundIn(
  pem: string | undefined,
  of: Omit<FoundCertificate, 'chain'>,
): FoundCertificate | undefined {
  const chain = attempt(() => readCertificates(pem ?? ''));
  if (chain instanceof SignerError) return undefined;
  const [leaf, ...above] = chain;
  return leaf === undefined ? undefined : { ...of, chain: [leaf, ...above] };
}

function fromBase64(text: string | undefined): string | undefined {
  return text === undefined ? undefined : Buffer.from(text, 'base64').toString('latin1');
}
