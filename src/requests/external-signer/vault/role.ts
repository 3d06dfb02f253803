// SPDX-License-Identifier: Apache-2.0
/** Judges the role of a PKI secrets engine before an order, so that no refused answer costs. */
import type { ExternalSigner } from '#api/external/external-signer.ts';
import { MIN_LIFETIME_SECONDS } from '#api/request/pod-certificate-request.ts';
import { MAX_BACKDATE_SECONDS } from '#api/signer/cluster-signer-limits.ts';
import type { KeyUsage } from '#base/vocabulary.ts';
import { usageBits } from '#pki/extensions/usages.ts';
import * as messages from '../messages.ts';

/** The limits and usages that a role adds to each call. */
export interface RoleLimits {
  /** Seconds from notBefore to the time of the call. */
  readonly backdateSeconds: number;
  /** Longest life after the time of the call. Undefined: that of the engine. */
  readonly maxSeconds: number | undefined;
  /** Issuer of the engine. */
  readonly issuer: string;
  /** Usages that each certificate has. */
  readonly usages: readonly KeyUsage[];
}

/** Reason for which no certificate is ordered. */
export interface RoleFault {
  readonly fault: string;
}

/** Fields of a role that take names or extensions from a request, or fix the end. */
const MUST_BE_FALSE = ['use_csr_sans', 'use_csr_common_name', 'require_cn'] as const;
/** Fields of a role that add names to certificates, or take them from a request. */
const MUST_BE_EMPTY = [
  'organization',
  'ou',
  'country',
  'locality',
  'province',
  'street_address',
  'postal_code',
  'allowed_serial_numbers',
  'ext_key_usage_oids',
  'not_after',
] as const;

/** Purposes by the flag of a role that adds them. */
const PURPOSE_FLAGS: Readonly<Record<string, KeyUsage>> = {
  server_flag: 'server auth',
  client_flag: 'client auth',
  code_signing_flag: 'code signing',
  email_protection_flag: 'email protection',
};

/** Key usages of a role, by the bit that Go names so (crypto/x509 KeyUsage). */
const KEY_USAGES: Readonly<Record<string, KeyUsage>> = {
  digitalsignature: 'digital signature',
  contentcommitment: 'content commitment',
  keyencipherment: 'key encipherment',
  dataencipherment: 'data encipherment',
  keyagreement: 'key agreement',
  certsign: 'cert sign',
  crlsign: 'crl sign',
  encipheronly: 'encipher only',
  decipheronly: 'decipher only',
};

/** Purposes of a role, as Go names them (crypto/x509 ExtKeyUsage). */
const PURPOSES: Readonly<Record<string, KeyUsage>> = {
  any: 'any',
  serverauth: 'server auth',
  clientauth: 'client auth',
  codesigning: 'code signing',
  emailprotection: 'email protection',
  ipsecendsystem: 'ipsec end system',
  ipsectunnel: 'ipsec tunnel',
  ipsecuser: 'ipsec user',
  timestamping: 'timestamping',
  ocspsigning: 'ocsp signing',
  microsoftservergatedcrypto: 'microsoft sgc',
  netscapeservergatedcrypto: 'netscape sgc',
};

type Role = Readonly<Record<string, unknown>>;

/**
 * Judges a role for a signer. Vault gives a certificate that this program refuses if its role takes
 * names from the request, or allows more than the profile.
 *
 * @param role - member `data` of the answer
 */
export function judgeRole(role: Role, signer: ExternalSigner): RoleLimits | RoleFault {
  const { spec } = signer;
  const name = spec.authority.vault.role;
  const fault = fieldFault(name, role);
  if (fault !== undefined) return { fault };
  const usages = usagesOf(role);
  if ('unknown' in usages) return { fault: messages.roleUsage(name, usages.unknown) };
  const usage = usages.find((each) => !isWithin(each, spec.profile.usages));
  if (usage !== undefined) return { fault: messages.roleUsage(name, usage) };
  const times = timesOf(name, role, signer);
  if ('fault' in times) return times;
  const issuer = typeof role['issuer_ref'] === 'string' ? role['issuer_ref'] : 'default';
  if (!ISSUER.test(issuer)) return { fault: messages.roleUnreadable(name) };
  return { ...times, issuer, usages };
}

