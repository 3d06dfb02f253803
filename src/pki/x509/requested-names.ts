// SPDX-License-Identifier: Apache-2.0
import { SignerError, attempt } from '#base/errors.ts';
import { INVISIBLE_CHARACTERS, quote } from '#base/quote.ts';
import type { LeafSubject, RequestField } from '#base/vocabulary.ts';
import { canonicalDnsName, canonicalEmail, canonicalIp } from '../names/canonical.ts';
import { canonicalUri } from '../names/canonical-uri.ts';
import { attributeText, type DistinguishedName } from '../names/distinguished-name.ts';
import { OID_COMMON_NAME, OID_ORGANIZATION, OID_ORGANIZATIONAL_UNIT } from '../der/oids.ts';
import type { CertificationRequest } from './pkcs10.ts';
import { inputError } from '../der/input-error.ts';

type RequestNames = Pick<CertificationRequest, 'subject' | 'sans'>;

const FIELDS: Readonly<Record<string, RequestField>> = {
  [OID_COMMON_NAME]: 'commonName',
  [OID_ORGANIZATION]: 'organizations',
  [OID_ORGANIZATIONAL_UNIT]: 'organizationalUnits',
};

/** Maximum number of problems in a message, which counts the rest. */
const MAX_PROBLEMS = 10;

/**
 * Returns the names of a request or a certificate. Each must be in canonical spelling, so that a
 * policy compares the same text that the leaf holds and a verifier reads.
 *
 * @throws SignerError NAME_INVALID with all problems when a name is not canonical or is ambiguous
 */
export function requestedNames({ subject, sans }: RequestNames): LeafSubject {
  const commonNames = valuesOf(subject, OID_COMMON_NAME);
  const organizations = valuesOf(subject, OID_ORGANIZATION);
  const organizationalUnits = valuesOf(subject, OID_ORGANIZATIONAL_UNIT);
  const problems = [
    ...subject.problems.map((problem) => `the subject has ${problem}`),
    ...(commonNames.length > 1 ? ['the subject has several common names'] : []),
    ...[...commonNames, ...organizations, ...organizationalUnits].flatMap((value) =>
      faultOf(() => {
        requireVisible(value, 'the subject');
      }),
    ),
    ...spellingFaults('DNS name', sans.dnsNames, canonicalDnsName),
    ...spellingFaults('IP address', sans.ipAddresses, canonicalIp),
    ...spellingFaults('URI', sans.uris, canonicalUri),
    ...spellingFaults('email address', sans.emails, canonicalEmail),
  ];
  if (problems.length > 0) throw inputError('NAME_INVALID', listed(problems));
  return {
    commonName: commonNames[0] ?? '',
    organizations,
    organizationalUnits,
    dnsNames: sans.dnsNames,
    ipAddresses: sans.ipAddresses,
    uris: sans.uris,
    emails: sans.emails,
  };
}

function listed(problems: readonly string[]): string {
  const more = problems.length - MAX_PROBLEMS;
  const shown = problems.slice(0, MAX_PROBLEMS).join('; ');
  return more > 0 ? `${shown}; and ${more} more` : shown;
}

/**
 * Returns the names that no field of the API covers, as texts for messages. They never become part
 * of a leaf.
 */
export function unsupportedParts({ subject, sans }: RequestNames): readonly string[] {
  const types = subject.attributes
    .map(({ oid }) => oid)
    .filter((oid) => !Object.hasOwn(FIELDS, oid));
  const attributes = [...new Set(types)].map((oid) => `subject attribute ${attributeText(oid)}`);
  const kinds = sans.other === 0 ? [] : [`${sans.other} subject alternative names of other kinds`];
  return [...attributes, ...kinds];
}

function valuesOf(subject: DistinguishedName, type: string): readonly string[] {
  return subject.attributes.filter(({ oid }) => oid === type).map(({ value }) => value);
}

/**
 * Blanks that look like a space (Unicode's Zs), and several spaces. Two names would look the same,
 * and are the same for verifiers that compare names (RFC 4518 §2.6.1).
 */
const OTHER_BLANK = /(?! )\p{Zs}| {2}/u;
/** A mark that would combine with the quotation mark before it. */
const FIRST_MARK = /^\p{M}/u;

/**
 * Checks that a name of a subject is visible and has one spelling, because people compare names by
 * eye: no invisible characters, no marks before a letter, Unicode in normalization form C.
 *
 * @param whose - the owner of the name, for messages
 * @throws SignerError NAME_INVALID
 */
export function requireVisible(value: string, whose: string): void {
  const isVisible = value !== '' && value.trim() === value && !FIRST_MARK.test(value);
  if (!isVisible || value.search(INVISIBLE_CHARACTERS) !== -1 || OTHER_BLANK.test(value)) {
    throw inputError(
      'NAME_INVALID',
      `${whose} has ${quote(value)}: a name begins and ends with a visible character and has no blanks but single spaces, and no control, invisible or format characters`,
    );
  }
  const composed = value.normalize('NFC');
  if (composed === value) return;
  throw inputError(
    'NAME_INVALID',
    `${whose} has ${quote(value)} in a spelling that looks like another; write ${quote(composed)} (Unicode normalization form C)`,
  );
}

function spellingFaults(
  kind: string,
  names: readonly string[],
  spell: (name: string) => string,
): readonly string[] {
  return names.flatMap((name) =>
    faultOf(() => {
      const right = spell(name);
      if (right === name) return;
      throw inputError(
        'NAME_INVALID',
        `the ${kind} ${quote(name)} is not in canonical form; write ${quote(right)}`,
      );
    }),
  );
}

function faultOf(check: () => void): readonly string[] {
  const found = attempt(check);
  return found instanceof SignerError ? [found.message] : [];
}
