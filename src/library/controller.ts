// SPDX-License-Identifier: Apache-2.0
import { createIssuerSigning, issuerSelection } from '#requests/certificate-request/index.ts';
import { createPodIssuing } from '#requests/pcr-issuer/index.ts';
import { createCsrSigning } from '#requests/signer/index.ts';
import type { Resource } from '#kube/resource/resource.ts';
import type { Component, Controller } from '#component/contract.ts';
import type { IssuingCas } from '#requests/issuing/issuing-ca.ts';
import { watchedElsewhere, type SignerSet } from '#component/signers/signer-set.ts';
import { watchPublishedBundles } from './signing/published-bundles.ts';
import { createCallGuard, type GuardedCall } from './calls/call-guard.ts';
import type { AuthorityType } from './define.ts';
import { externalCaIssuing } from './signing/external-ca.ts';
import { createIssuerController, type IssuerController } from './issuers/issuer-controller.ts';
import { currentReady, isReady } from './issuers/issuer-status.ts';
import { createIssuerCache, type IssuerCache, type KnownIssuer } from './issuers/issuer-cache.ts';
import { createRequestOutcomes } from './signing/request-outcomes.ts';
import { libraryPermissions } from './permissions.ts';
import type { ServedRequest } from './signing/signing-request.ts';
import * as messages from './messages.ts';

/** Parts of an author's process. */
export interface LibraryInit<Config> {
  readonly component: Component;
  readonly authority: AuthorityType<Config>;
  /** ClusterTrustBundles, if the API server serves them. */
  readonly bundles: Resource | undefined;
  /** PodCertificateRequests, if the API server serves them. */
  readonly pods: { readonly requests: Resource; readonly legacy: Resource | undefined } | undefined;
  /** Limit in milliseconds on retries of a CertificateSigningRequest after an ordinary error. */
  readonly maxRetryMs: number;
  /** Limit in milliseconds on one call of `check` or `sign`. */
  readonly callMs: number;
}

/** Parts that the loops of one process share. */
interface SharedLoopParts<Config> {
  readonly init: LibraryInit<Config>;
  readonly issuers: IssuerCache<Config>;
  readonly call: GuardedCall<Config>;
  readonly controller: IssuerController;
}

/**
 * Creates the controller of an author's process: the issuer controller, and a request loop for each
 * kind.
 */
function createLibraryController<Config>(init: LibraryInit<Config>): Controller {
  const { component, authority } = init;
  const issuers = createIssuerCache(component, authority);
  const call = createCallGuard({ component, secrets: authority.secrets, callMs: init.callMs });
  const controller = createIssuerController({
    component: { ...component, ...component.anotherLoop('issuers') },
    authority,
    issuers,
    call,
  });
  const shared = { init, issuers, call, controller };
  const loops = requestLoops(shared);
  return {
    permissions: () => permissionsFor(shared, issuers.all()),
    notReady: () => [
      ...(issuers.settled
        ? []
        : [messages.unlistedIssuers(authority.issuer.plural, issuers.failure)]),
      ...loops.flatMap((each) => each.notReady()),
    ],
    warnings: () => loops.flatMap((each) => each.warnings?.() ?? []),
    run: async (signal) => {
      const running = [issuers.run(signal), controller.run(signal)];
      await Promise.all([...running, ...loops.map((each) => each.run(signal))]);
    },
  };
}

/** Creates one controller for all kinds of issuers that one process serves. */
export function createLibraryControllers(
  { component, ...init }: Omit<LibraryInit<unknown>, 'authority'>,
  authorities: readonly AuthorityType[],
): Controller {
  const all = authorities.map((authority, index) =>
    createLibraryController({
      ...init,
      authority,
      component: index === 0 ? component : withLoopsOf(component, authority.issuer.plural),
    }),
  );
  return {
    permissions: () => all.flatMap((each) => each.permissions()),
    notReady: () => all.flatMap((each) => each.notReady()),
    warnings: () => [...new Set(all.flatMap((each) => each.warnings?.() ?? []))],
    run: async (signal) => {
      await Promise.all(all.map((each) => each.run(signal)));
    },
  };
}

