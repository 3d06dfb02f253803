// SPDX-License-Identifier: Apache-2.0
/** Whose requests are told of: those of ClusterSigners, Signers, and the signers of ACME where their kinds are installed. */
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';
import type { Component } from '../../runtime/component/component.ts';
import { watchInstalledAcmeSigners } from '../../runtime/signers/installed-acme-signers.ts';
import { watchSigners } from '../../runtime/signers/signers.ts';
import { ACME_KEY, type SeenRequest } from './events/seen-request.ts';

/** The signers of this installation. */
export interface NotifiedSigners {
  /** Whether all of them are known. */
  readonly settled: () => boolean;
  /** Why they are not. */
  readonly notReady: () => readonly string[];
  /** Those with CAs of ours: CAs of ACME signers are others' matter. */
  readonly all: () => readonly ClusterSigner[];
  /** The name of the signer of ours that a request asks; undefined: it asks none. */
  readonly nameOf: (request: SeenRequest) => string | undefined;
  readonly onChange: (listener: () => void) => void;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

export function watchNotifiedSigners(component: Component): NotifiedSigners {
  const own = watchSigners(component);
  const { signers: acme, discovery } = watchInstalledAcmeSigners(component);
  const byKey = (key: string): string | undefined =>
    key.startsWith(ACME_KEY)
      ? acme.get(key.slice(ACME_KEY.length))?.spec.signerName
      : own.get(key)?.spec.signerName;
  const notReady = (): readonly string[] => [
    ...(own.settled ? [] : [`ClusterSigners: ${own.failure ?? 'not listed yet'}`]),
    ...discovery.notReady(),
    ...(acme.settled ? [] : [`AcmeClusterSigners: ${acme.failure ?? 'not listed yet'}`]),
  ];
  return {
    notReady,
    settled: () => notReady().length === 0,
    all: own.all,
    nameOf: ({ plural, signer }) =>
      plural === 'certificaterequests'
        ? byKey(signer)
        : (own.serving(signer) ?? acme.serving(signer))?.spec.signerName,
    onChange: (listener) => {
      own.onChange(listener);
      acme.onChange(listener);
    },
    run: async (signal) => {
      await Promise.all([own.run(signal), discovery.run(signal), acme.run(signal)]);
    },
  };
}
