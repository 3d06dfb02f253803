// SPDX-License-Identifier: Apache-2.0
/**
 * Asserts the properties of trust anchors. Each assertion names the first anchor that violates it.
 */
import { type Certificate, isSelfIssued } from '#pki/x509/certificate.ts';
import { nameText } from '#pki/names/distinguished-name.ts';
import { OID_BASIC_CONSTRAINTS, OID_KEY_USAGE } from '#pki/der/oids.ts';
import { isSelfSigned } from '#pki/x509/issuers.ts';
import { fail, pass, skip, unless, type AssertionResult } from '../case.ts';
import { readChain } from '../issued-leaf.ts';
import type { CtbSnapshot } from './snapshot.ts';

/**
 * Returns the fault of one anchor, or undefined. `now` is the API server's clock in milliseconds
 * since the epoch.
 */
export type AnchorAssertion = (anchor: Certificate, now: number) => string | undefined;

/** Returns all anchors of all bundles, or the result that explains why there are none. */
export function anchorsIn({ bundles }: CtbSnapshot): readonly Certificate[] | AssertionResult {
  if ('skipped' in bundles) return skip(bundles.skipped);
  if (bundles.length === 0) return skip('no bundle is published');
  const anchors: Certificate[] = [];
  for (const { name, pem } of bundles) {
    const read = readChain(pem);
    if (typeof read === 'string') return fail(`${name}: ${read}`);
    anchors.push(...read);
  }
  return anchors;
}

/** Evaluates all anchors together. Skips when nothing is published. */
export function onAnchors(
  assertion: (anchors: readonly Certificate[], snapshot: CtbSnapshot) => AssertionResult,
) {
  return (snapshot: CtbSnapshot): AssertionResult => {
    const anchors = anchorsIn(snapshot);
    return 'outcome' in anchors ? anchors : assertion(anchors, snapshot);
  };
}

/** Evaluates each anchor. Fails with the first that violates the assertion. */
export function onEachAnchor(
  assertion: AnchorAssertion,
): (snapshot: CtbSnapshot) => AssertionResult {
  return onAnchors((anchors, { now }) => {
    for (const anchor of anchors) {
      const fault = assertion(anchor, now);
      if (fault !== undefined) return fail(`"${nameText(anchor.subject)}" ${fault}`);
    }
    return pass(`${anchors.length} anchors`);
  });
}

/** Requires CA:TRUE in basicConstraints (RFC 5280 §4.2.1.9). */
export const isCaCertificate: AnchorAssertion = ({ isCa }) => (isCa ? undefined : 'is not a CA');

/** Requires critical basicConstraints (RFC 5280 §4.2.1.9: MUST, in CA certificates). */
export const hasCriticalConstraints: AnchorAssertion = ({ extensions }) => {
  const found = extensions.find(({ oid }) => oid === OID_BASIC_CONSTRAINTS);
  return found?.critical === true ? undefined : 'has basicConstraints that are not critical';
};

/** Requires keyCertSign in keyUsage (RFC 5280 §4.2.1.3: MUST, in CA certificates). */
export const hasKeyCertSign: AnchorAssertion = ({ keyUsage }) =>
  keyUsage?.has('keyCertSign') === true ? undefined : 'has no keyUsage with keyCertSign';

/** Requires a critical keyUsage, if there is one (RFC 5280 §4.2.1.3: SHOULD). */
export const marksKeyUsageCritical: AnchorAssertion = ({ extensions }) => {
  const found = extensions.find(({ oid }) => oid === OID_KEY_USAGE);
  return found?.critical === false ? 'has a keyUsage that is not critical' : undefined;
};

/** Requires a key identifier (RFC 5280 §4.2.1.2: MUST, in CA certificates). */
export const hasKeyIdentifier: AnchorAssertion = ({ subjectKeyIdentifier }) =>
  subjectKeyIdentifier === undefined ? 'has no subjectKeyIdentifier' : undefined;

/**
 * Requires a subject, by which leaves name their issuer (RFC 5280 §4.1.2.6: MUST, in CA
 * certificates).
 */
export const hasSubject: AnchorAssertion = ({ subject }) =>
  subject.attributes.length === 0 ? 'has an empty subject' : undefined;

/** Requires a notAfter that is not in the past. */
export const isNotExpired: AnchorAssertion = ({ notAfter }, now) =>
  notAfter < now ? `has expired at ${new Date(notAfter).toISOString()}` : undefined;

/** Requires a notBefore that is not in the future. */
export const isAlreadyValid: AnchorAssertion = ({ notBefore }, now) =>
  notBefore > now ? `is valid only from ${new Date(notBefore).toISOString()}` : undefined;

/** Requires a self-issued anchor to be signed by its own key. */
export const hasValidSelfSignature: AnchorAssertion = (anchor) =>
  isSelfIssued(anchor) && !isSelfSigned(anchor)
    ? 'is self-issued, and its signature is not by its own key'
    : undefined;

/** The minimum of CA/Browser Forum BR §6.1.5. */
const MIN_RSA_BITS = 2048;

/** Requires 2048 bits or more of an RSA key (CA/Browser Forum BR §6.1.5). */
export const hasLongRsaKey: AnchorAssertion = ({ publicKey }) =>
  publicKey.algorithm === 'RSA' && publicKey.bits < MIN_RSA_BITS
    ? `has an RSA key with ${publicKey.bits} bits`
    : undefined;

/**
 * Passes when anchors with one name and different keys have different key identifiers. Verifiers
 * that look up an issuer by name must find the one that signed.
 */
export function haveDistinctKeyIdentifiers(anchors: readonly Certificate[]): AssertionResult {
  const known = anchors.map(({ subject, subjectKeyIdentifier, publicKey }) => ({
    name: Buffer.from(subject.raw).toString('hex'),
    text: nameText(subject),
    id: Buffer.from(subjectKeyIdentifier ?? []).toString('hex'),
    key: Buffer.from(publicKey.spki).toString('hex'),
  }));
  const clash = known.find((a) =>
    known.some((b) => a.name === b.name && a.key !== b.key && a.id === b.id),
  );
  return unless(
    clash === undefined
      ? undefined
      : `two keys under "${clash.text}" without a key identifier of their own`,
    `${known.length} anchors`,
  );
}

/** Passes when no bundle has an anchor twice. Two bundles of a signer may share one. */
export function haveDistinctAnchors(snapshot: CtbSnapshot): AssertionResult {
  const all = anchorsIn(snapshot);
  if ('outcome' in all) return all;
  const bundles = 'skipped' in snapshot.bundles ? [] : snapshot.bundles;
  for (const bundle of bundles) {
    const anchors = anchorsIn({ ...snapshot, bundles: [bundle] });
    if ('outcome' in anchors) return anchors;
    const different = new Set(anchors.map(({ raw }) => Buffer.from(raw).toString('hex'))).size;
    if (different !== anchors.length)
      return fail(`${bundle.name}: ${different} different anchors of ${anchors.length}`);
  }
  return pass(`${all.length} anchors in ${bundles.length} bundles`);
}