/** Returns the fault of a field that takes names or an end from elsewhere. */
function fieldFault(name: string, role: Role): string | undefined {
  const field = MUST_BE_FALSE.find((each) => role[each] !== false);
  if (field !== undefined) return messages.roleField(name, field, 'false');
  const filled = MUST_BE_EMPTY.find((each) => !isEmpty(role[each]));
  return filled === undefined ? undefined : messages.roleField(name, filled, 'empty');
}

function timesOf(
  name: string,
  role: Role,
  { spec }: ExternalSigner,
): Pick<RoleLimits, 'backdateSeconds' | 'maxSeconds'> | RoleFault {
  const backdateSeconds = secondsOf(role['not_before_duration']);
  const most = secondsOf(role['max_ttl']);
  if (backdateSeconds === undefined || most === undefined) {
    return { fault: messages.roleUnreadable(name) };
  }
  if (backdateSeconds > MAX_BACKDATE_SECONDS) {
    return { fault: messages.roleBackdate(name, backdateSeconds, MAX_BACKDATE_SECONDS) };
  }
  const longest = most === 0 ? Infinity : most + backdateSeconds;
  if (spec.pods !== undefined && longest < MIN_LIFETIME_SECONDS) {
    return { fault: messages.roleLife(name, most, MIN_LIFETIME_SECONDS - backdateSeconds) };
  }
  return { backdateSeconds, maxSeconds: most === 0 ? undefined : most };
}

/** Name or ID of an issuer: a segment of a path. */
const ISSUER = /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,255}$/;

/**
 * Returns the seconds after the call for a leaf of this life, so that the whole life with the
 * backdate of the role is not longer. A PodCertificateRequest that allows one hour, the least of
 * the API, accepts no other life.
 */
export function ttlOf(lifeSeconds: number, { backdateSeconds, maxSeconds }: RoleLimits): number {
  return Math.min(lifeSeconds - backdateSeconds, maxSeconds ?? Infinity);
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return Array.isArray(value) && value.length === 0;
}

/** Returns the usages that a role adds to each certificate, or the name of an unknown one. */
function usagesOf(role: Role): readonly KeyUsage[] | { readonly unknown: string } {
  const named = [
    ...namesIn(role['key_usage']).map((each) => [each, KEY_USAGES[canonical(each)]] as const),
    ...namesIn(role['ext_key_usage']).map((each) => [each, PURPOSES[canonical(each)]] as const),
    ...Object.entries(PURPOSE_FLAGS).flatMap(([flag, usage]) =>
      role[flag] === false ? [] : [[flag, usage] as const],
    ),
  ];
  const unknown = named.find(([, usage]) => usage === undefined);
  if (unknown !== undefined) return { unknown: unknown[0] };
  return [...new Set(named.flatMap(([, usage]) => usage ?? []))];
}

/** Reports whether a certificate with these allowed usages may have a usage. */
export function isWithin(usage: KeyUsage, allowed: readonly KeyUsage[]): boolean {
  const bits = usageBits(allowed);
  const { keyUsage, extKeyUsage } = usageBits([usage]);
  return (
    keyUsage.every((each) => bits.keyUsage.includes(each)) &&
    extKeyUsage.every((each) => bits.extKeyUsage.includes(each))
  );
}

function namesIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

/** Vault accepts `DigitalSignature` and `KeyUsageDigitalSignature`, in any case. */
function canonical(name: string): string {
  return name.toLowerCase().replace(/^(ext)?keyusage/, '');
}

/** Returns seconds that Vault writes as a number, or undefined. */
function secondsOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
