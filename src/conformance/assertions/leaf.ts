// SPDX-License-Identifier: Apache-2.0
/** Asserts the properties of any leaf, for any requester. */
import { sameBytes } from '#base/bytes.ts';
import type { Certificate } from '#pki/x509/certificate.ts';
import { OID_EXT_KEY_USAGE, OID_KEY_USAGE, OID_SUBJECT_ALT_NAME } from '#pki/der/oids.ts';
import { nameText } from '#pki/names/distinguished-name.ts';
import { fail, pass, skip, unless, type AssertionResult } from '../case.ts';
import type { IssuedLeaf } from '../issued-leaf.ts';
import type { AssertionContext, LeafAssertion } from '../snapshot.ts';
import type { KeyUsageBit } from '#pki/extensions/usages.ts';

/**
 * Passes when the leaf has the public key of the request, byte by byte (DER SubjectPublicKeyInfo).
 */
export const hasRequestedKey: LeafAssertion = ({ leaf, request }) => {
  const same = sameBytes(leaf.publicKey.spki, request.requested.spki);
  const found = `the leaf's key is ${keyText(leaf)}`;
  return same ? pass(`${found}, the request's own`) : fail(`${found}, not the request's`);
};

/**
 * Passes when the leaf has neither CA:TRUE nor keyCertSign nor cRLSign (RFC 5280 §4.2.1.9,
 * §4.2.1.3).
 */
export const isNotCa: LeafAssertion = ({ leaf }) => {
  const bits = ['keyCertSign', 'cRLSign'] as const;
  const found = bits.filter((bit) => leaf.keyUsage?.has(bit));
  if (leaf.isCa) return fail('basicConstraints of the leaf has CA:TRUE');
  return unless(
    found.length === 0 ? undefined : `keyUsage of the leaf has ${found.join(', ')}`,
    'CA:FALSE, neither keyCertSign nor cRLSign',
  );
};

/**
 * The least bytes of a serial. CA/Browser Forum BR §7.1 requires 64 bits of a random source, which
 * fewer than seven bytes cannot hold.
 */
const MIN_SERIAL_BYTES = 7;

/** Passes when the serial has room for 64 random bits (CA/Browser Forum BR §7.1). */
export const hasLongSerial: LeafAssertion = ({ leaf }) => {
  const text = `serial ${Buffer.from(leaf.serial).toString('hex')}`;
  const digits = leaf.serial.length - (leaf.serial[0] === 0 ? 1 : 0);
  // A random serial of 64 bits has a leading zero byte once in 256, and two of them once in 65,536.
  return digits < MIN_SERIAL_BYTES ? fail(`${text} has ${digits} bytes`) : pass(text);
};

/**
 * Passes when authorityKeyIdentifier is the issuer's subjectKeyIdentifier. All certificates except
 * self-signed ones need it (RFC 5280 §4.2.1.1).
 */
export const hasIssuerKeyIdentifier: LeafAssertion = ({ leaf, chain }, { anchors }) => {
  const id = leaf.authorityKeyIdentifier;
  if (id === undefined) return fail('the leaf has no authorityKeyIdentifier');
  const known = [...chain, ...('certificates' in anchors ? anchors.certificates : [])];
  const issuers = known.filter(({ subject }) => sameBytes(subject.raw, leaf.issuer.raw));
  const ids = issuers.flatMap((each) => each.subjectKeyIdentifier ?? []);
  if (ids.length === 0) return pass('the leaf has one; no issuer with a key identifier is known');
  const fits = ids.some((each) => sameBytes(each, id));
  return fits ? pass("it is the issuer's subjectKeyIdentifier") : fail('it is of another key');
};

/**
 * Passes when the leaf has a subject, or names in a critical subjectAltName (RFC 5280 §4.1.2.6).
 */
