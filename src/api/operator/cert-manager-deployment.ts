// SPDX-License-Identifier: Apache-2.0
import type { ComponentOverrides } from './countersign.ts';
import type { InstallationObject } from './installation.ts';

/** The group, the version and the plural of {@link CertManagerDeployment}. */
export const CERT_MANAGER_DEPLOYMENTS = {
  group: 'operator.countersign.dev',
  version: 'v1alpha1',
  plural: 'certmanagerdeployments',
} as const;

/**
 * Where its operator runs, with nobody else: its token reads every Secret, and whoever may make pods or tokens in a
 * namespace has the tokens of that namespace.
 */
export const CERT_MANAGER_OPERATOR_NAMESPACE = 'countersign-cert-manager';

/** The components of cert-manager, each a Deployment of its release. */
export const CERT_MANAGER_COMPONENTS = ['controller', 'webhook', 'cainjector'] as const;

/** One of {@link CERT_MANAGER_COMPONENTS}. */
export type CertManagerComponent = (typeof CERT_MANAGER_COMPONENTS)[number];

/** What is to be installed of cert-manager. */
export interface CertManagerSpec {
  /** Such as `1.21.2`. */
  readonly version: string;
  readonly components?: Readonly<Partial<Record<CertManagerComponent, ComponentOverrides>>>;
  /** What no version vouches for. */
  readonly dangerZone?: {
    /** Arguments that the version does not know. */
    readonly extraArgs?: Readonly<Partial<Record<CertManagerComponent, readonly string[]>>>;
  };
}

/** An installation of cert-manager, the singleton `cluster`. */
export interface CertManagerDeployment extends InstallationObject {
  readonly spec: CertManagerSpec;
}

/** In which ConfigMap, in the operator's namespace, a release is looked for. */
export function releaseMapOf(version: string): string {
  return `cert-manager-${version}`;
}

/** Key of `binaryData` in it: the release's file, compressed by gzip. */
export const RELEASE_KEY = 'cert-manager.yaml.gz';
