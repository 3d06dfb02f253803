// SPDX-License-Identifier: Apache-2.0
import {
  createCertificateRequestSigning,
  issuerSelection,
} from '../controllers/certificate-request/index.ts';
import { createPodIssuing } from '../controllers/pcr-issuer/index.ts';
import { createCsrSigning } from '../controllers/signer/index.ts';
import type { Resource } from '../kube/resource/resource.ts';
import type { Component, Controller } from '../runtime/component/component.ts';
import type { IssuingCas } from '../runtime/issuing/issuing-ca.ts';
import { watchedElsewhere, type SignerSet } from '../runtime/signers/signer-set.ts';
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

/** What an author's process runs with. */
export interface LibraryInit<Config> {
  readonly component: Component;
  readonly authority: AuthorityType<Config>;
  /** ClusterTrustBundles, if the API server serves them. */
  readonly bundles: Resource | undefined;
  /** PodCertificateRequests, if the API server serves them. */
  readonly pods: { readonly requests: Resource; readonly legacy: Resource | undefined } | undefined;
  /** Milliseconds during which a CertificateSigningRequest is retried after an ordinary error. */
  readonly maxRetryMs: number;
  /** Milliseconds that one call of `check` or `sign` may take. */
  readonly callMs: number;
}

/** What the loops of one process share. */
interface Shared<Config> {
  readonly init: LibraryInit<Config>;
  readonly issuers: IssuerCache<Config>;
  readonly call: GuardedCall<Config>;
  readonly controller: IssuerController;
}

/** The controller of an author's process: the issuer controller, and a request loop for each kind. */
export function createLibraryController<Config>(init: LibraryInit<Config>): Controller {
  const { component, authority } = init;
  const issuers = createIssuerCache(component, authority);
  const call = createCallGuard({ component, secrets: authority.secrets, callMs: init.callMs });
  const controller = createIssuerController({
    component: { ...component, ...component.anotherLoop('issuers') },
    ...{ authority, issuers, call },
  });
  const shared = { init, issuers, call, controller };
  const loops = requestLoops(shared);
  return {
    permissions: () => permissionsFor(shared, issuers.all()),
    notReady: () => [
      ...(issuers.settled
        ? []
        : [`${authority.issuer.plural}: ${issuers.failure ?? 'not listed yet'}`]),
      ...loops.flatMap((each) => each.notReady()),
    ],
    warnings: () => loops.flatMap((each) => each.warnings?.() ?? []),
    run: async (signal) => {
      const running = [issuers.run(signal), controller.run(signal)];
      await Promise.all([...running, ...loops.map((each) => each.run(signal))]);
    },
  };
}

/** One loop for each kind that the authority serves and the API server has. */
function requestLoops<Config>(shared: Shared<Config>): readonly Controller[] {
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
      createCertificateRequestSigning<KnownIssuer<Config>>({
        ...{ component: own, ...parts(), maxRetryMs, shows: true },
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

function permissionsFor<Config>(
  { init: { component, authority } }: Shared<Config>,
  served: readonly KnownIssuer<Config>[],
): ReturnType<Controller['permissions']> {
  return libraryPermissions(authority, {
    signerNames: served.map(({ spec }) => spec.signerName),
    secrets: served.flatMap(({ view }) =>
      authority.secrets(view.config).map((name) => ({
        namespace: view.namespace ?? component.secretNamespace,
        name,
      })),
    ),
    leases: component.leases,
  });
}

/** The CAs of one request loop: each loop has its own watches of bundles and its own outcomes. */
function casOf<Config>({
  init,
  call,
  controller,
}: Shared<Config>): IssuingCas<KnownIssuer<Config>, ServedRequest> {
  const bundles = watchPublishedBundles<KnownIssuer<Config>>(init.component, init.bundles);
  const outcomes = createRequestOutcomes();
  const external = { ...init, call, controller, outcomes, bundleOf: bundles.anchors };
  return {
    ...bundles,
    issuing: (issuer) => externalCaIssuing(external, issuer),
    waitsFor: (issuer) =>
      whyNotReady(issuer) ??
      (bundles.anchors(issuer)?.length === 0 ? 'its trust bundle is not published' : undefined),
  };
}

function whyNotReady<Config>(issuer: KnownIssuer<Config>): string | undefined {
  if (isReady(issuer)) return undefined;
  const { kind, metadata } = issuer;
  const ready = currentReady(issuer);
  if (ready === undefined) return `${kind} ${metadata.name} has not been checked yet`;
  return `${kind} ${metadata.name} is not ready: ${ready.reason ?? ''}: ${ready.message ?? ''}`;
}
