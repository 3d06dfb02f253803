// SPDX-License-Identifier: Apache-2.0
/** Finds certificates of managed CAs in the cluster's objects. */
import { namedIssuer } from '#api/acme/named-issuer.ts';
import { ORDERS } from '#api/acme/names.ts';
import type { Order } from '#api/acme/order.ts';
import {
  CERTIFICATE_REQUEST_RESOURCE,
  withSpec,
  type CertificateRequest,
} from '#api/request/certificate-request.ts';
import { CSR_RESOURCE, type CertificateSigningRequest } from '#api/request/csr.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { READER_SIGNER } from '#api/signer/own-tls.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { certificatesResourceIfServed } from '#component/certificates-resources.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { resource } from '#kube/resource/resource.ts';
import { listPages } from '#kube/watch/list-pages.ts';
import { readCertificates, type Certificate } from '#pki/x509/certificate.ts';
import type { StoredObject } from '#kube/resource/object.ts';

/** A certificate, its holder, and its source. */
export interface FoundCertificate {
  readonly signerName: string;
  /** Leaf first. */
  readonly chain: readonly [Certificate, ...Certificate[]];
  /** Source for people: `podcertificaterequest team-a/web-0-abc`, `record 1-42`. */
  readonly source: string;
  readonly user?: string | undefined;
  readonly pod?:
    { readonly namespace: string; readonly name: string; readonly uid?: string } | undefined;
  /** Namespace whose team has the certificate. */
  readonly namespace?: string | undefined;
  readonly serviceAccount?: { readonly namespace: string; readonly name: string } | undefined;
  /** `sha256:<hex>` of the CA, if the source has it. */
  readonly authority?: string | undefined;
  /** The Order that obtained it from an ACME server. */
  readonly order?: { readonly namespace: string; readonly name: string } | undefined;
  /**
   * True for the status of a CertificateRequest, which tenants may write. The API server lets only
   * the signer write those of its own requests.
   */
  readonly isUnguarded?: true;
}

/** Formats the holder of a certificate: `pod team-a/web-0`, `user alice`. */
export function holderOf({ pod, user, serviceAccount }: FoundCertificate): string | undefined {
  if (pod !== undefined) return `pod ${pod.namespace}/${pod.name}`;
  if (user !== undefined) return `user ${user}`;
  return serviceAccount && `serviceaccount ${serviceAccount.namespace}/${serviceAccount.name}`;
}

/** The result of a search. */
export interface CertificateSearchResult {
  readonly found: readonly FoundCertificate[];
  /**
   * Searched places, for people: `12 CertificateSigningRequests`, or why a place was not searched.
   */
  readonly places: readonly string[];
  /** Number of records at which the search stopped although there are more. */
  readonly cutAt?: number | undefined;
  /** True if an installed ledger was not read. It may have more. */
  readonly isUnread?: true;
}

/** A source of certificates: the cluster's objects, or the ledger. */
export type CertificateSource = (
  signers: readonly ClusterSigner[],
) => Promise<CertificateSearchResult>;

const CSRS = resource(CSR_RESOURCE);
const ORDER_PATHS = resource(ORDERS);
const CERTIFICATE_REQUESTS = resource(CERTIFICATE_REQUEST_RESOURCE);

/**
 * Searches the requests in the API server. It deletes those of pods after 15 minutes, and others
 * after hours. Certificates of statuses that tenants write come last.
 */
export function liveRequests(client: Client): CertificateSource {
  return async (signers) => {
    const byObject = namesByObject(signers);
    const places = [
      await searched(client, CSRS.collection(), 'CertificateSigningRequests', fromCsr),
      await searched(client, podRequestsPath(client), 'PodCertificateRequests', fromPod),
      await searched<CertificateRequest>(
        client,
        CERTIFICATE_REQUESTS.collection(),
        'CertificateRequests',
        (each) => {
          const found = fromCertificateRequest(each, byObject);
          return found !== undefined && isForeignCa(found) ? undefined : found;
        },
      ),
    ];
    return {
      found: places.flatMap(({ found }) => found),
      places: places.flatMap(({ places: texts }) => texts),
    };
  };
}

/**
 * Reports whether a tenant wrote a CA certificate into a status: no CertificateRequest gets one. It
 * may be that of the signer, and OpenSSL's -crl_check_all refuses all leaves of a root that is on
 * its own CRL.
 */
export function isForeignCa({ isUnguarded, chain: [leaf] }: FoundCertificate): boolean {
  return isUnguarded === true && leaf.isCa;
}

/** Returns undefined if the API server serves no PodCertificateRequests. */
async function podRequestsPath(client: Client): Promise<string | undefined> {
  const served = await certificatesResourceIfServed(client, 'podcertificaterequests');
  return served?.collection();
}

