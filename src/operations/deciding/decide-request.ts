// SPDX-License-Identifier: Apache-2.0
/** The decision of a person about one request: Approved or Denied, for good. */
import * as certificateRequest from '#api/request/certificate-request.ts';
import * as csr from '#api/request/csr.ts';
import { hasTrueCondition, type Condition } from '#api/request/conditions.ts';
import type { KubeObject } from '#api/object/object.ts';
import type { Clock } from '#base/ports.ts';
import { printable } from '#base/quote.ts';
import type { Client } from '#kube/client/client.ts';
import { resource, type Resource } from '#kube/resource/resource.ts';
import { serverTime } from '#component/server-time.ts';

/** The condition of a decision. */
export type Approval = 'Approved' | 'Denied';

/** A kind of requests that a user may decide. */
export interface DecidedKind {
  readonly of: Resource;
  readonly subresource: string;
  readonly isNamespaced: boolean;
  readonly decided: (request: KubeObject, decision: Decision, now: number) => object;
}

interface Decision {
  readonly type: Approval;
  readonly reason: string;
  readonly message: string;
}

/** The kinds that a person decides. Rules alone decide the others. */
export const DECIDED_KINDS = {
  csr: {
    of: resource(csr.CSR_RESOURCE),
    subresource: 'approval',
    isNamespaced: false,
    // The request was read from the path of its kind.
    decided: (request, decision, now) =>
      csr.csrWriteBody(csr.withApproval(request as csr.CertificateSigningRequest, decision, now)),
  },
  certificaterequest: {
    of: resource(certificateRequest.CERTIFICATE_REQUEST_RESOURCE),
    subresource: 'status',
    isNamespaced: true,
    decided: (request, decision, now) =>
      certificateRequest.withApproval(
        // The request was read from the path of its kind.
        request as certificateRequest.CertificateRequest,
        decision,
        now,
      ),
  },
} as const satisfies Readonly<Record<string, DecidedKind>>;

/** The request to decide, by the name that a person uses. */
export interface DecidedSubject {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
}

/** Result for one request. */
export interface DecisionReport {
  /** Name, such as `csr/alice` */
  readonly object: string;
  readonly namespace?: string;
  /**
   * `unchanged`: it already has this decision. `refused`: it has the opposite decision, has
   * failed, or would fail.
   */
  readonly outcome: Approval | 'unchanged' | 'refused';
  readonly dryRun: boolean;
  readonly message: string;
}

/** Returns the API path of a request, or of a subresource of it. */
export function requestPath(
  { of, isNamespaced }: DecidedKind,
  { name, namespace }: DecidedSubject,
  subresource?: string,
): string {
  return of.object(isNamespaced ? { name, namespace } : { name }, subresource);
}

/** The decision to write. */
export interface DecideInit extends Decision {
  readonly client: Client;
  readonly clock: Clock;
  /** `dryRun=All`: the API server checks permissions and admission, and stores nothing. */
  readonly dryRun: boolean;
  /** The reason to write nothing about an undecided request. */
  readonly refusal?: string | undefined;
}

/**
 * Writes a decision with the user's permissions, unless the request is decided or has failed.
 *
 * @param request - as it was read. The API server rejects the write if it has changed since.
 * @throws KubeError of the API server, KUBE_CONFLICT included
 */
export async function decideRequest(
  { client, clock, dryRun, refusal, ...decision }: DecideInit,
  subject: DecidedSubject,
  kind: DecidedKind,
  request: KubeObject,
): Promise<DecisionReport> {
  const result = {
    object: `${subject.kind}/${subject.name}`,
    ...(kind.isNamespaced ? { namespace: subject.namespace } : {}),
    dryRun,
  };
  const before = decidedBefore(request);
  if (before === decision.type) {
    return { ...result, outcome: 'unchanged', message: `it is ${before} already` };
  }
  if (before !== undefined) {
    const final = `it is ${before}, which is final; its requester must create a new request`;
    return { ...result, outcome: 'refused', message: final };
  }
  if (refusal !== undefined) return { ...result, outcome: 'refused', message: refusal };
  await client.request({
    method: 'PUT',
    path: requestPath(kind, subject, kind.subresource),
    query: dryRun ? { dryRun: 'All' } : {},
    body: kind.decided(request, decision, serverTime({ clock, client })),
  });
  return { ...result, outcome: decision.type, message: decision.message };
}

function decidedBefore({
  status,
}: KubeObject & {
  readonly status?: { readonly conditions?: readonly Condition[] };
}): Approval | 'Failed' | undefined {
  return (['Denied', 'Failed', 'Approved'] as const).find((type) =>
    hasTrueCondition(status?.conditions, type),
  );
}

/** Returns the result as one line for people. */
export function decisionText({ object, outcome, dryRun, message }: DecisionReport): string {
  const would = dryRun ? ' (dry run: nothing is stored)' : '';
  const what =
    outcome === 'Approved' || outcome === 'Denied'
      ? `${outcome.toLowerCase()}${would}`
      : `nothing is written: ${message}`;
  return `${printable(object)}: ${what}`;
}
