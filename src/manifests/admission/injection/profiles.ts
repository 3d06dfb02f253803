// SPDX-License-Identifier: Apache-2.0
/** What a pod is given for a name in its annotation. Every text here ends up in CEL: the values' schema lets no quote in. */

import type { POD_KEY_TYPES } from '../../../vocabulary.ts';

/** The annotation of a pod, which names profiles, and the label of a namespace. */
export const INJECT = 'countersign.dev/inject';

/** The value of the label of a namespace. */
export const NAMESPACE_OPTED_IN = 'enabled';

/** The files of a volume. */
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
  /** Of the certificate that is asked for; default: a day, as in Kubernetes. */
  readonly maxExpirationSeconds?: number;
  /** Default: a directory of the profile's name below `/var/run/secrets/countersign.dev`. */
  readonly mountPath?: string;
  /** Whether the signer's trust bundle is beside the credentials; default true. */
  readonly trustBundle?: boolean;
  /** More environment variables, each with the path of a file. */
  readonly env?: readonly { readonly name: string; readonly file: FileName }[];
}

/** A profile with nothing left to decide. All are texts, as the rows of a table in CEL. */
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

/** Beside the token of the ServiceAccount. */
const DIRECTORY = '/var/run/secrets/countersign.dev';

const DAY_SECONDS = 86_400;

/** The profile with its defaults: `COUNTERSIGN_WORKLOAD_CREDENTIALS` and the like are always there. */
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

/** The name of a profile's volume in a pod. */
export const VOLUME_PREFIX = 'countersign-';

/** The profile that a signer has where none is written: `workload` of `example.com/workload`. */
export function defaultProfile(signerName: string): GivenProfile {
  const [, path = ''] = signerName.split('/');
  return { name: path.replaceAll('.', '-'), signerName };
}

/** A row of the table of profiles, and what is behind it in the list. */
export function profileRow(profile: Omit<InjectionProfile, 'environment'>): string {
  const { name, signerName, keyType, seconds, mountPath, trustBundle } = profile;
  return `{'name': '${name}', 'signerName': '${signerName}', 'keyType': '${keyType}', 'seconds': '${seconds}', 'mountPath': '${mountPath}', 'trustBundle': '${trustBundle}'}, `;
}

/** A row of the table of environment variables, and what is behind it in the list. */
export function environmentRow(
  profile: string,
  { name, value }: InjectionProfile['environment'][number],
): string {
  return `{'profile': '${profile}', 'name': '${name}', 'value': '${value}'}, `;
}
