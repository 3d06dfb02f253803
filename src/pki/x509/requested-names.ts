// SPDX-License-Identifier: Apache-2.0
import { INVISIBLE_CHARACTERS, type LeafSubject, type RequestField } from '../../vocabulary.ts';
import { canonicalDnsName, canonicalEmail, canonicalIp, canonicalUri } from '../names/canonical.ts';
import type { DistinguishedName } from '../names/distinguished-name.ts';
import { OID_COMMON_NAME, OID_ORGANIZATION, OID_ORGANIZATIONAL_UNIT } from '../der/oids.ts';
import type { CertificationRequest } from './pkcs10.ts';
import { inputError } from '../der/input-error.ts';

type Named = Pick<CertificationRequest, 'subject' | 'sans'>;

const FIELDS: Readonly<Record<string, RequestField>> = {
  [OID_COMMON_NAME]: 'commonName',
  [OID_ORGANIZATION]: 'organizations',
  [OID_ORGANIZATIONAL_UNIT]: 'organizationalUnits',
};

/**
 * The names of a request, each in its one canonical spelling, so that what a policy compares is what
 * a leaf holds and what a verifier reads.
 *
 * @throws SignerError NAME_INVALID (`fail`) where a name is not canonical or can be read in two ways
 */
export function requestedNames({ subject, sans }: Named): LeafSubject {
  const [problem] = subject.problems;
  if (problem !== undefined) throw inputError('NAME_INVALID', `the subject has ${problem}`);
  const commonNames = valuesOf(subject, OID_COMMON_NAME);
  if (commonNames.length > 1)
    throw inputError('NAME_INVALID', 'the subject has several common names');
  return {
    commonName: commonNames[0] ?? '',
    organizations: valuesOf(subject, OID_ORGANIZATION),
    organizationalUnits: valuesOf(subject, OID_ORGANIZATIONAL_UNIT),
    dnsNames: canonical('DNS name', sans.dnsNames, canonicalDnsName),
    ipAddresses: canonical('IP address', sans.ipAddresses, canonicalIp),
    uris: canonical('URI', sans.uris, canonicalUri),
    emails: canonical('email address', sans.emails, canonicalEmail),
  };
}

/** What a request asks for that no field of the API names, for messages; never part of a leaf. */
export function unsupportedParts({ subject, sans }: Named): readonly string[] {
  const types = subject.attributes
    .map(({ oid }) => oid)
    .filter((oid) => !Object.hasOwn(FIELDS, oid));
  const attributes = [...new Set(types)].map((oid) => `subject attribute ${oid}`);
  const kinds = sans.other === 0 ? [] : [`${sans.other} subject alternative names of other kinds`];
  return [...attributes, ...kinds];
}

function valuesOf(subject: DistinguishedName, type: string): readonly string[] {
  const values = subject.attributes.filter(({ oid }) => oid === type).map(({ value }) => value);
  for (const value of values) requireVisible(value, 'the subject');
  return values;
}

/**
 * A name of a subject is text that looks like itself: two names that look the same are one too many.
 *
 * @param whose - what has it, for messages
 * @throws SignerError NAME_INVALID
 */
export function requireVisible(value: string, whose: string): void {
  const isVisible = value !== '' && value.trim() === value;
  if (isVisible && value.search(INVISIBLE_CHARACTERS) === -1) return;
  throw inputError(
    'NAME_INVALID',
    `${whose} has ${JSON.stringify(value.slice(0, SHOWN))}: a name begins and ends with a visible character and has no control, invisible or format characters`,
  );
}

/** How much of a foreign text is repeated in a message. */
const SHOWN = 80;

function canonical(
  kind: string,
  names: readonly string[],
  spell: (name: string) => string,
): readonly string[] {
  for (const name of names) {
    const right = spell(name);
    if (right !== name) {
      throw inputError(
        'NAME_INVALID',
        `the ${kind} ${JSON.stringify(name.slice(0, SHOWN))} is not in canonical form; write ${JSON.stringify(right.slice(0, SHOWN))}`,
      );
    }
  }
  return names;
}
