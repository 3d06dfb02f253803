// SPDX-License-Identifier: Apache-2.0
import { sameBytes } from '#base/bytes.ts';
import { attempt, SignerError } from '#base/errors.ts';
import type { DownloadedChain } from '../protocol/certificates.ts';
import type { Identifier } from '../protocol/resources.ts';
import { isReservedName } from '#api/signer/reserved-names.ts';
import { OID_CLIENT_AUTH, OID_KUBERNETES_USER_ID, OID_SERVER_AUTH } from '#pki/der/oids.ts';
import { commonNamesOf } from '#pki/names/distinguished-name.ts';
import { encodePem } from '#pki/der/pem.ts';
import { readCertificates, type Certificate } from '#pki/x509/certificate.ts';
import { isSignedBy } from '#pki/x509/issuers.ts';
import { caFault, verifyPath } from '#pki/x509/path.ts';
import { unexpectedExtension } from '#pki/x509/unexpected-extension.ts';
import * as messages from './messages.ts';

/** Requested contents of a certificate. */
export interface RequestedCertificate {
  /** DER SubjectPublicKeyInfo of the request. */
  readonly spki: Uint8Array;
  readonly identifiers: readonly Identifier[];
  /** Longest validity that the signer allows. */
  readonly maxSeconds: number;
  /** OIDs of extensions that the leaf may have besides those of every CA. */
  readonly allowedExtensions?: readonly string[] | undefined;
  /**
   * PEM of the CAs that the server leaves out. RFC 8555 §9.1 allows a chain without its trust
   * anchor, so a leaf that a root signed may come alone.
   */
  readonly omittedIssuers?: string | undefined;
}

/** Fault of a chain, as a noun. */
export interface ChainFault {
  readonly wrong: string;
  /**
   * Set if nothing in a request leads to it, so every request of the signer would end so. A fault
   * that a requester could cause must not hold up the others.
   */
  readonly isOfCa?: true;
}

/** Critical extension of a precertificate (RFC 6962 §3.1), which is not a certificate. */
const OID_CT_POISON = '1.3.6.1.4.1.11129.2.4.3';

/**
 * Milliseconds that a leaf's validity may start in the future. A CA's clock may run ahead of ours
 * by that much. With a larger difference this program signs nothing either
 * (component/server-time.ts).
 */
const EARLY_MS = 10 * 60_000;

/**
 * Extensions of ACME servers that have no names: the provisioner of step-ca, and must-staple (RFC
 * 7633).
 */
const OF_SERVERS: readonly string[] = ['1.3.6.1.4.1.37476.9000.64.1', '1.3.6.1.5.5.7.1.24'];

/** Purposes that ACME certifies names for. */
const PURPOSES: readonly string[] = [OID_SERVER_AUTH, OID_CLIENT_AUTH];

/**
 * Checks a returned chain against the request: key, names, purposes, extensions, validity, and
 * signatures.
 *
 * @param now - milliseconds since 1970, by the API server's clock
 * @returns PEM, leaf first, or the fault
 */
export function acceptChain(
  { certificates }: Pick<DownloadedChain, 'certificates'>,
  asked: RequestedCertificate,
  now: number,
): { readonly pem: string } | ChainFault {
  const [leaf, ...above] = certificates;
  const wrong = wrongLeaf(leaf, asked);
  if (wrong !== undefined) return { wrong };
  const fault = wrongOfCa(leaf, asked) ?? wrongPath(leaf, above, asked, now);
  if (fault !== undefined) return fault;
  return { pem: certificates.map(({ raw }) => encodePem('CERTIFICATE', raw)).join('') };
}

function wrongLeaf(leaf: Certificate, asked: RequestedCertificate): string | undefined {
  if (leaf.isCa) return messages.CA_CERTIFICATE;
  if (leaf.extensions.some(({ oid }) => oid === OID_CT_POISON)) return messages.PRECERTIFICATE;
  const names = namesOf(leaf);
  const wanted = new Set(asked.identifiers.map(({ value }) => value.toLowerCase()));
  const differs = names.size !== wanted.size || [...wanted].some((name) => !names.has(name));
  if (differs) return messages.otherNames([...names], [...wanted]);
  return wrongSubject(leaf) ?? wrongUse(leaf, asked);
}

