// SPDX-License-Identifier: Apache-2.0
/**
 * Profiles: the injected content for a name in a pod's annotation. Every text here ends up in CEL,
 * and the schema of the values rejects quotes.
 */

import type { POD_KEY_TYPES } from '#base/vocabulary.ts';

/** Annotation of a pod, which names profiles, and label of a namespace. */
export const INJECT = 'countersign.dev/inject';

/** Name of the policies, and of the mutating binding. */
export const INJECTION = 'countersign-injection';

/** Value of the label of a namespace. */
export const NAMESPACE_OPTED_IN = 'enabled';

/** Files of a volume. */
export const FILES = {
  /** Key, then chain. */
  credentials: 'credentials.pem',
  key: 'key.pem',
  chain: 'chain.pem',
  trustBundle: 'trust-bundle.pem',
} as const;

/** A file of a volume. */
export type FileName = (typeof FILES)[keyof typeof FILES];

/** A profile as an administrator writes it. */
export interface GivenProfile {
  readonly name: string;
  readonly signerName: string;
  /** Default: ECDSAP256, which every TLS library has. */
  readonly keyType?: (typeof POD_KEY_TYPES)[number];
  /** Lifetime of the requested certificate. Default: a day, as in Kubernetes. */
  readonly maxExpirationSeconds?: number;
  /** Default: a directory with the profile's name below `/var/run/secrets/countersign.dev`. */
  readonly mountPath?: string;
  /** Mount the signer's trust bundle beside the credentials. Default: true. */
  readonly trustBundle?: boolean;
  /** More environment variables, each with the path of a file. */
  readonly env?: readonly { readonly name: string; readonly file: FileName }[];
}

/** A profile with all defaults. All fields are texts, as in the rows of a CEL table. */
export interface InjectionProfile {
  readonly name: string;
  readonly signerName: string;
  readonly keyType: string;
  readonly seconds: string;
  readonly mountPath: string;
  /** `true` or `false`. */
  readonly trustBundle: string;
  readonly environment: readonly { readonly name: string; readonly value: string }[];
}

/** Parent directory of the mounts, beside the token of the ServiceAccount. */
const DIRECTORY = '/var/run/secrets/countersign.dev';

const DAY_SECONDS = 86_400;

/**
 * Returns the profile with its defaults. It adds the variable `COUNTERSIGN_<NAME>_CREDENTIALS` and,
 * with a bundle, `COUNTERSIGN_<NAME>_TRUST_BUNDLE`.
 */
export function profileOf(given: GivenProfile): InjectionProfile {
  const { name, signerName, keyType = 'ECDSAP256', trustBundle = true, env = [] } = given;
  const { maxExpirationSeconds = DAY_SECONDS, mountPath = `${DIRECTORY}/${name}` } = given;
  const prefix = `COUNTERSIGN_${name.toUpperCase().replaceAll('-', '_')}`;
  const own = [
    { name: `${prefix}_CREDENTIALS`, file: FILES.credentials },
    ...(trustBundle ? [{ name: `${prefix}_TRUST_BUNDLE`, file: FILES.trustBundle }] : []),
  ];
  return {
    name,
    signerName,
    keyType,
    seconds: String(maxExpirationSeconds),
    mountPath,
    trustBundle: String(trustBundle),
    environment: [...own, ...env].map((each) => ({
      name: each.name,
      value: `${mountPath}/${each.file}`,
    })),
  };
}

/** Prefix of the name of a profile's volume in a pod. */
export const VOLUME_PREFIX = 'countersign-';

/** Returns the default profile of a signer: `workload` for `example.com/workload`. */
export function defaultProfile(signerName: string): GivenProfile {
  const [, path = ''] = signerName.split('/');
  return { name: path.replaceAll('.', '-'), signerName };
}

/** Returns a row of the CEL table of profiles, with the separator after it. */
export function profileRow(profile: Omit<InjectionProfile, 'environment'>): string {
  const { name, signerName, keyType, seconds, mountPath, trustBundle } = profile;
  return `{'name': '${name}', 'signerName': '${signerName}', 'keyType': '${keyType}', 'seconds': '${seconds}', 'mountPath': '${mountPath}', 'trustBundle': '${trustBundle}'}, `;
}

/** Returns the names of the profiles in a policy of injection, as `profileRow` writes them. */
export function profileNamesOf(policy: { readonly spec?: object }): readonly string[] {
  const rows = JSON.stringify(policy).matchAll(/\{'name': '([^']*)', 'signerName'/g);
  return [...rows].map(([, name = '']) => name);
}

/** Returns a row of the CEL table of environment variables, with the separator after it. */
export function environmentRow(
  profile: string,
  { name, value }: InjectionProfile['environment'][number],
): string {
  return `{'profile': '${profile}', 'name': '${name}', 'value': '${value}'}, `;
}
