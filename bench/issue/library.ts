// SPDX-License-Identifier: Apache-2.0
import { setTimeout as delay } from 'node:timers/promises';
import { openLocalAuthority } from '#ca/custody/local.ts';
import type { KubeObject } from '#api/object/object.ts';
import { createCallGuard } from '#library/calls/call-guard.ts';
import { externalCaIssuing } from '#library/signing/external-ca.ts';
import { defineAuthority, openCa, type Context } from '#library/index.ts';
import type { KnownIssuer } from '#library/issuers/issuer-cache.ts';
import { createRequestOutcomes } from '#library/signing/request-outcomes.ts';
import type { ServedRequest } from '#library/signing/signing-request.ts';
import { localCaOf } from '../../test/support/requests/local-ca.ts';
import type { Component } from '#component/contract.ts';
import type {
  IssuedChain,
  NotIssued,
  IssuingCa,
  CertificateTemplate,
} from '#requests/issuing/issuing-ca.ts';
import type { Work } from './work.ts';

/** A request's leaf, decided: what both paths begin with. */
export type Step = (wanted: CertificateTemplate, request: ServedRequest) => Promise<IssuedChain>;

const silent = (): void => undefined;

/** What both are given of a component: neither reads anything from an API server. */
const component = {
  clock: Date.now,
  delay: (milliseconds: number) => delay(milliseconds),
  random: (size: number) => crypto.getRandomValues(new Uint8Array(size)),
  log: { debug: silent, info: silent, warn: silent, error: silent },
  client: { clockOffset: () => 0 },
} as unknown as Component;

/** The components' own: a CA whose key they hold. */
export function builtInStep(work: Work): Step {
  const authority = openLocalAuthority({ ...work, anchors: undefined }, Date.now());
  return answered(localCaOf(component, authority));
}

/** The library's, with an author who signs with the same key by `openCa`. */
export function libraryStep(work: Work): Step {
  const ca = openCa(work, { now: Date.now });
  const authority = defineAuthority<unknown>({
    name: 'bench',
    issuer: { group: 'bench.example.com', version: 'v1', kind: 'Bench', plural: 'benches' },
    schema: { parse: (value) => value },
    check: () => Promise.resolve(),
    sign: (request, _issuer, ctx: Context) => ca.sign(request, ctx),
  });
  const metadata: KubeObject['metadata'] = {
    name: 'one',
    uid: 'one',
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: '2026-11-21T06:00:00Z',
  };
  const signerName = 'benches.bench.example.com/one';
  const view = { name: 'one', uid: 'one', generation: 1, signerName, config: undefined };
  const issuer = { metadata, spec: { signerName }, view } as unknown as KnownIssuer<unknown>;
  return answered(
    externalCaIssuing(
      {
        component,
        authority,
        outcomes: createRequestOutcomes(),
        call: createCallGuard({ component, secrets: () => [], callMs: 60_000 }),
        controller: { reportError: silent, reportSuccess: silent, reportAnchors: silent },
        bundleOf: () => undefined,
      },
      issuer,
    ),
  );
}

function answered(issuing: Pick<IssuingCa<ServedRequest>, 'issue'>): Step {
  return async (wanted, request) => {
    const answer: IssuedChain | NotIssued = await issuing.issue(wanted, request);
    if (answer.kind === 'notIssued') throw new Error(answer.message);
    return answer;
  };
}
