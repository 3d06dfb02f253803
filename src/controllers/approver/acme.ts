// SPDX-License-Identifier: Apache-2.0
import { ACME_CLUSTER_SIGNERS, type AcmeSigner } from '../../api/acme/index.ts';
import { resource } from '../../kube/resource/resource.ts';
import { createApiDiscovery, type ApiDiscovery } from '../../runtime/component/api-discovery.ts';
import type { Component, Controller } from '../../runtime/component/component.ts';
import { watchAcmeSigners } from '../../runtime/signers/acme-signers.ts';
import type { SignerSet } from '../../runtime/signers/signer-set.ts';
import { createApproval, hasRequests } from './approval.ts';

/** The loop over the requests of ACME signers. */
export interface AcmeApproval extends Pick<Controller, 'run' | 'notReady'> {
  /** Of the AcmeClusterSigners that it approves for. */
  readonly signerNames: () => readonly string[];
}

/** Waits until the kinds of ACME are installed: most clusters have none. */
export function createAcmeApproval(own: Component): AcmeApproval {
  const component = { ...own, ...own.anotherLoop('acme') };
  // Most clusters have none of them, which is no warning.
  const discovery = withoutWarnings(createApiDiscovery(component, resource(ACME_CLUSTER_SIGNERS)));
  const signers = onceInstalled(watchAcmeSigners(component), discovery);
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

function withoutWarnings(discovery: ApiDiscovery): ApiDiscovery {
  return {
    get served() {
      return discovery.served;
    },
    onChange: (listener) => {
      discovery.onChange(listener);
    },
    run: (signal) => discovery.run(signal),
    notReady: () => discovery.notReady(),
    warnings: () => [],
  };
}

function onceInstalled(
  signers: SignerSet<AcmeSigner>,
  discovery: ApiDiscovery,
): SignerSet<AcmeSigner> {
  return {
    get settled() {
      return !discovery.served || signers.settled;
    },
    get failure() {
      return signers.failure;
    },
    serving: signers.serving,
    all: signers.all,
    onChange: signers.onChange,
    run: async (signal) => {
      await installed(discovery, signal);
      if (!signal.aborted) await signers.run(signal);
    },
  };
}

/** Resolves when the kinds are there, or `signal` is aborted. */
function installed(discovery: ApiDiscovery, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (discovery.served || signal.aborted) resolve();
    };
    discovery.onChange(look);
    signal.addEventListener('abort', look, { once: true });
    look();
  });
}
