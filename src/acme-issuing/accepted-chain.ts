// SPDX-License-Identifier: Apache-2.0
import { sameBytes } from '../bytes.ts';
import { SignerError } from '../errors.ts';
import type { DownloadedChain } from '../acme/certificates.ts';
import type { Identifier } from '../acme/resources.ts';
import { isReservedName } from '../api/signer/reserved-names.ts';
import {
  OID_CLIENT_AUTH,
  OID_COMMON_NAME,
  OID_KUBERNETES_USER_ID,
  OID_SERVER_AUTH,
} from '../pki/der/oids.ts';
import { encodePem } from '../pki/der/pem.ts';
import type { Certificate } from '../pki/x509/certificate.ts';
import { verifyPath } from '../pki/x509/path.ts';
import { unexpectedExtension } from '../pki/x509/unexpected-extension.ts';
import { quote, quoteList } from '../quote.ts';

/** What was asked for. */
export interface AskedFor {
  /** DER SubjectPublicKeyInfo of the request. */
  readonly spki: Uint8Array;
  readonly identifiers: readonly Identifier[];
  /** The signer's limit. */
  readonly maxSeconds: number;
  /** OIDs of extensions that the leaf may have besides those of every CA. */
  readonly allowedExtensions?: readonly string[] | undefined;
}

/** A precertificate has it, critical (RFC 6962 §3.1): it is no certificate. */
const OID_CT_POISON = '1.3.6.1.4.1.11129.2.4.3';

/**
 * Milliseconds that a leaf may begin in the future. A CA whose clock is ahead of ours by so much is no reason to throw a
 * certificate away: above it, we sign nothing ourselves either (runtime/component/server-time.ts).
 */
const EARLY_MS = 10 * 60_000;

/**
 * Extensions of ACME servers that name nobody: which provisioner of step-ca issued it, and that a server is to staple
 * (RFC 7633).
 */
const OF_SERVERS: readonly string[] = ['1.3.6.1.4.1.37476.9000.64.1', '1.3.6.1.5.5.7.1.24'];

/** What ACME certifies names for. */
const PURPOSES: readonly string[] = [OID_SERVER_AUTH, OID_CLIENT_AUTH];

/**
 * Holds what a CA returned to what was asked for: key, names, purposes, extensions, life and a path of signatures.
 *
 * @param now - milliseconds since 1970, by the API server's clock
 * @returns PEM, leaf first; or what is wrong, as a noun
 */
export function acceptChain(
  { certificates }: Pick<DownloadedChain, 'certificates'>,
  asked: AskedFor,
  now: number,
): { readonly pem: string } | { readonly wrong: string } {
  const [leaf, ...above] = certificates;
  const wrong = wrongLeaf(leaf, asked) ?? wrongPath(leaf, above, now);
  if (wrong !== undefined) return { wrong };
  return { pem: certificates.map(({ raw }) => encodePem('CERTIFICATE', raw)).join('') };
}

function wrongLeaf(leaf: Certificate, asked: AskedFor): string | undefined {
  if (!sameBytes(leaf.publicKey.spki, asked.spki)) return 'a certificate for another public key';
  if (leaf.isCa) return 'a CA certificate';
  if (leaf.extensions.some(({ oid }) => oid === OID_CT_POISON)) return 'a precertificate';
  const names = namesOf(leaf);
  const wanted = new Set(asked.identifiers.map(({ value }) => value.toLowerCase()));
  const differs = names.size !== wanted.size || [...wanted].some((name) => !names.has(name));
  if (differs)
    return `a certificate for ${quoteList([...names])}; asked for was ${quoteList([...wanted])}`;
  const other = wrongSubject(leaf) ?? wrongUse(leaf, asked);
  if (other !== undefined) return other;
  const seconds = (leaf.notAfter - leaf.notBefore) / 1000;
  return seconds <= asked.maxSeconds
    ? undefined
    : `a certificate of ${Math.round(seconds / 3600)} hours; spec.profile.maxDuration allows ${Math.round(asked.maxSeconds / 3600)}`;
}

/** Every name counts, of whatever kind and also as a common name: one more than was asked for is wrong. */
function namesOf({ sans, subject }: Certificate): ReadonlySet<string> {
  const { dnsNames, ipAddresses, emails, uris } = sans;
  const common = subject.attributes.filter(({ oid }) => oid === OID_COMMON_NAME);
  const all = [
    ...dnsNames,
    ...ipAddresses,
    ...emails,
    ...uris,
    ...common.map(({ value }) => value),
  ];
  return new Set(all.map((name) => name.toLowerCase()));
}

/**
 * Names that nobody compares: those of other kinds, and what the API server reads of a subject. Where an organization
 * is, and its other attributes, are the CA's own statements.
 */
function wrongSubject({ sans, subject: { attributes } }: Certificate): string | undefined {
  if (sans.other > 0) return `a certificate with ${sans.other} names of other kinds`;
  if (attributes.some(({ oid }) => oid === OID_KUBERNETES_USER_ID))
    return "a certificate with a user's UID";
  const reserved = attributes.find(({ value }) => isReservedName(value, []));
  return reserved && `a certificate for ${quote(reserved.value)}, a name of Kubernetes itself`;
}

/** A CA that copies what a request has, or adds to it, must not say more than names of servers and clients. */
function wrongUse(leaf: Certificate, { allowedExtensions = [] }: AskedFor): string | undefined {
  const { extKeyUsage } = leaf;
  if (extKeyUsage === undefined)
    return 'a certificate without the extendedKeyUsage extension, which permits every purpose';
  const purpose = extKeyUsage.find((oid) => !PURPOSES.includes(oid));
  if (purpose !== undefined)
    return `a certificate for the purpose ${purpose}; ACME certifies servers and clients`;
  const more = unexpectedExtension(leaf, [...OF_SERVERS, ...allowedExtensions]);
  return more && `a certificate with the extension ${more}; spec.acme.allowedExtensions allows it`;
}

/** The last certificate is the anchor: which CAs are trusted is decided where the certificate is shown. */
function wrongPath(
  leaf: Certificate,
  above: readonly Certificate[],
  now: number,
): string | undefined {
  const anchor = above.at(-1);
  if (anchor === undefined) return 'a certificate without its issuers';
  const early = leaf.notBefore - now;
  const at = early > 0 && early <= EARLY_MS ? leaf.notBefore : now;
  try {
    verifyPath({ leaf, intermediates: above, anchors: [anchor], now: at });
    return undefined;
  } catch (error) {
    if (!(error instanceof SignerError)) throw error;
    return `a chain that does not hold: ${error.message}`;
  }
}
