// SPDX-License-Identifier: Apache-2.0
import type { Resource } from '#kube/resource/resource.ts';
import { createApiDiscovery, type ApiDiscovery } from '../api-discovery.ts';
import type { Component } from '../contract.ts';
import type { SignerSet } from './signer-set.ts';

/** The signers of a kind, and the discovery of the kind. */
export interface InstalledSigners<S> {
  /** Settled and empty if the kind is not installed. */
  readonly signers: SignerSet<S>;
  /** Must run as well. It has no warnings, since most clusters have none of the kind. */
  readonly discovery: ApiDiscovery;
}

/** Watches the signers of a kind once it is installed. */
export function watchOnceInstalled<S>(
  component: Component,
  kind: Resource,
  signers: SignerSet<S>,
): InstalledSigners<S> {
  const discovery = withoutWarnings(createApiDiscovery(component, kind));
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

/** Resolves when the kind exists, or when `signal` is aborted. */
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
