// SPDX-License-Identifier: Apache-2.0
import { NO_NAMES, type RequestedLeaf } from '#conformance/observed-request.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { OID_COMMON_NAME, OID_ORGANIZATION } from '#pki/der/oids.ts';
import { readPemBlocks } from '#pki/der/pem.ts';
import { decodeRequest, type CertificationRequest } from '#pki/x509/pkcs10.ts';

const NOTHING: RequestedLeaf = {
  keyType: undefined,
  spki: new Uint8Array(),
  names: NO_NAMES,
  usages: [],
  lifetimeSeconds: undefined,
};

/** What a PKCS#10 request asks for, as a signer reads it. */
export function askedIn(
  request: CertificationRequest | undefined,
  more: Partial<RequestedLeaf>,
): RequestedLeaf {
  if (request === undefined) return { ...NOTHING, ...more };
  const { subject, sans, publicKey } = request;
  const of = (type: string): readonly string[] =>
    subject.attributes.filter(({ oid }) => oid === type).map(({ value }) => value);
  const { dnsNames, ipAddresses, uris, emails } = sans;
  const commonName = of(OID_COMMON_NAME)[0] ?? '';
  const organizations = of(OID_ORGANIZATION);
  return {
    ...NOTHING,
    keyType: publicKey.keyType,
    spki: publicKey.spki,
    names: { commonName, organizations, dnsNames, ipAddresses, uris, emails },
    ...more,
  };
}

/** The requests in base64 of PEM: one, or two, or none that could be read. */
export function requestsIn(text: string): readonly CertificationRequest[] {
  const read = attempt(() =>
    readPemBlocks(Buffer.from(text, 'base64').toString()).map(({ der }) => decodeRequest(der)),
  );
  return read instanceof SignerError ? [] : read;
}

export function base64(pem: string): string {
  return Buffer.from(pem).toString('base64');
}
