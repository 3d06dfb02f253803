// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../../../src/api/signer/cluster-signer.ts';
import type { PodCertificateRequest } from '../../../src/api/request/pod-certificate-request.ts';
import type { Authority } from '../../../src/authorities/contract.ts';
import { createActor } from '../../../src/controllers/pcr-issuer/act.ts';
import type { RequestInit } from '../../../src/kube/client/client.ts';
import { resource } from '../../../src/kube/resource/resource.ts';
import type { LogFields } from '../../../src/ports.ts';
import { localIssuing } from '../../../src/runtime/issuing/local-issuing.ts';
import type { Outcome } from '../../../src/runtime/requests/outcome.ts';
import { NOW } from '../../support/pki/chain.ts';
import { openIntermediate } from '../../support/authorities/intermediate.ts';
import { oneObject, type OneObject } from '../../support/kube/single-object-api.ts';
import { podRequest, readSent } from '../../support/requests/pod-certificate-request.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { workload, workloadProfile } from '../../support/signers/workload-profile.ts';

export const GROUP = { group: 'certificates.k8s.io', plural: 'podcertificaterequests' } as const;

type Request = PodCertificateRequest;

/** An actor, the API server's only request, and all that was asked of the server. */
export interface Stage {
  readonly server: OneObject<Request>;
  readonly request: Request;
  readonly requests: readonly RequestInit[];
  /** What was logged of each signature: UID and serial number. */
  readonly signed: () => readonly LogFields[];
  /** GET or PUT, in order. */
  readonly methods: () => readonly string[];
  /** The bodies of the PUTs, as they go over the wire. */
  readonly sent: () => readonly Request[];
  /** Works on the request as the cache has it: by default as it was at first. */
  readonly handle: (request?: Request, signer?: ClusterSigner) => Promise<Outcome>;
  readonly later: (milliseconds: number) => void;
  /** Our clock is so far ahead of the server's, as far as the server has told. */
  readonly ahead: (milliseconds: number) => void;
  readonly forget: (key: string) => void;
}

export interface Wanted {
  readonly spec?: Partial<Request['spec']>;
  readonly authority?: () => Authority;
  readonly legacy?: boolean;
}

/** The request of pod team-a/web-0, seven tenths of a second past {@link NOW}. */
export function start({ spec, authority = openIntermediate, legacy }: Wanted = {}): Stage {
  const request = podRequest(spec);
  const server = oneObject(request, readSent);
  let now = NOW + 700;
  let offset = 0;
  const component = recordedComponent({ name: 'pcr-issuer', clock: () => now });
  const client = Object.assign(component.client, { clockOffset: () => offset });
  client.answer(server.answer);
  const actor = createActor({
    component,
    resource: resource({ ...GROUP, version: 'v1' }),
    legacy: legacy === true ? resource({ ...GROUP, version: 'v1beta1' }) : undefined,
    profileOf: () => workloadProfile(),
    issuingOf: () => localIssuing(component, authority()),
  });
  return {
    server,
    request,
    requests: client.requests,
    signed: () =>
      component.log.lines.flatMap(({ message, fields }) => (message === 'signed' ? [fields] : [])),
    methods: () => client.requests.map(({ method }) => method),
    sent: () =>
      client.requests.filter(({ method }) => method === 'PUT').map(({ body }) => readSent(body)),
    handle: (seen = request, signer = workload()) => actor.handle(seen, signer),
    later: (milliseconds) => {
      now += milliseconds;
    },
    ahead: (milliseconds) => {
      now += milliseconds - offset;
      offset = milliseconds;
    },
    forget: actor.forget,
  };
}
