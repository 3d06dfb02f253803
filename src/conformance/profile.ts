// SPDX-License-Identifier: Apache-2.0
import { parseDuration } from '../api/object/duration.ts';
import { SignerError, attempt } from '../errors.ts';
import { KEY_TYPES, KEY_USAGES, type KeyType } from '../vocabulary.ts';

/**
 * What is known of the signer beforehand. Every field may be absent: then whatever a signer of this
 * kind may do is right.
 */
export interface ConformanceProfile {
  /** The key of ordinary requests. */
  readonly keyType: KeyType;
  /** Exactly these are issued, all others refused. */
  readonly keyTypes?: readonly KeyType[];
  /** What ordinary requests ask for. */
  readonly usages: readonly string[];
  /** The subject of ordinary requests; `{username}` is who runs the runner. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  /** Seconds: no leaf is longer valid. */
  readonly maxDuration?: number;
  /** Annotations of a pod's volume that the signer takes. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** The URIs of a pod's leaf, with `{namespace}` and `{serviceAccount}`. */
  readonly uris?: readonly string[];
  /** The URIs of a leaf whose pod has `annotations`. */
  readonly annotatedUris?: readonly string[];
  /** The leaf of a pod names the Services that select it. */
  readonly serviceNames?: boolean;
  /** The API server accepts its leaves as client certificates. */
  readonly clientAuthentication?: boolean;
  /** The signer's names are Kubernetes' own: `system:` is no attack. */
  readonly kubernetesNames?: boolean;
  /** Seconds from the approval, or the creation, to the certificate. */
  readonly latency: number;
}

/** What an ordinary client certificate asks for. */
const DEFAULT_USAGES = ['digital signature', 'client auth'] as const;

/** A pod waits for it, and its people with it. */
const DEFAULT_LATENCY_SECONDS = 10;

/** What the runner assumes of a signer that it knows nothing about. */
export const DEFAULT_PROFILE: ConformanceProfile = {
  keyType: 'ECDSAP256',
  usages: DEFAULT_USAGES,
  commonName: 'conformance.example.com',
  organizations: [],
  dnsNames: [],
  latency: DEFAULT_LATENCY_SECONDS,
};

/** Reads one field of a profile's YAML. @throws SignerError SPEC_INVALID */
type Read = (value: unknown, name: string) => unknown;

const FIELDS: Readonly<Record<keyof ConformanceProfile, Read>> = {
  keyType: oneOf(KEY_TYPES),
  keyTypes: listOf(oneOf(KEY_TYPES)),
  usages: listOf(oneOf(KEY_USAGES)),
  commonName: text,
  organizations: listOf(text),
  dnsNames: listOf(text),
  maxDuration: seconds,
  annotations: texts,
  uris: listOf(text),
  annotatedUris: listOf(text),
  serviceNames: flag,
  clientAuthentication: flag,
  kubernetesNames: flag,
  latency: seconds,
};

/**
 * The profile that `value` (parsed YAML) describes, over `base`.
 *
 * @throws SignerError SPEC_INVALID (`wait`) naming the field
 */
export function readProfile(
  value: unknown,
  base: ConformanceProfile = DEFAULT_PROFILE,
): ConformanceProfile {
  if (value === null || value === undefined) return base;
  if (typeof value !== 'object' || Array.isArray(value)) throw invalid('it', 'is not a mapping');
  const read = Object.entries(value).map(([name, given]) => {
    const field = Object.hasOwn(FIELDS, name)
      ? FIELDS[name as keyof ConformanceProfile]
      : undefined;
    if (field === undefined) {
      throw invalid(name, `is not one of ${Object.keys(FIELDS).join(', ')}`);
    }
    return [name, field(given, name)] as const;
  });
  const given = Object.fromEntries(read) as Partial<ConformanceProfile>;
  const first = given.keyTypes?.[0];
  return { ...base, ...(first === undefined ? {} : { keyType: first }), ...given };
}

function text(value: unknown, name: string): string {
  if (typeof value === 'string') return value;
  throw invalid(name, 'must be a text');
}

function flag(value: unknown, name: string): boolean {
  if (typeof value === 'boolean') return value;
  throw invalid(name, 'must be true or false');
}

function seconds(value: unknown, name: string): number {
  const read = attempt(() => parseDuration(text(value, name)));
  if (!(read instanceof SignerError)) return read;
  throw invalid(name, `must be a duration such as "24h": ${read.message}`);
}

function texts(value: unknown, name: string): Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null) throw invalid(name, 'must be a mapping');
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, text(each, `${name}.${key}`)]),
  );
}

function listOf(read: Read): Read {
  return (value, name) => {
    if (!Array.isArray(value)) throw invalid(name, 'must be a list');
    return value.map((each, index) => read(each, `${name}[${index}]`));
  };
}

function oneOf(values: readonly string[]): Read {
  return (value, name) => {
    if (typeof value === 'string' && values.includes(value)) return value;
    throw invalid(name, `must be one of ${values.join(', ')}`);
  };
}

function invalid(name: string, what: string): SignerError {
  return new SignerError({
    code: 'SPEC_INVALID',
    disposition: 'wait',
    message: `the profile: ${name} ${what}`,
  });
}
