// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Version = '1.37' | '1.36';

export const moduleDirectory = join(import.meta.dirname, 'controlplane');

interface Release {
  readonly moduleFile: string;
  readonly buildTags: string;
  /** Gates that every component needs before it speaks PodCertificateRequest. */
  readonly featureGates: string;
  readonly runtimeConfig: string;
}

const releases: Record<Version, Release> = {
  '1.37': { moduleFile: 'go.mod', buildTags: '', featureGates: '', runtimeConfig: '' },
  '1.36': {
    moduleFile: 'go-1.36.mod',
    buildTags: 'kubernetes_1_36',
    featureGates:
      'PodCertificateRequest=true,ClusterTrustBundle=true,ClusterTrustBundleProjection=true',
    runtimeConfig: 'certificates.k8s.io/v1beta1=true',
  },
};

export const versions = Object.keys(releases) as Version[];

export function isVersion(text: string): text is Version {
  return text in releases;
}

export function releaseOf(version: Version): Release {
  return releases[version];
}

/** The exact release of a version, such as `v1.37.1`: its module file is where it is written. */
export function exactRelease(version: Version): string {
  const text = readFileSync(join(moduleDirectory, releaseOf(version).moduleFile), 'utf8');
  const found = /k8s\.io\/kubernetes (v\S+)/.exec(text)?.[1];
  if (found === undefined)
    throw new Error(`${releaseOf(version).moduleFile} requires no k8s.io/kubernetes`);
  return found;
}
