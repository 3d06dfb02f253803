// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../../../src/api/signer/cluster-signer.ts';
import type { CertificateSigningRequest } from '../../../src/api/request/csr.ts';
import type { Authority } from '../../../src/authorities/contract.ts';
import { createActor } from '../../../src/controllers/signer/act.ts';
import type { RequestInit } from '../../../src/kube/client/client.ts';
import { resource } from '../../../src/kube/resource/resource.ts';
import type { LogFields } from '../../../src/ports.ts';
import { localIssuing } from '../../../src/runtime/issuing/local-issuing.ts';
import type { Outcome } from '../../../src/runtime/requests/outcome.ts';
import { made, type Wanted } from '../../policy/request.ts';
import { NOW } from '../../support/pki/chain.ts';
import { openIntermediate } from '../../support/authorities/intermediate.ts';
import { oneObject, type OneObject } from '../../support/kube/single-object-api.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { workload, workloadProfile } from '../../support/signers/workload-profile.ts';

const REQUESTS = resource({
  group: 'certificates.k8s.io',
  version: 'v1',
  plural: 'certificatesigningrequests',
});

/** An actor, the API server's only request, and all that was asked of the server. */
export interface Stage {
  readonly server: OneObject<CertificateSigningRequest>;
  readonly csr: CertificateSigningRequest;
  readonly requests: readonly RequestInit[];
  /** What was logged of each signature: UID and serial number. */
  readonly signed: () => readonly LogFields[];
  /** GET or PUT, in order. */
  readonly methods: () => readonly string[];
  /** The bodies of the PUTs. */
  readonly sent: () => readonly CertificateSigningRequest[];
  /** Works on the request as the cache has it: by default as it was at first. */
  readonly handle: (csr?: CertificateSigningRequest, signer?: ClusterSigner) => Promise<Outcome>;
  /** Our clock is so far ahead of the server's, as far as the server has told. */
  readonly ahead: (milliseconds: number) => void;
  readonly forget: (name: string) => void;
}

/** jane's request, approved; `authority` is asked for each look at it. */
export function start(wanted: Wanted = {}, authority: () => Authority = openIntermediate): Stage {
  const csr: CertificateSigningRequest = {
    ...made(wanted).csr,
    status: { conditions: [{ type: 'Approved', status: 'True', reason: 'ByHand' }] },
  };
  const server = oneObject(csr);
  let offset = 0;
  const component = recordedComponent({ clock: () => NOW + offset });
  const client = Object.assign(component.client, { clockOffset: () => offset });
  client.answer(server.answer);
  const actor = createActor({
    component,
    resource: REQUESTS,
    profileOf: () => workloadProfile(),
    issuingOf: () => localIssuing(component, authority()),
  });
  return {
    server,
    csr,
    requests: client.requests,
    signed: () =>
      component.log.lines.flatMap(({ message, fields }) => (message === 'signed' ? [fields] : [])),
    methods: () => client.requests.map(({ method }) => method),
    sent: () =>
      client.requests
        .filter(({ method }) => method === 'PUT')
        .map(({ body }) => body as CertificateSigningRequest),
    handle: (seen = csr, signer = workload()) => actor.handle(seen, signer),
    ahead: (milliseconds) => {
      offset = milliseconds;
    },
    forget: actor.forget,
  };
}
