// SPDX-License-Identifier: Apache-2.0
import type { AcmeSigner } from '../../api/acme/index.ts';
import type { Component, Controller } from '../../runtime/component/component.ts';
import { watchInstalledAcmeSigners } from '../../runtime/signers/installed-acme-signers.ts';
import { createApproval, hasRequests } from './approval.ts';

/** The loop over the requests of ACME signers. */
export interface AcmeApproval extends Pick<Controller, 'run' | 'notReady'> {
  /** Of the AcmeClusterSigners that it approves for. */
  readonly signerNames: () => readonly string[];
}

/** Waits until the kinds of ACME are installed: most clusters have none. */
export function createAcmeApproval(own: Component): AcmeApproval {
  const component = { ...own, ...own.anotherLoop('acme') };
  const { signers, discovery } = watchInstalledAcmeSigners(component);
  const approval = createApproval<AcmeSigner>({
    ...{ component, signers, discovery },
    // The component's own: it knows the names.
    permissions: () => [],
  });
  return {
    run: (signal) => approval.run(signal),
    notReady: () => approval.notReady(),
    signerNames: () =>
      signers
        .all()
        .filter(({ metadata, spec }) => metadata.namespace === undefined && hasRequests(spec))
        .map(({ spec }) => spec.signerName),
  };
}
