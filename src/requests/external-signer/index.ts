// SPDX-License-Identifier: Apache-2.0
import type { ExternalSigner } from '#api/external/external-signer.ts';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { readsPods } from '#api/signer/cluster-signer.ts';
import type { Component, Controller } from '#component/contract.ts';
import { serverTime } from '#component/server-time.ts';
import { watchExternalSigners } from '#component/signers/external-signers.ts';
import { watchedElsewhere, type SignerSet } from '#component/signers/signer-set.ts';
import type { VaultAccess } from '#component/vault/access.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import type { IssuingCas } from '../issuing/issuing-ca.ts';
import { Authorities } from './authorities.ts';
import { externalCas } from './issue.ts';
import type { KeptChains } from './kept-chains.ts';
import * as messages from './messages.ts';
import { EXTERNAL_SERIES } from './metrics.ts';
import { permissions } from './permissions.ts';
import { openVaultBackend } from './vault/index.ts';

/** Parts of a loop over one kind of requests. */
export interface ExternalLoopInit<R> {
  readonly component: Component;
  readonly signers: SignerSet<ExternalSigner>;
  readonly sources: IssuingCas<ExternalSigner, R>;
  readonly permissions: (signers: readonly ExternalSigner[]) => readonly PermissionRule[];
}

export interface ExternalSignerInit {
  readonly component: Component;
  readonly access: VaultAccess;
  readonly chains: KeptChains;
  /** Creates the loop over PodCertificateRequests. */
  readonly issueForPods: (init: ExternalLoopInit<PodCertificateRequest>) => Controller;
  /** Creates the loop over CertificateSigningRequests. */
  readonly signCsrs: (init: ExternalLoopInit<CertificateSigningRequest>) => Controller;
}

/** Interval at which chains that can no longer be delivered are removed. */
const SWEEP_CHAINS_MS = 60_000;

/**
 * Answers the requests of ExternalClusterSigners. The rules, profiles and checks are those of
 * ClusterSigners. A foreign CA issues in place of a key.
 */
export function createExternalSigner(init: ExternalSignerInit): Controller {
  const { component, access, chains } = init;
  const signers = watchExternalSigners(component);
  const authorities = new Authorities({
    component,
    signers,
    openBackend: (signer) => openVaultBackend({ signer, access, now: () => serverTime(component) }),
  });
  const parts = <R extends CertificateSigningRequest | PodCertificateRequest>(
    name: string,
  ): ExternalLoopInit<R> => {
    const own = { ...component, ...component.anotherLoop(name) };
    return {
      component: own,
      signers: watchedElsewhere(signers),
      sources: externalCas<R>({ component: own, authorities, chains }),
      // The component itself lists the permissions.
      permissions: () => [],
    };
  };
  const loops = [init.issueForPods(parts('pods')), init.signCsrs(parts('csrs'))];
  return {
    permissions: () => {
      const served = signers.all();
      return permissions({
        signerNames: served.map(({ spec }) => spec.signerName),
        bundles: [],
        secrets: [],
        podServices: served.some(({ spec }) => readsPods(spec)),
        leases: component.leases,
      });
    },
    notReady: () => [
      ...(signers.settled ? [] : [messages.unlistedSigners(signers.failure)]),
      ...loops.flatMap((each) => each.notReady()),
    ],
    warnings: () => [
      ...loops.flatMap((each) => each.warnings?.() ?? []),
      ...[chains.fault()].filter((each) => each !== undefined),
    ],
    run: async (signal) => {
      const sweeping = sweep(init, signal);
      const running = [signers, authorities, ...loops].map((each) => each.run(signal));
      await Promise.all([...running, sweeping]);
    },
  };
}

async function sweep(
  { component, chains }: Pick<ExternalSignerInit, 'component' | 'chains'>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await component.delay(SWEEP_CHAINS_MS, signal).catch(() => undefined);
    await chains.sweep();
    component.metrics.of(EXTERNAL_SERIES).keptBytes.set({}, chains.bytes());
  }
}
