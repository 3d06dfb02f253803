// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';
import { namesOf } from '../../runtime/rbac/permission-names.ts';
import { watchSigners } from '../../runtime/signers/signers.ts';
import type { Component, Controller } from '../../runtime/component/component.ts';
import { createAcmeApproval } from './acme.ts';
import { createApproval } from './approval.ts';
import { permissions } from './permissions.ts';

/** Approves and denies CertificateSigningRequests by the rules of their signer: a ClusterSigner, a Signer or an ACME signer. */
export function createApprover(component: Component): Controller {
  const signers = watchSigners(component);
  const acme = createAcmeApproval(component);
  const controller = createApproval<ClusterSigner>({
    ...{ component, signers },
    permissions: (served) => {
      const names = namesOf(served, component);
      return permissions({ ...names, signerNames: [...names.signerNames, ...acme.signerNames()] });
    },
  });
  return {
    ...controller,
    signers: signers.all,
    notReady: () => [...controller.notReady(), ...acme.notReady()],
    run: async (signal) => {
      await Promise.all([controller.run(signal), acme.run(signal)]);
    },
  };
}
