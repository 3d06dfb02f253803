// SPDX-License-Identifier: Apache-2.0
import type { PodSpec } from './stock-pods.ts';

const PATH = '/var/run/secrets/countersign.dev/workload';

/**
 * The pod with the volume, the mounts and the variables of the profile `workload`, as a person
 * would write them.
 */
export function withInjected(spec: PodSpec): PodSpec {
  const inject = (each: PodSpec['containers'][number]): PodSpec['containers'][number] => ({
    ...each,
    env: [
      { name: 'COUNTERSIGN_WORKLOAD_CREDENTIALS', value: `${PATH}/credentials.pem` },
      { name: 'COUNTERSIGN_WORKLOAD_TRUST_BUNDLE', value: `${PATH}/trust-bundle.pem` },
      ...(each.env ?? []),
    ],
    volumeMounts: [
      ...(each.volumeMounts ?? []),
      { name: 'countersign-workload', mountPath: PATH, readOnly: true },
    ],
  });
  const { containers, initContainers } = spec;
  return {
    ...spec,
    containers: containers.map(inject),
    ...(initContainers === undefined ? {} : { initContainers: initContainers.map(inject) }),
    volumes: [
      ...(spec.volumes ?? []),
      {
        name: 'countersign-workload',
        projected: {
          defaultMode: 420,
          sources: [
            {
              podCertificate: {
                signerName: 'example.com/workload',
                keyType: 'ECDSAP256',
                maxExpirationSeconds: 86_400,
                credentialBundlePath: 'credentials.pem',
                keyPath: 'key.pem',
                certificateChainPath: 'chain.pem',
              },
            },
            {
              clusterTrustBundle: {
                signerName: 'example.com/workload',
                labelSelector: {},
                path: 'trust-bundle.pem',
              },
            },
          ],
        },
      },
    ],
  };
}
