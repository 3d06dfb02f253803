// SPDX-License-Identifier: Apache-2.0
import type { KeyObject } from 'node:crypto';
import { contextConstructed } from '../der/der-tags.ts';
import { bitString, element, integer, oid, sequence, setOf } from '../der/der-writer.ts';
import { OID_EXTENSION_REQUEST } from '../der/oids.ts';
import {
  encodeExtension,
  subjectAltName,
  type Extension,
} from '../extensions/encode-extensions.ts';
import { publicKeyOf } from '../keys/private-key.ts';
import { signatureAlgorithm } from '../keys/signature-algorithm.ts';
import { encodeName, type NameParts } from '../names/distinguished-name.ts';
import type { SubjectAltNames } from '../names/general-names.ts';

/** The version of a request (RFC 2986 §4.1). */
const VERSION_1 = 0;

/** The inputs of a request. */
export interface RequestParts {
  readonly subject: NameParts;
  readonly sans: SubjectAltNames;
  /** The private key that signs. Its public half is part of the request. */
  readonly key: KeyObject;
  /** Extensions of extensionRequest beside the names. */
  readonly extensions?: readonly Extension[];
}

/**
 * Creates a signed PKCS#10 request (RFC 2986 §4.2).
 *
 * @returns DER
 * @throws SignerError NAME_INVALID, or KEY_UNSUPPORTED for the key
 */
export function encodeRequest(parts: RequestParts): Uint8Array {
  const { sans, key, extensions = [] } = parts;
  const { dnsNames, ipAddresses, uris, emails } = sans;
  const hasSans = [dnsNames, ipAddresses, uris, emails].some((names) => names.length > 0);
  const requested = [...extensions, ...(hasSans ? [subjectAltName(sans, false)] : [])];
  const info = sequence(
    integer(Uint8Array.of(VERSION_1)),
    encodeName(parts.subject),
    publicKeyOf(key),
    element(contextConstructed(0), ...(requested.length > 0 ? [extensionRequest(requested)] : [])),
  );
  const algorithm = signatureAlgorithm(key);
  return sequence(info, algorithm.der, bitString(algorithm.sign(info)));
}

function extensionRequest(extensions: readonly Extension[]): Uint8Array {
  return sequence(oid(OID_EXTENSION_REQUEST), setOf(sequence(...extensions.map(encodeExtension))));
}
