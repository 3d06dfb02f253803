// SPDX-License-Identifier: Apache-2.0
import { OWN_TLS_SIGNER } from '../src/api/signer/own-tls.ts';
import type { Installation } from '../src/manifests/installation.ts';

/** The names of the demo and of deploy/examples: what rbac/ and deploy/admission are made for. */
export const DEMO: Installation = {
  signers: ['example.com/workload', 'example.com/people'],
  bundles: ['example.com:workload:primary'],
  secrets: [
    { namespace: 'countersign-keys', name: 'workload-ca' },
    { namespace: 'countersign-keys', name: 'people-ca' },
  ],
  namespace: 'countersign-system',
  servingSigner: OWN_TLS_SIGNER,
};
