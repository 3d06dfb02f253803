// SPDX-License-Identifier: Apache-2.0
import { isKeyOf } from '#base/object-keys.ts';
import { parseDuration } from '#api/object/duration.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { KEY_TYPES, KEY_USAGES, type KeyType } from '#base/vocabulary.ts';

/**
 * The facts about the signer that the user states. Every field may be absent. Then everything that
 * a signer of this kind may do is correct.
 */
export interface ConformanceProfile {
  /** The key of ordinary requests. */
  readonly keyType: KeyType;
  /** The only key types that are issued. All others are refused. */
  readonly keyTypes?: readonly KeyType[];
  /** The usages of ordinary requests. */
  readonly usages: readonly string[];
  /** The subject of ordinary requests. `{username}` is the user of the runner. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  /** The longest validity of a leaf in seconds. */
  readonly maxDuration?: number;
  /** Annotations of a pod's volume that the signer accepts. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** The URIs of a pod's leaf, with `{namespace}` and `{serviceAccount}`. */
  readonly uris?: readonly string[];
  /** The URIs of a leaf whose pod has `annotations`. */
  readonly annotatedUris?: readonly string[];
  /** Whether the leaf of a pod names the Services that select it. */
  readonly serviceNames?: boolean;
  /** Whether the API server accepts its leaves as client certificates. */
  readonly clientAuthentication?: boolean;
  /** Whether the signer's names are Kubernetes' own, so that `system:` is not an attack. */
  readonly kubernetesNames?: boolean;
  /** Seconds from the approval, or the creation, to the certificate. */
  readonly latency: number;
}

/** The usages of an ordinary client certificate. */
const DEFAULT_USAGES = ['digital signature', 'client auth'] as const;

/** The default latency. A pod waits for its certificate. */
const DEFAULT_LATENCY_SECONDS = 10;

/** The assumptions about an unknown signer. */
export const DEFAULT_PROFILE: ConformanceProfile = {
  keyType: 'ECDSAP256',
  usages: DEFAULT_USAGES,
  commonName: 'conformance.example.com',
  organizations: [],
  dnsNames: [],
  latency: DEFAULT_LATENCY_SECONDS,
};

/** Reads one field of a profile's YAML. @throws SignerError SPEC_INVALID */
type FieldReader = (value: unknown, name: string) => unknown;

const FIELDS: Readonly<Record<keyof ConformanceProfile, FieldReader>> = {
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
 * Returns the profile in `value` (parsed YAML), over `base`.
 *
 * @throws SignerError SPEC_INVALID (`wait`) with the field
 */
export function readProfile(
  value: unknown,
  base: ConformanceProfile = DEFAULT_PROFILE,
): ConformanceProfile {
  if (value === null || value === undefined) return base;
  if (typeof value !== 'object' || Array.isArray(value)) throw invalid('it', 'is not a mapping');
  const read = Object.entries(value).map(([name, given]) => {
    if (!isKeyOf(FIELDS, name)) {
      throw invalid(name, `is not one of ${Object.keys(FIELDS).join(', ')}`);
    }
    return [name, FIELDS[name](given, name)] as const;
  });
  // Each field's own reader has checked its value.
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

function listOf(read: FieldReader): FieldReader {
  return (value, name) => {
    if (!Array.isArray(value)) throw invalid(name, 'must be a list');
    return value.map((each, index) => read(each, `${name}[${index}]`));
  };
}

function oneOf(values: readonly string[]): FieldReader {
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
