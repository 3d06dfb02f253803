// SPDX-License-Identifier: Apache-2.0
/** Selects the certificate of an object that a user names. */
import { namedIssuer } from '#api/acme/named-issuer.ts';
import { ACME_GROUP } from '#api/acme/names.ts';
import { withSpec, type CertificateRequest } from '#api/request/certificate-request.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { derivedName } from '#api/signer/signer.ts';
import { shellWord } from '#base/quote.ts';
import { SignerError, attempt, usageError } from '#base/errors.ts';
import { sameBytes } from '#base/bytes.ts';
import { decodePem } from '#pki/der/pem.ts';
import { decodeRequest, verifyRequest } from '#pki/x509/pkcs10.ts';
import type { Subject } from '#diagnose/explain/lookup/reading.ts';
import { kindNamed, NAMED_KINDS, type KindName } from '#diagnose/kinds.ts';
import type { Client } from '#kube/client/client.ts';
import {
  certificateOfRequest,
  isForeignCa,
  issuedPem,
  type FoundCertificate,
  type NamedRequest,
  type RequestOfKind,
} from '#operations/revoking/find-certificates.ts';
import { SELECT_BY_SERIAL, refusalOfSigner } from '#operations/revoking/plan.ts';
import { clusterSignersOf } from '#cli/sources/issued-certificates.ts';
import { unissuedNote } from '#cli/sources/unissued.ts';
import { subjectOf, withNamespaceHint } from '#cli/subject.ts';

/** Kinds whose certificates `countersign revoke` finds. */
const REVOCABLE = ['order', 'pod', 'csr', 'pcr', 'certificaterequest'] as const;

/** An object whose certificates are revoked. */
export interface RevocableObject extends Subject {
  readonly kind: (typeof REVOCABLE)[number];
}

/**
 * Selection of the certificates of an object: a flag, or the certificate itself. It has the
 * ClusterSigners if they were read to find the certificate.
 */
export type ObjectSelection =
  | { readonly pod: string }
  | { readonly certificate: FoundCertificate; readonly signers?: readonly ClusterSigner[] };

/**
 * Parses the argument of `countersign revoke`.
 *
 * @param text - `kind/name`, or the name of an Order
 * @throws SignerError USAGE for another kind, or without the namespace that the kind needs
 */
export function revocableObject(text: string, namespace: string | undefined): RevocableObject {
  const { kind: word, name } = subjectOf(text.includes('/') ? text : `order/${text}`, '');
  const kind = kindNamed(word);
  if (kind === undefined || !isRevocable(kind)) {
    const kinds = REVOCABLE.map((each) => `${each}/NAME`).join(', ');
    throw usageError(
      `"${text.slice(0, 80)}" names no certificate: write one of ${kinds}, or select by --user, --serial, --pod, --ca or --san`,
    );
  }
  if (NAMED_KINDS[kind].isNamespaced && namespace === undefined) {
    throw usageError(`${kind}/${name} is in a namespace: write -n NAMESPACE`);
  }
  return { kind, name, namespace: namespace ?? '' };
}

function isRevocable(kind: KindName): kind is RevocableObject['kind'] {
  return REVOCABLE.some((each) => each === kind);
}

/**
 * Returns the selection of an object's certificates: all of a pod, or the one in the status of a
 * request. The plan compares that one by its bytes, because the backend of another issuer chooses
 * the serial numbers there.
 *
 * @throws KubeError, or SignerError USAGE for a request without a certificate of a ClusterSigner
 */
export async function selectionOfObject(
  client: Client,
  { kind, name, namespace }: RevocableObject,
): Promise<ObjectSelection> {
  if (kind === 'pod') return { pod: `${namespace}/${name}` };
  if (kind === 'order') throw usageError(`${kind}/${name} is of an ACME server`);
  const named = await readRequest(client, { kind, name, namespace });
  const text = `${kind}/${name}`;
  const { status, metadata } = named.request;
  if ((issuedPem(named) ?? '') === '')
    throw usageError(unissuedNote(text, status?.conditions, text, metadata.namespace));
  if (named.kind !== 'certificaterequest') return { certificate: readLeaf(named, [], text) };
  const signers = await clusterSignersOf(client);
  requireOurs(named.request, signers);
  const certificate = readLeaf(named, signers, text);
  requireOwnKey(named.request, certificate);
  return { certificate, signers };
}

/** @throws SignerError USAGE for a certificate that is not readable, or that a tenant invented */
function readLeaf(
  named: NamedRequest,
  signers: readonly ClusterSigner[],
  text: string,
): FoundCertificate {
  const certificate = certificateOfRequest(named, signers);
  if (certificate === undefined)
    throw usageError(
      `the certificate of ${text} is not readable: nothing is revoked. ${SELECT_BY_SERIAL}`,
    );
  if (isForeignCa(certificate))
    throw usageError(
      `the certificate of ${text} is that of a CA, which no CertificateRequest gets: nothing is revoked`,
    );
  return certificate;
}

/**
 * Compares the keys of a CertificateRequest and its certificate. Kubernetes lets only signers write
 * the status of its own requests. This status has no such guard, so a tenant can copy the
 * certificate of another tenant into it. The signature of the request is of that key, so its author
 * has the key, or has read a request of the other tenant.
 *
 * @throws SignerError USAGE unless the certificate has the key of the request
 */
function requireOwnKey(
  { metadata, spec }: CertificateRequest,
  { chain: [leaf] }: FoundCertificate,
): void {
  const pem = Buffer.from(spec.request, 'base64').toString('latin1');
  const key = attempt(() => {
    const request = decodeRequest(decodePem(pem, 'CERTIFICATE REQUEST'));
    verifyRequest(request);
    return request.publicKey.spki;
  });
  if (!(key instanceof SignerError) && sameBytes(key, leaf.publicKey.spki)) return;
  throw usageError(
    `the certificate of certificaterequest/${metadata.name} does not have the key of the request, so it may be of another requester: nothing is revoked. ${SELECT_BY_SERIAL}`,
  );
}

async function readRequest<K extends keyof RequestOfKind>(
  client: Client,
  subject: Subject & { readonly kind: K },
): Promise<NamedRequest<K>> {
  const { kind, name, namespace } = subject;
  const api = await NAMED_KINDS[kind].resource(client);
  const path = api.object(NAMED_KINDS[kind].isNamespaced ? { name, namespace } : { name });
  try {
    return { kind, request: await client.request<RequestOfKind[K]>({ method: 'GET', path }) };
  } catch (error) {
    throw await withNamespaceHint(error, subject, client);
  }
}

/** @throws SignerError USAGE unless the issuer of the request is one of these ClusterSigners */
function requireOurs(request: CertificateRequest, signers: readonly ClusterSigner[]): void {
  const { metadata, spec } = withSpec(request);
  const { group, kind, name, signerKind } = namedIssuer(spec.issuerRef);
  const isClusterSigner = signerKind === 'ClusterSigner';
  if (isClusterSigner && signers.some((each) => each.metadata.name === name)) return;
  if (signerKind === 'Signer')
    throw usageError(refusalOfSigner(derivedName({ ...metadata, name })));
  const instead =
    group === ACME_GROUP
      ? `countersign revoke order/NAME -n ${shellWord(metadata.namespace ?? '')} revokes its certificate`
      : 'only the CA of that issuer revokes its certificate';
  throw usageError(
    `the issuer of certificaterequest/${metadata.name} is ${kind}.${group}/${name}, and no ClusterSigner of this cluster: nothing is revoked; ${instead}`,
  );
}