/** Returns the component with queues of its own, because a queue belongs to one loop. */
function withLoopsOf(component: Component, plural: string): Component {
  return {
    ...component,
    ...component.anotherLoop(plural),
    anotherLoop: (name) => component.anotherLoop(`${plural}/${name}`),
  };
}

/** Creates one loop for each kind that the authority serves and the API server has. */
function requestLoops<Config>(shared: SharedLoopParts<Config>): readonly Controller[] {
  const { component, authority, pods, maxRetryMs } = shared.init;
  const parts = (): RequestLoopParts<Config> => ({
    signers: watchedElsewhere(shared.issuers),
    sources: casOf(shared),
    permissions: (served) => permissionsFor(shared, served),
  });
  const loops: Controller[] = [];
  if (authority.requests.includes('CertificateSigningRequest')) {
    loops.push(createCsrSigning({ component, ...parts(), maxRetryMs }));
  }
  if (authority.requests.includes('PodCertificateRequest') && pods !== undefined) {
    const own = { ...component, ...component.anotherLoop('pods') };
    loops.push(createPodIssuing({ component: own, ...pods, ...parts() }));
  }
  if (authority.requests.includes('CertificateRequest')) {
    const own = { ...component, ...component.anotherLoop('certificate-requests') };
    loops.push(
      createIssuerSigning<KnownIssuer<Config>>({
        component: own,
        ...parts(),
        maxRetryMs,
        shows: true,
        // Ready is Initializing until there is an answer (docs/reference/library.md).
        showsWaiting: false,
        selectionOf: ({ metadata: { name, namespace } }) =>
          issuerSelection({ ...authority.issuer, name, namespace }),
      }),
    );
  }
  return loops;
}

interface RequestLoopParts<Config> {
  readonly signers: SignerSet<KnownIssuer<Config>>;
  readonly sources: IssuingCas<KnownIssuer<Config>, ServedRequest>;
  readonly permissions: (
    served: readonly KnownIssuer<Config>[],
  ) => ReturnType<Controller['permissions']>;
}

/**
 * Returns the permissions that the process's roles must have, without namespaced issuers. The owner
 * of a namespace writes those, and one without a grant must not make the process unready. Its own
 * requests and its Ready condition report it.
 */
function permissionsFor<Config>(
  { init: { component, authority } }: SharedLoopParts<Config>,
  served: readonly KnownIssuer<Config>[],
): ReturnType<Controller['permissions']> {
  const ofCluster = served.filter(({ view }) => view.namespace === undefined);
  return libraryPermissions(authority, {
    signerNames: ofCluster.map(({ spec }) => spec.signerName),
    secrets: ofCluster.flatMap(({ secretNames }) =>
      secretNames.map((name) => ({ namespace: component.secretNamespace, name })),
    ),
    leases: component.leases,
  });
}

/**
 * Returns the CAs of one request loop. Each loop has its own watches of bundles and its own
 * outcomes.
 */
function casOf<Config>({
  init,
  call,
  controller,
}: SharedLoopParts<Config>): IssuingCas<KnownIssuer<Config>, ServedRequest> {
  const bundles = watchPublishedBundles<KnownIssuer<Config>>(init.component, init.bundles);
  const outcomes = createRequestOutcomes();
  const external = { ...init, call, controller, outcomes, bundleOf: bundles.anchors };
  return {
    ...bundles,
    issuing: (issuer) => externalCaIssuing(external, issuer),
    waitsFor: (issuer) =>
      unreadyReason(issuer) ??
      (bundles.anchors(issuer)?.length === 0 ? messages.BUNDLE_NOT_PUBLISHED : undefined),
  };
}

function unreadyReason<Config>(issuer: KnownIssuer<Config>): string | undefined {
  if (isReady(issuer)) return undefined;
  const { kind, metadata } = issuer;
  const ready = currentReady(issuer);
  if (ready === undefined) return messages.issuerNotChecked(kind, metadata.name);
  return messages.issuerNotReady(kind, metadata.name, ready.reason, ready.message);
}
