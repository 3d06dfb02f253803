// SPDX-License-Identifier: Apache-2.0
import type { CheckDescription } from './description.ts';

/** ExternalClusterSigners. */
export const EXTERNAL_CHECKS = {
  'external-signers-ready': {
    group: 'signers',
    title: 'every ExternalClusterSigner has a valid spec and is Ready',
    impact: 'Requests of a signer that is not Ready wait. They are not denied.',
    remediation: [
      'The condition Ready has the reason. docs/how-to/external-ca.md explains each reason.',
      '$ countersign explain externalclustersigner/NAME',
      '$ kubectl describe externalclustersigner NAME',
    ],
  },
} as const satisfies Readonly<Record<string, CheckDescription>>;
