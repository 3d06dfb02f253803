// SPDX-License-Identifier: Apache-2.0
import { unsignedBigInt } from '#pki/der/der-values.ts';
import { KEY_USAGE_BITS } from '#pki/extensions/usages.ts';
import type { NameConstraints } from '#pki/extensions/name-constraints.ts';
import { decodeCertificate, type Certificate } from '#pki/x509/certificate.ts';

/** What a certificate says, as facts.go of the program writes it of Go's reading. */
export function factsOf(der: Uint8Array): string {
  const read = decodeCertificate(der);
  const { sans, nameConstraints } = read;
  return [
    `serial ${unsignedBigInt(read.serial).toString(16)}`,
    `begin ${read.notBefore / 1000}`,
    `end ${read.notAfter / 1000}`,
    `ca ${read.isCa}`,
    `path ${read.pathLen ?? -1}`,
    `usage ${usageOf(read)}`,
    `purposes ${(read.extKeyUsage ?? []).join(' ')}`,
    `key ${hex(read.subjectKeyIdentifier)}`,
    `issuer key ${hex(read.authorityKeyIdentifier)}`,
    `critical ${unhandled(read).join(' ')}`,
    `dns ${list(sans.dnsNames)}`,
    `email ${list(sans.emails)}`,
    `addresses ${sans.ipAddresses.length} uris ${sans.uris.length}`,
    `permitted ${constraints(nameConstraints?.permitted)}`,
    `excluded ${constraints(nameConstraints?.excluded)}`,
  ].join('\n');
}

const NAME_CONSTRAINTS = '2.5.29.30';
const POLICY_CONSTRAINTS = '2.5.29.36';

/**
 * Critical extensions that a path may not have. Go counts name constraints of other kinds among
 * them, which our path reads from `hasOther`. It validates policies, and we do not (strictness.ts).
 */
function unhandled({
  extensions,
  nameConstraints,
  unhandledCritical,
}: Certificate): readonly string[] {
  const isOther = (oid: string): boolean =>
    oid === NAME_CONSTRAINTS && nameConstraints?.hasOther === true;
  return extensions
    .filter(({ oid, critical }) => critical && (unhandledCritical.includes(oid) || isOther(oid)))
    .map(({ oid }) => oid)
    .filter((oid) => oid !== POLICY_CONSTRAINTS);
}

/** Bits as a binary number, the first bit last, as Go's KeyUsage is. */
function usageOf({ keyUsage }: Certificate): string {
  let bits = 0;
  KEY_USAGE_BITS.forEach((bit, number) => {
    if (keyUsage?.has(bit) === true) bits |= 1 << number;
  });
  return bits.toString(2);
}

function constraints(of: NameConstraints['permitted'] = []): string {
  const texts = (kind: string): string =>
    list(of.flatMap((each) => (each.kind !== 'ip' && each.kind === kind ? [each.text] : [])));
  const ranges = of.filter(({ kind }) => kind === 'ip').length;
  return `${texts('dns')} ${ranges} ${texts('email')} ${texts('uri')}`;
}

const hex = (bytes: Uint8Array = new Uint8Array()): string => Buffer.from(bytes).toString('hex');

/** Go's %q of texts of printable ASCII. */
const list = (texts: readonly string[]): string =>
  `[${texts.map((text) => `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`).join(' ')}]`;
