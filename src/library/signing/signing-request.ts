// SPDX-License-Identifier: Apache-2.0
import type { CertificateRequest } from '#api/request/certificate-request.ts';
import type { Condition } from '#api/request/conditions.ts';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { encodePem } from '#pki/der/pem.ts';
import type { CertificateTemplate } from '#requests/issuing/issuing-ca.ts';
import type { ConditionOf } from '../errors.ts';
import type { SigningRequest } from '../request.ts';

/** Approved leaf of each request. */
const templates = new WeakMap<SigningRequest, CertificateTemplate>();

/**
 * Returns the approved leaf of a request, or undefined for an object that {@link toSigningRequest}
 * did not create.
 */
export function wantedOf(request: SigningRequest): CertificateTemplate | undefined {
  return templates.get(request);
}

/** Requests that authors sign. */
export type ServedRequest = CertificateSigningRequest | PodCertificateRequest | CertificateRequest;

/**
 * Returns a request for `sign`: frozen and decoded.
 *
 * @param signerName - name of the issuer's signer. A CertificateRequest names the issuer only
 * @param kept - conditions of earlier calls that the kind of the object does not accept
 */
export function toSigningRequest(
  object: ServedRequest,
  signerName: string,
  wanted: CertificateTemplate,
  kept: readonly ConditionOf[],
): SigningRequest {
  const { metadata, status } = object;
  const { publicKey, subject, usages, validity } = wanted;
  const { notBefore, notAfter } = validity;
  const view: SigningRequest = Object.freeze({
    ...kindSpecificFields(object),
    name: metadata.name,
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    uid: metadata.uid,
    signerName,
    createdAt: Date.parse(metadata.creationTimestamp),
    annotations: Object.freeze({ ...metadata.annotations }),
    conditions: Object.freeze([...(status?.conditions ?? []).map(conditionOf), ...kept]),
    publicKey: Object.freeze({
      keyType: publicKey.keyType,
      spki: new Uint8Array(publicKey.spki),
      pem: encodePem('PUBLIC KEY', publicKey.spki),
    }),
    template: Object.freeze({ ...subject, usages, notBefore, notAfter }),
  });
  templates.set(view, wanted);
  return view;
}

/** Returns the fields that only some kinds of requests have. */
function kindSpecificFields(
  object: ServedRequest,
): Pick<SigningRequest, 'kind' | 'csr' | 'requester' | 'pod'> {
  if (isPodRequest(object)) return podRequestFields(object);
  const { request, username = '', groups = [] } = object.spec;
  return {
    kind: 'issuerRef' in object.spec ? 'CertificateRequest' : 'CertificateSigningRequest',
    csr: Buffer.from(request, 'base64').toString('latin1'),
    requester: Object.freeze({ username, groups: Object.freeze([...groups]) }),
  };
}

function podRequestFields({
  metadata,
  spec,
}: PodCertificateRequest): Pick<SigningRequest, 'kind' | 'csr' | 'pod'> {
  const stub = spec.stubPKCS10Request ?? '';
  return {
    kind: 'PodCertificateRequest',
    ...(stub === '' ? {} : { csr: encodePem('CERTIFICATE REQUEST', Buffer.from(stub, 'base64')) }),
    pod: Object.freeze({
      namespace: metadata.namespace ?? '',
      name: spec.podName,
      uid: spec.podUID,
      serviceAccountName: spec.serviceAccountName,
      nodeName: spec.nodeName,
    }),
  };
}

function isPodRequest(object: ServedRequest): object is PodCertificateRequest {
  return 'podUID' in object.spec;
}

function conditionOf({ type, status, reason, message }: Condition): ConditionOf {
  return Object.freeze({ type, status, reason: reason ?? '', message: message ?? '' });
}
