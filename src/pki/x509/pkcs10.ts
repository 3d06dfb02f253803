// SPDX-License-Identifier: Apache-2.0
import { sameBytes } from '#base/bytes.ts';
import { readWhole, type DerReader } from '../der/der-reader.ts';
import {
  TAG_BIT_STRING,
  TAG_INTEGER,
  TAG_OID,
  TAG_SEQUENCE,
  TAG_SET,
  contextConstructed,
} from '../der/der-tags.ts';
import { oidOf, wholeBytes } from '../der/der-values.ts';
import { readExtensions } from '../extensions/parse-extensions.ts';
import {
  interpretExtensions,
  type InterpretedExtensions,
} from '../extensions/interpret-extensions.ts';
import type { Extension } from '../extensions/encode-extensions.ts';
import { readPublicKey, type PublicKeyInfo } from '../keys/public-key.ts';
import {
  readName,
  type DistinguishedName,
  type NameAttribute,
} from '../names/distinguished-name.ts';
import { OID_EXTENSION_REQUEST, OID_ORGANIZATION } from '../der/oids.ts';
import { inputError } from '../der/input-error.ts';
import { readAlgorithmIdentifier } from '../keys/signature-algorithm.ts';
import { signatureProblem } from '../keys/signature-verification.ts';
import { requireVersion, type RequiredVersion } from './version.ts';

/**
 * A decoded PKCS#10 request (RFC 2986). All of it is only the requester's wish: no part may get
 * into a certificate unless a profile allows it.
 */
export interface CertificationRequest extends InterpretedExtensions {
  /** The whole DER. */
  readonly raw: Uint8Array;
  /** DER CertificationRequestInfo with its header: the bytes that the signature covers. */
  readonly info: Uint8Array;
  /** The subject without empty organizations, which name nothing. */
  readonly subject: DistinguishedName;
  readonly publicKey: PublicKeyInfo;
  /** OIDs of all attributes, including extensionRequest. */
  readonly attributes: readonly string[];
  /** The extensions of extensionRequest, or none without that attribute. */
  readonly extensions: readonly Extension[];
  /** DER AlgorithmIdentifier. */
  readonly signatureAlgorithm: Uint8Array;
  readonly signature: Uint8Array;
}

/** The limit of a request: etcd's default limit, which bounds every object of the API. */
const MAX_REQUEST_BYTES = 1_572_864;

/** The only version (RFC 2986 §4.1). Go and OpenSSL do not read it. */
const VERSION: RequiredVersion = {
  what: 'the PKCS#10 request',
  version: 1,
  help: ', which is encoded as 0 (RFC 2986 §4.1); a program that calls set_version(2), as for a certificate, writes 3: remove the call, or use "openssl req -new"',
};

/**
 * The limit of attributes. PKCS#9 defines about ten, and the tools of OpenSSL and Microsoft write
 * up to five.
 */
const MAX_REQUEST_ATTRIBUTES = 16;

/**
 * Decodes a DER PKCS#10 request (RFC 2986 §4). {@link verifyRequest} verifies its signature.
 *
 * @throws SignerError DER_MALFORMED, DER_LIMIT, REQUEST_MALFORMED, NAME_INVALID, KEY_MALFORMED or
 * KEY_UNSUPPORTED
 */
export function decodeRequest(der: Uint8Array): CertificationRequest {
  const fields = readWhole(der, 'the PKCS#10 request', MAX_REQUEST_BYTES);
  const info = fields.raw('the request’s info', TAG_SEQUENCE);
  const algorithm = readAlgorithmIdentifier(fields, 'the signature algorithm');
  const signature = wholeBytes(fields.read(TAG_BIT_STRING, 'the signature'), 'the signature');
  fields.finish();
  return { raw: der, info, ...readInfo(info), signatureAlgorithm: algorithm, signature };
}

type Info = Omit<CertificationRequest, 'raw' | 'info' | 'signatureAlgorithm' | 'signature'>;

function readInfo(info: Uint8Array): Info {
  const fields = readWhole(info, 'the request’s info', MAX_REQUEST_BYTES);
  requireVersion(fields.read(TAG_INTEGER, 'the version'), VERSION);
  const subject = withoutEmptyOrganizations(readName(fields, 'the subject'));
  const [problem] = subject.problems;
  if (problem !== undefined) {
    throw inputError('REQUEST_MALFORMED', `the subject of the PKCS#10 request has ${problem}`);
  }
  const publicKey = readPublicKey(fields);
  const attributes = readAttributes(fields.enter(contextConstructed(0), 'the attributes'));
  fields.finish();
  const requested = attributes.get(OID_EXTENSION_REQUEST);
  const extensions = requested === undefined ? [] : readExtensionRequest(requested);
  return {
    subject,
    publicKey,
    attributes: [...attributes.keys()],
    extensions,
    ...interpretExtensions(extensions),
  };
}

/**
 * Removes empty organizations. istio-agent writes one into each request (GenCSRTemplate of istio's
 * security/pkg/pki/util). It names no group, and no leaf can have it.
 */
function withoutEmptyOrganizations(subject: DistinguishedName): DistinguishedName {
  const names = ({ oid: type, value }: NameAttribute): boolean =>
    type !== OID_ORGANIZATION || value !== '';
  return { ...subject, attributes: subject.attributes.filter(names) };
}

/** Reads each type at most once: of two, readers use different ones. */
function readAttributes(list: DerReader): ReadonlyMap<string, DerReader> {
  const attributes = new Map<string, DerReader>();
  while (!list.isDone()) {
    const fields = list.sequence('an attribute');
    const type = oidOf(fields.read(TAG_OID, 'an attribute type'), 'an attribute type');
    const values = fields.enter(TAG_SET, `the values of attribute ${type}`);
    fields.finish();
    if (attributes.has(type)) {
      throw inputError(
        'REQUEST_MALFORMED',
        `attribute ${type} of the PKCS#10 request occurs twice`,
      );
    }
    attributes.set(type, values);
    if (attributes.size > MAX_REQUEST_ATTRIBUTES) {
      throw inputError(
        'DER_LIMIT',
        `the PKCS#10 request has over ${MAX_REQUEST_ATTRIBUTES} attributes`,
      );
    }
  }
  return attributes;
}

/** Reads exactly one value (RFC 2985 §5.4.2). */
function readExtensionRequest(values: DerReader): readonly Extension[] {
  const extensions = readExtensions(values);
  values.finish();
  return extensions;
}

/**
 * Verifies the signature of a request, which proves that the requester has the private key.
 *
 * @throws SignerError REQUEST_SIGNATURE when it does not verify, KEY_MALFORMED when node:crypto
 *   rejects the key
 */
export function verifyRequest(request: CertificationRequest): void {
  const problem = signatureProblem({
    algorithm: request.signatureAlgorithm,
    publicKey: request.publicKey,
    data: request.info,
    signature: request.signature,
  });
  if (problem !== undefined) {
    throw inputError('REQUEST_SIGNATURE', `the signature of the PKCS#10 request ${problem}`);
  }
}

/** A SEQUENCE without relative names. */
const EMPTY_NAME = Uint8Array.of(TAG_SEQUENCE, 0);

/**
 * Reports whether a request contains only a key: an empty subject and no attributes, as KEP-4317
 * requires of `spec.stubPKCS10Request` in a PodCertificateRequest.
 */
export function isEmptyStub(request: CertificationRequest): boolean {
  const { subject, attributes } = request;
  return sameBytes(subject.raw, EMPTY_NAME) && attributes.length === 0;
}
