// SPDX-License-Identifier: Apache-2.0
/** Rules of RFC 5280 and of Countersign's verifiers for certificates from outside. */
import { SignerError, attempt } from '#base/errors.ts';
import { UNUSABLE_BITS } from '#pki/extensions/usages.ts';
import {
  OID_BASIC_CONSTRAINTS,
  OID_KEY_USAGE,
  OID_NAME_CONSTRAINTS,
  OID_SERVER_AUTH,
  OID_SUBJECT_ALT_NAME,
} from '#pki/der/oids.ts';
import { checkKey } from '#pki/keys/weak-keys.ts';
import { decodeCertificate, type Certificate } from '#pki/x509/certificate.ts';
import { isSelfSigned } from '#pki/x509/issuers.ts';
import { SERVER_WITHOUT_NAMES, hasServerNames } from '../certificate-outlook.ts';
import { unreadable, type LintFinding } from './finding.ts';

interface CertificateRule {
  readonly severity: LintFinding['severity'];
  readonly rule: string;
  readonly source: string;
  /** Returns the problem, or undefined if the certificate satisfies the rule. */
  readonly check: (certificate: Certificate, now: number) => string | undefined;
}

const ERRORS: readonly Omit<CertificateRule, 'severity'>[] = [
  {
    rule: 'serial-positive',
    source: 'RFC 5280 §4.1.2.2',
    check: ({ serial }) => {
      if (serial.every((octet) => octet === 0)) return 'the serial number is zero';
      return ((serial[0] ?? 0) & 0x80) === 0 ? undefined : 'the serial number is negative';
    },
  },
  {
    rule: 'validity-in-order',
    source: 'RFC 5280 §4.1.2.5',
    check: ({ notBefore, notAfter }) =>
      notBefore < notAfter ? undefined : 'notAfter is not later than notBefore',
  },
  {
    rule: 'issuer-named',
    source: 'RFC 5280 §4.1.2.4',
    check: ({ issuer }) => (issuer.attributes.length === 0 ? 'the issuer has no name' : undefined),
  },
  {
    rule: 'ca-named',
    source: 'RFC 5280 §4.1.2.6',
    check: ({ isCa, subject }) =>
      isCa && subject.attributes.length === 0 ? 'a CA has no name' : undefined,
  },
  {
    rule: 'ca-constraints-critical',
    source: 'RFC 5280 §4.2.1.9',
    check: (of) =>
      of.isCa && !isCritical(of, OID_BASIC_CONSTRAINTS)
        ? 'basicConstraints of a CA are not critical'
        : undefined,
  },
  {
    rule: 'cert-sign-is-of-cas',
    source: 'RFC 5280 §4.2.1.3',
    check: ({ isCa, keyUsage }) => {
      if (keyUsage === undefined) return isCa ? 'a CA has no keyUsage' : undefined;
      if (isCa === keyUsage.has('keyCertSign')) return undefined;
      return isCa ? 'a CA has no keyCertSign' : 'it has keyCertSign and is not a CA';
    },
  },
  {
    rule: 'subject-key-identifier',
    source: 'RFC 5280 §4.2.1.2',
    check: ({ isCa, subjectKeyIdentifier: id }) =>
      isCa && id === undefined ? 'a CA has no subjectKeyIdentifier' : undefined,
  },
  {
    rule: 'authority-key-identifier',
    source: 'RFC 5280 §4.2.1.1',
    check: (of) =>
      of.authorityKeyIdentifier === undefined && !isSelfSigned(of)
        ? 'it has no authorityKeyIdentifier, and another signed it'
        : undefined,
  },
  {
    rule: 'name-constraints-of-cas',
    source: 'RFC 5280 §4.2.1.10',
    check: (of) => {
      if (!has(of, OID_NAME_CONSTRAINTS)) return undefined;
      if (!of.isCa) return 'it has nameConstraints and is not a CA';
      return isCritical(of, OID_NAME_CONSTRAINTS) ? undefined : 'nameConstraints are not critical';
    },
  },
  {
    rule: 'name-present',
    source: 'RFC 5280 §4.1.2.6, §4.2.1.6',
    check: (of) => {
      if (of.subject.attributes.length > 0) return undefined;
      if (!has(of, OID_SUBJECT_ALT_NAME)) return 'it has neither a subject nor a subjectAltName';
      return isCritical(of, OID_SUBJECT_ALT_NAME)
        ? undefined
        : 'the subject is empty, and subjectAltName is not critical';
    },
  },
  {
    rule: 'key-usage-fits-key',
    source: 'RFC 3279 §2.3.1, RFC 8813 §3, RFC 9295 §3',
    check: ({ keyUsage, publicKey: { algorithm } }) => {
      const wrong = UNUSABLE_BITS[algorithm].filter((bit) => keyUsage?.has(bit) === true);
      if (wrong.length === 0) return undefined;
      return `${wrong.join(' and ')} cannot be done with an ${algorithm} key`;
    },
  },
  {
    rule: 'key-strong',
    source: 'Countersign',
    check: ({ publicKey }) => {
      const checked = attempt(() => {
        checkKey(publicKey);
      });
      return checked instanceof SignerError ? checked.message : undefined;
    },
  },
];