/** Signer names by the names of their ClusterSigners. */
function namesByObject(signers: readonly ClusterSigner[]): ReadonlyMap<string, string> {
  return new Map(signers.map(({ metadata, spec }) => [metadata.name, spec.signerName]));
}

/** The type of each kind of request. */
export interface RequestOfKind {
  readonly csr: CertificateSigningRequest;
  readonly pcr: PodCertificateRequest;
  readonly certificaterequest: CertificateRequest;
}

/** A request by its kind. */
export type NamedRequest<K extends keyof RequestOfKind = keyof RequestOfKind> = {
  readonly [kind in K]: { readonly kind: kind; readonly request: RequestOfKind[kind] };
}[K];

/** Returns the certificate in the status of a request, as PEM. Undefined if it has none. */
export function issuedPem({ kind, request }: NamedRequest): string | undefined {
  if (kind === 'pcr') return request.status?.certificateChain;
  const text = request.status?.certificate;
  return text === undefined ? undefined : Buffer.from(text, 'base64').toString('latin1');
}

/**
 * Reads the certificate of one request as {@link liveRequests} does. Undefined without a readable
 * certificate, or for a CertificateRequest of no ClusterSigner.
 */
export function certificateOfRequest(
  named: NamedRequest,
  signers: readonly ClusterSigner[],
): FoundCertificate | undefined {
  const found = readNamed(named, signers);
  return found === 'uncounted' ? undefined : found;
}

function readNamed(
  { kind, request }: NamedRequest,
  signers: readonly ClusterSigner[],
): ReturnType<CertificateReader<object>> {
  if (kind === 'csr') return fromCsr(request);
  if (kind === 'pcr') return fromPod(request);
  return fromCertificateRequest(request, namesByObject(signers));
}

/**
 * Searches the Orders of ACME servers, which revoke certificates themselves. Returns none if they
 * cannot be listed.
 */
export function liveOrders(client: Client): CertificateSource {
  return async () => {
    const { found } = await searched(client, ORDER_PATHS.collection(), 'Orders', fromOrder);
    return { found, places: [] };
  };
}

/** Reads the certificate of one object, if it has one. An object may be left out of the count. */
type CertificateReader<T> = (object: T) => FoundCertificate | 'uncounted' | undefined;

async function searched<T extends StoredObject>(
  client: Client,
  collection: string | Promise<string | undefined>,
  kind: string,
  read: CertificateReader<T>,
): Promise<CertificateSearchResult> {
  const found: FoundCertificate[] = [];
  let count = 0;
  try {
    const path = await collection;
    if (path === undefined) return { found, places: [`no ${kind}: they are not installed`] };
    await listPages<T>({ client, path }, (object) => {
      const one = read(object);
      if (one === 'uncounted') return;
      count += 1;
      if (one !== undefined) found.push(one);
    });
  } catch (error) {
    if (!(error instanceof KubeError) || ![403, 404].includes(error.status)) throw error;
    const why = error.status === 404 ? 'are not installed' : 'may not be listed by you';
    return { found, places: [`no ${kind}: they ${why}`] };
  }
  return { found, places: [`${count} ${kind}`] };
}

function fromCsr(request: CertificateSigningRequest): ReturnType<CertificateReader<object>> {
  const { spec, metadata } = request;
  // No certificate is issued to a reader of the ledger.
  if (spec.signerName === READER_SIGNER) return 'uncounted';
  return foundIn(issuedPem({ kind: 'csr', request }), {
    signerName: spec.signerName,
    source: `csr ${metadata.name}`,
    user: spec.username,
  });
}

function fromPod(request: PodCertificateRequest): FoundCertificate | undefined {
  const { spec, metadata } = request;
  const { namespace = '', name } = metadata;
  return foundIn(issuedPem({ kind: 'pcr', request }), {
    signerName: spec.signerName,
    source: `podcertificaterequest ${namespace}/${name}`,
    namespace,
    pod: { namespace, name: spec.podName, uid: spec.podUID },
  });
}

function fromCertificateRequest(
  request: CertificateRequest,
  byObject: ReadonlyMap<string, string>,
): FoundCertificate | undefined {
  const { metadata, spec } = withSpec(request);
  const { signerKind, name } = namedIssuer(spec.issuerRef);
  const signerName = signerKind === 'ClusterSigner' ? byObject.get(name) : undefined;
  if (signerName === undefined) return undefined;
  const source = `certificaterequest ${metadata.namespace ?? ''}/${metadata.name}`;
  const pem = issuedPem({ kind: 'certificaterequest', request });
  // Its requester is always cert-manager, not the holder.
  return foundIn(pem, { signerName, source, isUnguarded: true });
}

/** Reads an Order, whose fields no reader has checked. */
function fromOrder({
  spec,
  status,
  metadata,
}: Partial<Order> & Pick<Order, 'metadata'>): FoundCertificate | undefined {
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
