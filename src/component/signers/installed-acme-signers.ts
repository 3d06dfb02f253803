// SPDX-License-Identifier: Apache-2.0
import type { AcmeSigner } from '#api/acme/acme-signer.ts';
import { ACME_CLUSTER_SIGNERS } from '#api/acme/names.ts';
import { resource } from '#kube/resource/resource.ts';
import type { Component } from '../contract.ts';
import { watchAcmeSigners, type AcmeSigners } from './acme-signers.ts';
import { watchOnceInstalled, type InstalledSigners } from './installed-signers.ts';
import type { SignerSet } from './signer-set.ts';

/** ACME signers, and the discovery of their kinds. */
export interface InstalledAcmeSigners extends InstalledSigners<AcmeSigner> {
  readonly signers: SignerSet<AcmeSigner> & Pick<AcmeSigners, 'get'>;
}

/** Watches ACME signers once their kinds are installed. */
export function watchInstalledAcmeSigners(component: Component): InstalledAcmeSigners {
  const all = watchAcmeSigners(component);
  const installed = watchOnceInstalled(component, resource(ACME_CLUSTER_SIGNERS), all);
  const { signers } = installed;
  return {
    discovery: installed.discovery,
    signers: {
      get settled() {
        return signers.settled;
      },
      get failure() {
        return signers.failure;
      },
      serving: signers.serving,
      get: all.get,
      all: signers.all,
      onChange: signers.onChange,
      run: signers.run,
    },
  };
}