function wrongOfCa(
  { publicKey, ...leaf }: Certificate,
  asked: RequestedCertificate,
): ChainFault | undefined {
  if (!sameBytes(publicKey.spki, asked.spki)) return { wrong: messages.OTHER_KEY, isOfCa: true };
  const seconds = (leaf.notAfter - leaf.notBefore) / 1000;
  if (seconds <= asked.maxSeconds) return undefined;
  const hours = [seconds, asked.maxSeconds].map((each) => Math.round(each / 3600));
  const [given = 0, allowed = 0] = hours;
  return { wrong: messages.tooLong(given, allowed), isOfCa: true };
}

/**
 * Returns every name of the certificate, of any kind and the common name. One more than requested
 * is a fault.
 */
function namesOf({ sans, subject }: Certificate): ReadonlySet<string> {
  const { dnsNames, ipAddresses, emails, uris } = sans;
  const all = [...dnsNames, ...ipAddresses, ...emails, ...uris, ...commonNamesOf(subject)];
  return new Set(all.map((name) => name.toLowerCase()));
}

/**
 * Rejects names that no other check compares: other SAN kinds, and subject attributes that the API
 * server reads. The CA is responsible for organization, place, and other attributes.
 */
function wrongSubject({ sans, subject: { attributes } }: Certificate): string | undefined {
  if (sans.other > 0) return messages.otherKinds(sans.other);
  if (attributes.some(({ oid }) => oid === OID_KUBERNETES_USER_ID)) return messages.USER_ID;
  const reserved = attributes.find(({ value }) => isReservedName(value, []));
  return reserved && messages.reservedName(reserved.value);
}

/**
 * Rejects purposes and extensions beyond names of servers and clients. A CA may copy them from a
 * request or add them.
 */
function wrongUse(
  leaf: Certificate,
  { allowedExtensions = [] }: RequestedCertificate,
): string | undefined {
  const { extKeyUsage } = leaf;
  if (extKeyUsage === undefined) return messages.EVERY_PURPOSE;
  const purpose = extKeyUsage.find((oid) => !PURPOSES.includes(oid));
  if (purpose !== undefined) return messages.otherPurpose(purpose);
  const more = unexpectedExtension(leaf, [...OF_SERVERS, ...allowedExtensions]);
  return more && messages.otherExtension(more);
}

/**
 * Verifies the signatures with the last certificate as anchor, or those that the signer names if
 * the leaf is alone. The verifier of the certificate decides which CAs to trust.
 */
function wrongPath(
  leaf: Certificate,
  above: readonly Certificate[],
  { omittedIssuers = '' }: RequestedCertificate,
  now: number,
): ChainFault | undefined {
  const omitted = attempt(() => readCertificates(above.length > 0 ? '' : omittedIssuers));
  if (omitted instanceof SignerError)
    return { wrong: messages.unreadableIssuers(omitted.message), isOfCa: true };
  const anchors = above.length > 0 ? above.slice(-1) : omitted;
  if (anchors.length === 0) return { wrong: messages.WITHOUT_ISSUERS, isOfCa: true };
  const early = leaf.notBefore - now;
  const at = early > 0 && early <= EARLY_MS ? leaf.notBefore : now;
  try {
    verifyPath({ leaf, intermediates: above, anchors, now: at });
    return undefined;
  } catch (error) {
    if (!(error instanceof SignerError)) throw error;
    const issuers = [...above, ...anchors];
    const then = { below: 0, now: Math.max(now, leaf.notBefore) };
    const isUsable = (ca: Certificate): boolean => caFault(ca, then) === undefined;
    if (issuers.some((ca) => isUsable(ca) && isSignedBy(leaf, ca)))
      return { wrong: messages.unverifiableChain(error.message) };
    // Other requesters read this text, so it has no name of the leaf.
    return { wrong: messages.unverifiableChain(messages.NO_ISSUER_SIGNED), isOfCa: true };
  }
}
