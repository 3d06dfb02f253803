// SPDX-License-Identifier: Apache-2.0
import type { ComponentOverrides } from './countersign.ts';
import type { InstallationObject } from './installation.ts';

/** Group, version and plural of {@link CertManagerDeployment}. */
export const CERT_MANAGER_DEPLOYMENTS = {
  group: 'operator.countersign.dev',
  version: 'v1alpha1',
  plural: 'certmanagerdeployments',
} as const;

/**
 * Namespace of its operator, which must run alone there. The operator's token reads every Secret,
 * and users who may create pods or tokens in a namespace get the tokens of that namespace.
 */
export const CERT_MANAGER_NAMESPACE = 'countersign-cert-manager';

/** The components of cert-manager, each a Deployment of its release. */
export const CERT_MANAGER_COMPONENTS = ['controller', 'webhook', 'cainjector'] as const;

export type CertManagerComponent = (typeof CERT_MANAGER_COMPONENTS)[number];

/** The cert-manager to install. */
export interface CertManagerSpec {
  /** Such as `1.21.2`. */
  readonly version: string;
  readonly components?: Readonly<Partial<Record<CertManagerComponent, ComponentOverrides>>>;
  /** Settings that no version supports. */
  readonly dangerZone?: {
    /** Arguments that the version does not know. */
    readonly extraArgs?: Readonly<Partial<Record<CertManagerComponent, readonly string[]>>>;
  };
}

/** An installation of cert-manager, the singleton `cluster`. */
export interface CertManagerDeployment extends InstallationObject {
  readonly spec: CertManagerSpec;
}

/** Returns the name of the ConfigMap of a release, in the operator's namespace. */
export function releaseMapOf(version: string): string {
  return `cert-manager-${version}`;
}

/** Key of `binaryData` in it: the release's file, compressed by gzip. */
export const RELEASE_KEY = 'cert-manager.yaml.gz';