export const hasSubjectOrNames: LeafAssertion = ({ leaf }) => {
  const { dnsNames, ipAddresses, uris, emails } = leaf.sans;
  const sans = [...dnsNames, ...ipAddresses, ...uris, ...emails];
  const subject = nameText(leaf.subject);
  const names = `subject "${subject}", ${sans.length} alternative names`;
  if (subject !== '') return pass(names);
  if (sans.length === 0) return fail('neither a subject nor a subject alternative name');
  const critical = leaf.extensions.find(({ oid }) => oid === OID_SUBJECT_ALT_NAME)?.critical;
  return unless(
    critical === true ? undefined : 'the subject is empty and subjectAltName is not critical',
    names,
  );
};

/** Usages of encryption, which such keys cannot do (RFC 8813 §3, RFC 8410 §5). */
const NOT_FOR_SIGNING_KEYS: readonly KeyUsageBit[] = ['keyEncipherment', 'dataEncipherment'];

/**
 * Passes when a key that can only sign has no keyEncipherment and no dataEncipherment (RFC 8813
 * §3, RFC 8410 §5).
 */
export const keyUsageFitsKey: LeafAssertion = ({ leaf }) => {
  const { algorithm } = leaf.publicKey;
  if (algorithm === 'RSA') return skip('the key is RSA, which may do all');
  const wrong = NOT_FOR_SIGNING_KEYS.filter((bit) => leaf.keyUsage?.has(bit));
  const bits = [...(leaf.keyUsage ?? [])].join(', ');
  return unless(
    wrong.length === 0 ? undefined : `an ${algorithm} key with ${wrong.join(', ')}`,
    `keyUsage of the ${algorithm} key: ${bits === '' ? 'none' : bits}`,
  );
};

/** Passes when keyUsage is present and critical, as RFC 5280 §4.2.1.3 recommends (SHOULD). */
export const hasCriticalKeyUsage: LeafAssertion = ({ leaf }) => {
  const found = leaf.extensions.find(({ oid }) => oid === OID_KEY_USAGE);
  if (found === undefined) return fail('the leaf has no keyUsage: it may be used for anything');
  return unless(found.critical ? undefined : 'keyUsage is not critical', 'keyUsage is critical');
};

/**
 * Passes when extKeyUsage is present without "any". A leaf without it is valid for every purpose
 * (RFC 5280 §4.2.1.12).
 */
export const hasExtKeyUsage: LeafAssertion = ({ leaf }) => {
  const purposes = leaf.extKeyUsage;
  if (purposes === undefined) return fail('the leaf has no extKeyUsage: it is good for anything');
  const any = purposes.includes('2.5.29.37.0');
  return unless(any ? 'extKeyUsage has anyExtendedKeyUsage' : undefined, purposes.join(', '));
};

/** Returns the extensions of a leaf, by dotted OID. */
function extensionsOf({ leaf }: IssuedLeaf): readonly string[] {
  return leaf.extensions.map(({ oid }) => oid);
}

/**
 * Passes when the leaf has no extension of this dotted OID, which only the PKCS#10 body requests.
 */
export function lacksExtension(oid: string): LeafAssertion {
  return (issued: IssuedLeaf, _context: AssertionContext): AssertionResult =>
    extensionsOf(issued).includes(oid)
      ? fail(`the leaf has the requested extension ${oid}`)
      : pass(`the leaf's extensions: ${extensionsOf(issued).join(', ')}`);
}

/**
 * Passes when extKeyUsage lacks this dotted OID, which only the PKCS#10 body requests
 * (`spec.usages` does not).
 */
export function lacksPurpose(oid: string): LeafAssertion {
  return ({ leaf }) =>
    leaf.extKeyUsage?.includes(oid) === true
      ? fail(`extKeyUsage of the leaf has ${oid}, which spec.usages does not request`)
      : pass(`${OID_EXT_KEY_USAGE}: ${(leaf.extKeyUsage ?? []).join(', ')}`);
}

function keyText({ publicKey }: Certificate): string {
  return publicKey.keyType ?? `${publicKey.algorithm} with ${publicKey.bits} bits`;
}
