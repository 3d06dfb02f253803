// SPDX-License-Identifier: Apache-2.0
/** The loops over the requests of signers that are no ClusterSigners and no Signers. */
import type { SignerObject } from '#api/signer/cluster-signer.ts';
import type { Component, Controller } from '#component/contract.ts';
import { EXTERNAL_SIGNERS, watchExternalSigners } from '#component/signers/external-signers.ts';
import { watchInstalledAcmeSigners } from '#component/signers/installed-acme-signers.ts';
import { watchOnceInstalled, type InstalledSigners } from '#component/signers/installed-signers.ts';
import { createApproval, hasRequests } from './approval.ts';

/** The loop over the requests of the signers of a kind. */
export interface ApprovalOfKind extends Pick<Controller, 'run' | 'notReady'> {
  /** Names of its signers outside of namespaces that it approves for. */
  readonly signerNames: () => readonly string[];
}

/** Waits until the ACME kinds are installed, since most clusters have none. */
export function createAcmeApproval(own: Component): ApprovalOfKind {
  const component = { ...own, ...own.anotherLoop('acme') };
  return approvalOf(component, watchInstalledAcmeSigners(component));
}

/** The same for ExternalClusterSigners. */
export function createExternalApproval(own: Component): ApprovalOfKind {
  const component = { ...own, ...own.anotherLoop('external') };
  const all = watchExternalSigners(component);
  return approvalOf(component, watchOnceInstalled(component, EXTERNAL_SIGNERS, all));
}

function approvalOf<S extends SignerObject>(
  component: Component,
  { signers, discovery }: InstalledSigners<S>,
): ApprovalOfKind {
  const approval = createApproval<S>({
    component,
    signers,
    discovery,
    // The component itself lists the permissions, since it knows the names.
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
