// SPDX-License-Identifier: Apache-2.0
import type { EgressProxy } from '#base/egress/egress-proxy.ts';
import type { AcmeSigner } from '#api/acme/acme-signer.ts';
import type { Component, Controller } from '#component/contract.ts';
import type { PermissionNames } from '#component/rbac/permission-names.ts';
import { ChallengeLoop } from './challenges/challenge-loop.ts';
import { createContext } from './create-context.ts';
import type { Http01Grant } from '../solving/http/grants.ts';
import type { SelfCheck } from '../solving/self-check.ts';
import type { AcmeContext } from './context.ts';
import { AbandonedLoop } from './orders/abandoned-loop.ts';
import { IssuedLoop } from './orders/issued-loop.ts';
import { OrderLoop } from './orders/order-loop.ts';
import { permissions } from './permissions.ts';
import { createAccountSecrets, secretsOfAccounts } from './signers/account-secrets.ts';
import { RenewalLoop } from './renewals/renewal-loop.ts';
import { SignerLoop, type NamespacedGrants } from './signers/signer-loop.ts';
import * as messages from './messages.ts';

export interface AcmeInit {
  readonly component: Component;
  readonly checkChallenge: SelfCheck;
  /** Whether to mark Certificates of cert-manager when their CA wants a renewal. */
  readonly renewsCertificates: boolean;
  /** Servers and addresses that AcmeSigners may use. */
  readonly namespaced: NamespacedGrants;
  /** Number of Challenges that run at once. */
  readonly maxChallenges: number;
  /** Names that AcmeSigners may prove by HTTP-01. */
  readonly http01Grants: readonly Http01Grant[];
  /** User agent for ACME servers (RFC 8555 §6.1). */
  readonly userAgent: string;
  /** Proxy of the calls to ACME servers. */
  readonly proxy?: EgressProxy | undefined;
  /** Adds loops over the same objects, such as the one over requests. */
  readonly more?: (context: AcmeContext) => readonly AcmePart[];
}

/** A loop of the component. */
export type AcmePart = Pick<Controller, 'run' | 'notReady' | 'warnings'>;

/**
 * Gets certificates from ACME servers for Orders. It opens accounts, creates orders, has names
 * proved, and downloads chains.
 */
export function createAcme(init: AcmeInit): Controller {
  const { component } = init;
  const context = createContext(init);
  const { signers, sessions, orders, challenges, leadership } = context;
  const secrets = createAccountSecrets(component, () => {
    signerLoop.wakeAll();
  });
  const signerLoop = new SignerLoop({ ...init, signers, secrets, sessions });
  const orderLoop = new OrderLoop(context);
  const challengeLoop = new ChallengeLoop(context);
  const abandonedLoop = new AbandonedLoop(context);
  const issuedLoop = new IssuedLoop(context);
  const renewalLoop = new RenewalLoop(context, init.renewsCertificates);
  context.onTerm({
    begin: (term) => {
      signerLoop.wakeAll();
      challengeLoop.begin(term);
      orderLoop.begin(term);
      abandonedLoop.begin();
      issuedLoop.begin();
      renewalLoop.begin();
    },
    end: () => {
      signerLoop.forget();
      renewalLoop.end();
    },
  });
  const more = init.more?.(context) ?? [];
  return {
    permissions: () => permissions(namesOf(signers.all(), component, init)),
    notReady: () => [
      ...[
        signers,
        ...[orders, challenges].map(({ synced, failure }) => ({ settled: synced, failure })),
      ]
        .filter(({ settled, failure }) => !settled || failure !== undefined)
        .map(({ failure }) => messages.unlisted(failure)),
      ...more.flatMap((each) => each.notReady()),
    ],
    warnings: () => [...signers.warnings(), ...more.flatMap((each) => each.warnings?.() ?? [])],
    run: async (signal) => {
      const watching = [signers, orders, challenges, leadership].map((each) => each.run(signal));
      const ofOrders = [orderLoop, challengeLoop, abandonedLoop, issuedLoop, renewalLoop];
      await Promise.all([signerLoop, ...ofOrders, ...more].map((each) => each.run(signal)));
      await Promise.all([...watching, secrets.stop()]);
    },
  };
}

/**
 * Returns the names that the component's permissions depend on, without AcmeSigners. One that names
 * a Secret without a grant must not make the component unready.
 */
function namesOf(
  served: readonly AcmeSigner[],
  { leases, namespacedSigners, secretNamespace }: Component,
  { renewsCertificates }: Pick<AcmeInit, 'renewsCertificates'>,
): PermissionNames {
  const ofCluster = served.filter(({ metadata }) => metadata.namespace === undefined);
  const secrets = secretsOfAccounts(ofCluster, secretNamespace);
  const signerNames = ofCluster.map(({ spec }) => spec.signerName);
  return { namespacedSigners, signerNames, bundles: [], secrets, leases, renewsCertificates };
}
