// SPDX-License-Identifier: Apache-2.0
import type { Call } from './attempts.ts';

/** Its report would turn signers red, or green. */
export const writeForeignLease = (owner: string): Call => ({
  verb: 'create',
  path: `/apis/coordination.k8s.io/v1/namespaces/countersign-system/leases`,
  body: {
    metadata: {
      name: `countersign-${owner}-forged`,
      labels: {
        'app.kubernetes.io/name': 'countersign',
        'app.kubernetes.io/component': owner,
        'countersign.dev/secret-namespace': 'countersign-keys',
      },
      annotations: { 'countersign.dev/serving': '{"checked":"","namespaced":true,"faults":[]}' },
    },
    spec: { holderIdentity: 'forged', leaseDurationSeconds: 300 },
  },
});
