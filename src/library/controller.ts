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
import type { SignerSet } from '../runtime/signers/signer-set.ts';
import { watchPublishedBundles } from './signing/published-bundles.ts';
import { createCallGuard } from './calls/call-guard.ts';
import type { AuthorityType } from './define.ts';
import { externalCaIssuing } from './signing/external-ca.ts';
import { createIssuerController } from './issuers/issuer-controller.ts';
import { currentReady, isReady } from './issuers/issuer-status.ts';
import { createIssuerCache, type IssuerCache, type KnownIssuer } from './issuers/issuer-cache.ts';
import { createRequestOutcomes } from './signing/request-outcomes.ts';
import { libraryPermissions } from './permissions.ts';
import type { ServedRequest } from './signing/signing-request.ts';

export interface LibraryInit<Config> {
  readonly component: Component;
  readonly authority: AuthorityType<Config>;
  /** What the server has; undefined where it has none. */
  readonly bundles: Resource | undefined;
  readonly pods: { readonly requests: Resource; readonly legacy: Resource | undefined } | undefined;
  readonly maxRetryMs: number;
  readonly callMs: number;
}

/** An author's process: the issuer loop, and the request loops of our own components. */
export function createLibraryController<Config>(init: LibraryInit<Config>): Controller {
  const { component, authority } = init;
  const issuers = createIssuerCache(component, authority);
  const call = createCallGuard({ component, secrets: authority.secrets, callMs: init.callMs });
  const loop = createIssuerController({
    component: { ...component, ...component.anotherLoop('issuers') },
    ...{ authority, issuers, call },
  });
  const permissions = (
    served: readonly KnownIssuer<Config>[],
  ): ReturnType<Controller['permissions']> =>
    libraryPermissions(authority, {
      signerNames: served.map(({ spec }) => spec.signerName),
      secrets: served.flatMap(({ view }) =>
        authority.secrets(view.config).map((name) => ({
          namespace: view.namespace ?? component.secretNamespace,
          name,
        })),
      ),
      leases: component.leases,
    });

  /** Each request loop has its own: watches of bundles, and what it remembers. */
  function sources(): IssuingCas<KnownIssuer<Config>, ServedRequest> {
    const bundles = watchPublishedBundles<KnownIssuer<Config>>(component, init.bundles);
    const memory = createRequestOutcomes();
    const issuing = (issuer: KnownIssuer<Config>): ReturnType<typeof externalCaIssuing<Config>> =>
      externalCaIssuing({ ...init, call, loop, memory, bundleOf: bundles.anchors }, issuer);
    return {
      ...bundles,
      issuing,
      waitsFor: (issuer) =>
        whyNotReady(issuer) ??
        (bundles.anchors(issuer)?.length === 0 ? 'its trust bundle is not published' : undefined),
    };
  }

  const loops: Controller[] = [];
  if (authority.requests.includes('CertificateSigningRequest')) {
    const common = { component, signers: watched(issuers), sources: sources(), permissions };
    loops.push(createCsrSigning({ ...common, maxRetryMs: init.maxRetryMs }));
  }
  if (authority.requests.includes('PodCertificateRequest') && init.pods !== undefined) {
    const own = { ...component, ...component.anotherLoop('pods') };
    const common = { signers: watched(issuers), sources: sources(), permissions };
    loops.push(createPodIssuing({ component: own, ...init.pods, ...common }));
  }
  if (authority.requests.includes('CertificateRequest')) {
    const own = { ...component, ...component.anotherLoop('certificate-requests') };
    const common = { signers: watched(issuers), sources: sources(), permissions };
    loops.push(
      createCertificateRequestSigning<KnownIssuer<Config>>({
        ...{ component: own, ...common, maxRetryMs: init.maxRetryMs, shows: true },
        selectionOf: ({ metadata: { name, namespace } }) =>
          issuerSelection({ ...authority.issuer, name, namespace }),
      }),
    );
  }

  return {
    permissions: () => permissions(issuers.all()),
    notReady: () => [
      ...(issuers.settled
        ? []
        : [`${authority.issuer.plural}: ${issuers.failure ?? 'not listed yet'}`]),
      ...loops.flatMap((each) => each.notReady()),
    ],
    warnings: () => loops.flatMap((each) => each.warnings?.() ?? []),
    run: async (signal) => {
      const running = [issuers.run(signal), loop.run(signal)];
      await Promise.all([...running, ...loops.map((each) => each.run(signal))]);
    },
  };
}

/** The same for one more loop: it is run once, here. */
function watched<Config>(issuers: IssuerCache<Config>): SignerSet<KnownIssuer<Config>> {
  return {
    get settled() {
      return issuers.settled;
    },
    get failure() {
      return issuers.failure;
    },
    serving: issuers.serving,
    all: issuers.all,
    onChange: issuers.onChange,
    run: () => Promise.resolve(),
  };
}

function whyNotReady<Config>(issuer: KnownIssuer<Config>): string | undefined {
  if (isReady(issuer)) return undefined;
  const { kind, metadata } = issuer;
  const ready = currentReady(issuer);
  if (ready === undefined) return `${kind} ${metadata.name} has not been checked yet`;
  return `${kind} ${metadata.name} is not ready: ${ready.reason ?? ''}: ${ready.message ?? ''}`;
}
