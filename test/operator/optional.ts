// SPDX-License-Identifier: Apache-2.0
/** Components that may be left out, with what an administrator grants or allows for them. */
import type { CountersignSpec } from '#api/operator/countersign.ts';
import type { Client } from '#kube/client/client.ts';
import { until } from '../cluster/until.ts';
import type { ComponentProcess } from '../support/cluster/component-process.ts';
import { EXAMPLE, SYSTEM, WAIT_MS, type Stand } from './stand.ts';

/** What a component may do then: authorization/v1 ResourceAttributes. */
export interface Right {
  readonly component: string;
  readonly verb: string;
  readonly group?: string;
  readonly resource: string;
  readonly name?: string;
  readonly namespace?: string;
}

/** What a spec says beside the example. */
export interface OptionalCase {
  readonly what: string;
  readonly names: readonly string[];
  readonly more: Partial<CountersignSpec>;
  /** What an administrator lets the writer of a spec say. */
  readonly flags?: readonly string[];
  /** What stays in the spec when the components go. */
  readonly left: Partial<CountersignSpec>;
  /** A namespace that must be there. */
  readonly namespace?: string;
  /** What the refusal says that the operator lacks; absent: it needs no more than it has. */
  readonly lacks?: RegExp;
  readonly rights: readonly Right[];
}

const DNS = { namespace: 'countersign-dns', name: 'tsig' };

const ACME = {
  signers: [{ name: 'example.com/public' }],
  solverSecrets: [DNS],
  dnsWebhooks: ['acme.provider.example/records'],
  renewCertificates: true,
};

const READERS = ['pcr-issuer', 'pod-refresher'];
const RECORDS = { group: 'ledger.countersign.dev', resource: 'records' };

export const OPTIONAL: readonly OptionalCase[] = [
  {
    what: 'names of ACME',
    names: ['acme', 'acme-responder', 'acme-solver'],
    more: { acme: ACME },
    left: { acme: ACME },
    namespace: DNS.namespace,
    lacks: /lack: .*countersign-acme/,
    rights: [{ component: 'acme-solver', verb: 'get', resource: 'secrets', ...DNS }],
  },
  {
    what: 'records for two components',
    names: ['ledger', 'pod-refresher'],
    more: { ledger: { facts: true } },
    left: {},
    lacks: /lack: .*records/,
    rights: READERS.flatMap((component) =>
      ['get', 'list'].map((verb) => ({ component, verb, ...RECORDS })),
    ),
  },
  {
    what: 'a bundle endpoint with an SVID by a signer of ours',
    names: ['bundle-endpoint'],
    more: { bundleEndpoint: { svidSigner: 'example.com/workload' } },
    flags: ['--allow-danger-zone'],
    left: {},
    rights: [],
  },
];

/** The example with these components. */
export function specOf({ names, more }: OptionalCase): CountersignSpec {
  const components = Object.fromEntries(names.map((each) => [each, { enabled: true }]));
  return { ...EXAMPLE.spec, ...more, components };
}

/** The operator that takes the place of this one, with other flags. */
export async function restarted(
  stand: Stand,
  operator: ComponentProcess,
  flags: readonly string[],
): Promise<ComponentProcess> {
  await operator.stop();
  return stand.start(...flags);
}

/** Resolves when the API server lets the components do all of it, or none. */
export function areAllowed(
  client: Client,
  rights: readonly Right[],
  wanted: boolean,
): Promise<unknown> {
  return until(`they may: ${wanted}`, WAIT_MS, async () => {
    const may = await Promise.all(rights.map((right) => isAllowed(client, right)));
    return may.every((each) => each === wanted);
  });
}

async function isAllowed(
  client: Client,
  { component, ...resourceAttributes }: Right,
): Promise<boolean> {
  const user = `system:serviceaccount:${SYSTEM}:countersign-${component}`;
  const { status } = await client.request<{ readonly status: { readonly allowed: boolean } }>({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user, resourceAttributes },
    },
  });
  return status.allowed;
}
