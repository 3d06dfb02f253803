// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { namesOf } from '#component/rbac/permission-names.ts';
import { watchSigners } from '#component/signers/signers.ts';
import type { Component, Controller } from '#component/contract.ts';

import { createApproval } from './approval.ts';
import { createAcmeApproval, createExternalApproval } from './other-kinds.ts';
import { permissions } from './permissions.ts';

/**
 * Approves and denies CertificateSigningRequests by the rules of their signer: a ClusterSigner, a
 * Signer, an ACME signer or an ExternalClusterSigner.
 */
export function createApprover(component: Component): Controller {
  const signers = watchSigners(component);
  const others = [createAcmeApproval(component), createExternalApproval(component)];
  const controller = createApproval<ClusterSigner>({
    component,
    signers,
    permissions: (served) => {
      const names = namesOf(served, component);
      const more = others.flatMap((each) => each.signerNames());
      return permissions({ ...names, signerNames: [...names.signerNames, ...more] });
    },
  });
  return {
    ...controller,
    signers: signers.all,
    notReady: () => [...controller.notReady(), ...others.flatMap((each) => each.notReady())],
    run: async (signal) => {
      await Promise.all([controller, ...others].map((each) => each.run(signal)));
    },
  };
}
