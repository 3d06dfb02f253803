// SPDX-License-Identifier: Apache-2.0
import { sign, type KeyObject } from 'node:crypto';
import type { ClusterSignerSpec, RequestsSpec } from '#api/signer/cluster-signer.ts';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import { encodePem } from '#pki/der/pem.ts';
import { decodeRequest, type CertificationRequest } from '#pki/x509/pkcs10.ts';
import { compilePolicy } from '#ca/policy/compile-policy.ts';
import { review, type Verdict } from '#ca/policy/review.ts';
import {
  bits,
  explicit,
  ia5,
  int,
  oid,
  rdn,
  seq,
  set,
  tlv,
  utf8,
  extension,
} from '../../support/pki/der.ts';
import { privateKey, spkiOf } from '../../support/pki/keys.ts';
import { ECDSA_SHA256, RSA_SHA256 } from '../../support/pki/request-der.ts';

export const CN = '2.5.4.3';
export const O = '2.5.4.10';
export const OU = '2.5.4.11';

/** Names of a request, in the form in which they reach the DER: nothing is made canonical. */
export interface Wanted {
  /** Attribute type and value, in order. */
  readonly subject?: readonly (readonly [string, string])[];
  readonly dnsNames?: readonly string[];
  readonly uris?: readonly string[];
  readonly emails?: readonly string[];
  readonly ipAddresses?: readonly (readonly number[])[];
  /** GeneralNames of other kinds, in DER. */
  readonly otherNames?: readonly Uint8Array[];
  /** More attributes, in DER. */
  readonly attributes?: readonly Uint8Array[];
  /** More extensions, in DER. */
  readonly extensions?: readonly Uint8Array[];
  readonly key?: KeyObject;
  readonly usages?: readonly string[];
  readonly username?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly expirationSeconds?: number;
}

export interface Made {
  readonly csr: CertificateSigningRequest;
  readonly request: CertificationRequest;
}

const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';
const SUBJECT_ALT_NAME = '2.5.29.17';

/** jane of group dev asks for her own name, unless `wanted` says otherwise. */
export function made(wanted: Wanted = {}): Made {
  const der = derOf(wanted);
  return { csr: csrOf(encodePem('CERTIFICATE REQUEST', der), wanted), request: decodeRequest(der) };
}

export function csrOf(pem: string, wanted: Wanted = {}): CertificateSigningRequest {
  const { extra, expirationSeconds } = wanted;
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: {
      name: 'jane-1',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: '2026-11-21T06:00:00Z',
    },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: 'example.com/people',
      usages: wanted.usages ?? ['digital signature', 'client auth'],
      username: wanted.username ?? 'jane',
      uid: '42',
      groups: wanted.groups ?? ['dev', 'system:authenticated'],
      ...(extra === undefined ? {} : { extra }),
      ...(expirationSeconds === undefined ? {} : { expirationSeconds }),
    },
  };
}

/** A signed PKCS#10 request. */
export function derOf(wanted: Wanted): Uint8Array {
  const key = wanted.key ?? privateKey('P-256');
  const subject = (wanted.subject ?? [[CN, 'jane']]).map(([type, value]) => rdn(type, utf8(value)));
  const extensions = [...altNames(wanted), ...(wanted.extensions ?? [])];
  const requested =
    extensions.length === 0 ? [] : [seq(oid(EXTENSION_REQUEST), set(seq(...extensions)))];
  const attributes = [...(wanted.attributes ?? []), ...requested];
  const info = seq(int(0), seq(...subject), spkiOf(key), explicit(0, ...attributes));
  const algorithm = key.asymmetricKeyType === 'rsa' ? RSA_SHA256 : ECDSA_SHA256;
  return seq(info, algorithm, bits(sign('sha256', info, key)));
}

function altNames(wanted: Wanted): readonly Uint8Array[] {
  const names = [
    ...(wanted.dnsNames ?? []).map((name) => retagged(0x82, name)),
    ...(wanted.emails ?? []).map((name) => retagged(0x81, name)),
    ...(wanted.uris ?? []).map((name) => retagged(0x86, name)),
    ...(wanted.ipAddresses ?? []).map((octets) => tlv(0x87, octets)),
    ...(wanted.otherNames ?? []),
  ];
  return names.length === 0 ? [] : [extension(SUBJECT_ALT_NAME, seq(...names))];
}

function retagged(tag: number, text: string): Uint8Array {
  return Uint8Array.from([tag, ...ia5(text).slice(1)]);
}

/** What a policy of these rules says of the request. */
export function verdictOf(requests: RequestsSpec, wanted: Wanted): Verdict {
  const { csr, request } = made(wanted);
  return review(compilePolicy(specOf(requests)), csr, request);
}

/** A spec that serves requests by these rules. */
export function specOf(requests: RequestsSpec): ClusterSignerSpec {
  return {
    signerName: 'example.com/people',
    authority: { secret: { namespace: 'countersign-keys', name: 'people-ca' } },
    profile: {
      keyTypes: ['ECDSAP256', 'ED25519'],
      usages: ['digital signature', 'client auth', 'server auth'],
      maxDuration: '24h',
      backdate: '1m',
    },
    requests,
  };
}

/** Design §2: everybody may have their own name and groups. */
export const OWN_NAME: RequestsSpec = {
  copy: ['commonName', 'organizations'],
  rules: [
    {
      name: 'own-name',
      when: 'request.username == csr.subject.commonName',
      allow: {
        commonName: 'self == request.username',
        organizations: 'self in request.groups',
        usages: ['digital signature', 'client auth'],
      },
    },
  ],
};

/** A rule that applies to everybody and allows one DNS name. */
export const ONE_HOST: RequestsSpec = {
  copy: ['dnsNames'],
  rules: [
    {
      name: 'one-host',
      when: 'true',
      allow: { dnsNames: "self == 'a.example.com'", usages: ['server auth'] },
    },
  ],
};
