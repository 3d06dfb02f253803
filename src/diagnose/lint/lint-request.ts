// SPDX-License-Identifier: Apache-2.0
import { SignerError, attempt } from '#base/errors.ts';
import type { Violation } from '#ca/policy/violations/violation.ts';
import { encodePem } from '#pki/der/pem.ts';
import { OID_SERVER_AUTH } from '#pki/der/oids.ts';
import { decodeRequest } from '#pki/x509/pkcs10.ts';
import { unsupportedParts } from '#pki/x509/requested-names.ts';
import { SERVER_WITHOUT_NAMES, hasServerNames } from '../certificate-outlook.ts';
import { refusalsOfPem } from '../request-refusals.ts';
import type { LintFinding } from './finding.ts';

/** Rules whose names and sources are older than the reasons of the components. */
const KNOWN: ReadonlyMap<string, readonly [rule: string, source: string]> = new Map([
  ['MalformedRequest', ['readable', 'docs/reference/strictness.md']],
  ['InvalidSignature', ['request-signature', 'RFC 2986 §3']],
  ['WeakKey', ['key-strong', 'Countersign']],
]);

/**
 * Lints one PKCS#10 request by the judge of the components.
 *
 * @param request - its DER, and the whole text if it is PEM
 */
export function lintRequest(
  { der, pem = encodePem('CERTIFICATE REQUEST', der) }: { der: Uint8Array; pem?: string },
  where: string,
): readonly LintFinding[] {
  return [
    ...refusalsOfPem(pem).map((each) => refusalFinding(each, where)),
    ...omitted(der, where),
    ...unnamedServer(der, where),
  ];
}

/**
 * Returns a warning for a server's request without a name that clients check.
 *
 * @param usages - `spec.usages`. A file has the purposes of its extKeyUsage instead.
 */
export function unnamedServer(
  der: Uint8Array,
  where: string,
  usages: readonly unknown[] = [],
): readonly LintFinding[] {
  const request = attempt(() => decodeRequest(der));
  if (request instanceof SignerError) return [];
  const { extKeyUsage = [], sans } = request;
  const isForServers = usages.includes('server auth') || extKeyUsage.includes(OID_SERVER_AUTH);
  if (!isForServers || hasServerNames(sans)) return [];
  const [rule, source, message] = ['server-has-names', 'RFC 9525 §2', SERVER_WITHOUT_NAMES];
  return [{ severity: 'warning', rule, source, where, message }];
}

/** Returns the finding for what every signer refuses. Its rule is the reason in kebab-case. */
export function refusalFinding({ reason, message }: Violation, where: string): LintFinding {
  const kebab = reason.replaceAll(/(?!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
  const [rule, source] = KNOWN.get(reason) ?? [kebab, 'Countersign'];
  return { severity: 'error', rule, source, where, message };
}

/** Warns of parts that no leaf gets, for which a CertificateRequest fails. */
function omitted(der: Uint8Array, where: string): readonly LintFinding[] {
  const request = attempt(() => decodeRequest(der));
  if (request instanceof SignerError) return [];
  return unsupportedParts(request).map((part) => ({
    severity: 'warning',
    rule: 'subject-copied',
    source: 'Countersign',
    where,
    message: `no leaf gets the ${part}, and a CertificateRequest of cert-manager with it fails; remove it`,
  }));
}
