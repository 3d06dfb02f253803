// SPDX-License-Identifier: Apache-2.0
import { ACME_CLUSTER_SIGNERS, type AcmeSigner } from '../../api/acme/index.ts';
import { resource } from '../../kube/resource/resource.ts';
import { createApiDiscovery, type ApiDiscovery } from '../component/api-discovery.ts';
import type { Component } from '../component/component.ts';
import { watchAcmeSigners, type AcmeSigners } from './acme-signers.ts';
import type { SignerSet } from './signer-set.ts';

/** ACME signers, and whether there can be any. */
export interface InstalledAcmeSigners {
  /** Settled, and empty, where the kinds are not installed. */
  readonly signers: SignerSet<AcmeSigner> & Pick<AcmeSigners, 'get'>;
  /** Must run as well; without warnings, since most clusters have none of the kinds. */
  readonly discovery: ApiDiscovery;
}

/** Watches ACME signers from when their kinds are installed. */
export function watchInstalledAcmeSigners(component: Component): InstalledAcmeSigners {
  const discovery = withoutWarnings(createApiDiscovery(component, resource(ACME_CLUSTER_SIGNERS)));
  const signers = watchAcmeSigners(component);
  return {
    discovery,
    signers: {
      get settled() {
        return !discovery.served || signers.settled;
      },
      get failure() {
        return signers.failure;
      },
      serving: signers.serving,
      get: signers.get,
      all: signers.all,
      onChange: signers.onChange,
      run: async (signal) => {
        await installed(discovery, signal);
        if (!signal.aborted) await signers.run(signal);
      },
    },
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
