// SPDX-License-Identifier: Apache-2.0
/**
 * Watches the signers whose requests cause events: ClusterSigners, Signers, and ACME signers if
 * their kinds are installed.
 */
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { Component } from '#component/contract.ts';
import { watchInstalledAcmeSigners } from '#component/signers/installed-acme-signers.ts';
import { watchSigners } from '#component/signers/signers.ts';
import { ACME_KEY, type SeenRequest } from './events/seen-request.ts';
import * as messages from './messages.ts';

/** The signers of this installation. */
export interface NotifiedSigners {
  /** Reports whether all of them are known. */
  readonly settled: () => boolean;
  /** Returns the reasons why they are not. */
  readonly notReady: () => readonly string[];
  /** Returns the signers with managed CAs, without ACME signers. */
  readonly all: () => readonly ClusterSigner[];
  /** Returns the name of the managed signer of a request, or undefined for another signer. */
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
    ...(own.settled ? [] : [messages.unlistedSigners(own.failure)]),
    ...discovery.notReady(),
    ...(acme.settled ? [] : [messages.unlistedAcmeSigners(acme.failure)]),
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
