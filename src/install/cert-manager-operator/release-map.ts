// SPDX-License-Identifier: Apache-2.0
import { gzipSync } from 'node:zlib';
import { RELEASE_KEY, releaseMapOf } from '#api/operator/cert-manager-deployment.ts';

/**
 * Returns the ConfigMap in which the operator looks for a release.
 *
 * @param file - the published file
 */
export function releaseMap(version: string, namespace: string, file: Uint8Array): object {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: releaseMapOf(version), namespace },
    binaryData: { [RELEASE_KEY]: gzipSync(file, { level: 9 }).toString('base64') },
  };
}