const WARNINGS: readonly Omit<CertificateRule, 'severity'>[] = [
  {
    rule: 'in-time',
    source: 'RFC 5280 §6.1.3',
    check: ({ notBefore, notAfter }, now) => {
      if (now > notAfter) return 'it has expired';
      return now < notBefore ? 'it is not valid yet' : undefined;
    },
  },
  {
    rule: 'key-usage-critical',
    source: 'RFC 5280 §4.2.1.3',
    check: (of) =>
      has(of, OID_KEY_USAGE) && !isCritical(of, OID_KEY_USAGE)
        ? 'keyUsage is not critical'
        : undefined,
  },
  {
    rule: 'critical-understood',
    source: 'RFC 5280 §4.2',
    check: ({ unhandledCritical: unknown }) =>
      unknown.length === 0
        ? undefined
        : `a verifier that does not know ${unknown.join(', ')} refuses it`,
  },
  {
    rule: 'server-has-names',
    source: 'RFC 9525 §2',
    check: ({ extKeyUsage = [], sans }) =>
      extKeyUsage.includes(OID_SERVER_AUTH) && !hasServerNames(sans)
        ? SERVER_WITHOUT_NAMES
        : undefined,
  },
  {
    rule: 'usage-present',
    source: 'RFC 5280 §4.2.1.12',
    check: ({ isCa, keyUsage, extKeyUsage }) =>
      !isCa && keyUsage === undefined && extKeyUsage === undefined
        ? 'it has neither keyUsage nor extKeyUsage: it may be used for everything'
        : undefined,
  },
];

const RULES: readonly CertificateRule[] = [
  ...ERRORS.map((rule) => ({ ...rule, severity: 'error' as const })),
  ...WARNINGS.map((rule) => ({ ...rule, severity: 'warning' as const })),
];

/**
 * Lints one certificate.
 *
 * @param now - milliseconds since 1970
 * @returns its problems, or only `readable` if the strict reader rejects it
 */
export function lintCertificate(
  der: Uint8Array,
  where: string,
  now: number,
): readonly LintFinding[] {
  const certificate = attempt(() => decodeCertificate(der));
  if (certificate instanceof SignerError) {
    return [unreadable(where, certificate)];
  }
  return RULES.flatMap(({ severity, rule, source, check }) => {
    const message = check(certificate, now);
    return message === undefined ? [] : [{ severity, rule, source, where, message }];
  });
}

function has({ extensions }: Certificate, wanted: string): boolean {
  return extensions.some(({ oid }) => oid === wanted);
}

function isCritical({ extensions }: Certificate, wanted: string): boolean {
  return extensions.some(({ oid, critical }) => oid === wanted && critical);
}
