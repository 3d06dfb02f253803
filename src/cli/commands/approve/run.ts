// SPDX-License-Identifier: Apache-2.0
import * as certificateRequest from '../../../api/request/certificate-request.ts';
import * as csr from '../../../api/request/csr.ts';
import { hasTrueCondition, type Condition } from '../../../api/request/conditions.ts';
import type { KubeObject } from '../../../api/object/object.ts';
import { usageError } from '../../../errors.ts';
import { explain, type Subject } from '../../../explanations/explain.ts';
import type { RuleVerdict } from '../../../explanations/explanation.ts';
import { rulesText } from '../../../explanations/text.ts';
import type { Client } from '../../../kube/client/client.ts';
import { resource, type Resource } from '../../../kube/resource/resource.ts';
import { EXIT_REFUSED, structuredText, type Output } from '../../../operations/report.ts';
import { printable, shellWord } from '../../../quote.ts';
import { subjectOf, withNamespaceHint } from '../../subject.ts';
import { printDocument, printText } from '../../terminal.ts';
import { connectUser, type UserOptions } from '../../user-client.ts';

/** Flags of `countersign approve` and `countersign deny`. */
export interface DecideOptions extends UserOptions {
  readonly namespace: string;
  readonly reason: string;
  readonly message: string;
  readonly dryRun: boolean;
  readonly output: Output | 'name';
  /** Seconds. */
  readonly propagation: number;
}

/** The condition that a decision is. */
export type Approval = 'Approved' | 'Denied';

/** What became of one request: what `-o json` and `-o yaml` print, in a list. */
export interface DecidedRequest {
  /** `csr/alice` */
  readonly object: string;
  readonly namespace?: string;
  /** `unchanged`: it was decided so before. `refused`: otherwise, or it has failed. */
  readonly outcome: Approval | 'unchanged' | 'refused';
  readonly dryRun: boolean;
  readonly message: string;
  /** What the rules of its signer say of it now. */
  readonly rules: readonly RuleVerdict[];
}

/** A kind of requests that a person may decide. */
interface DecidedKind {
  readonly of: Resource;
  readonly subresource: string;
  readonly isNamespaced: boolean;
  readonly decided: (
    request: KubeObject,
    decision: { type: Approval; reason: string; message: string },
    now: number,
  ) => object;
}

const CSR: DecidedKind = {
  of: resource(csr.CSR_RESOURCE),
  subresource: 'approval',
  isNamespaced: false,
  decided: (request, decision, now) =>
    csr.csrWriteBody(csr.withApproval(request as csr.CertificateSigningRequest, decision, now)),
};
const CERTIFICATE_REQUEST: DecidedKind = {
  of: resource(certificateRequest.CERTIFICATE_REQUEST_RESOURCE),
  subresource: 'status',
  isNamespaced: true,
  decided: (request, decision, now) =>
    certificateRequest.withApproval(
      request as certificateRequest.CertificateRequest,
      decision,
      now,
    ),
};
const KINDS: ReadonlyMap<string, DecidedKind> = new Map([
  ...['csr', 'certificatesigningrequest', 'certificatesigningrequests'].map(
    (name) => [name, CSR] as const,
  ),
  ...['cr', 'certificaterequest', 'certificaterequests'].map(
    (name) => [name, CERTIFICATE_REQUEST] as const,
  ),
]);

/**
 * Runs `countersign approve` or `countersign deny`: says what the rules say beside each request, then writes.
 *
 * @param texts - `kind/name` each; all are read before anything is written
 * @returns the exit code
 * @throws KubeError when one cannot be read or written; SignerError USAGE
 */
export async function decideRequests(
  decision: Approval,
  texts: readonly string[],
  options: DecideOptions,
): Promise<number> {
  const subjects = texts.map((text) => subjectOf(text, options.namespace));
  const kinds = subjects.map((subject) => kindOf(subject));
  const { client } = await connectUser(options, decision === 'Approved' ? 'approve' : 'deny');
  try {
    const judged = await Promise.all(
      subjects.map((subject, index) => judge(client, subject, kinds[index] ?? CSR, options)),
    );
    const done: DecidedRequest[] = [];
    for (const each of judged) done.push(await decide(client, decision, each, options));
    const { output } = options;
    if (output === 'text') printText(done.map(textOf).join('\n'));
    else if (output === 'name') printText(done.map(({ object }) => `${object}\n`).join(''));
    else printDocument(structuredText(done, output));
    return done.some(({ outcome }) => outcome === 'refused') ? EXIT_REFUSED : 0;
  } finally {
    await client.close();
  }
}

function kindOf({ kind, name }: Subject): DecidedKind {
  const found = KINDS.get(kind.toLowerCase());
  if (found !== undefined) return found;
  throw usageError(
    `${kind}/${name}: a person decides csr and certificaterequest; rules alone decide the others`,
  );
}

interface Judged {
  readonly subject: Subject;
  readonly kind: DecidedKind;
  readonly request: KubeObject;
  readonly rules: readonly RuleVerdict[];
}

async function judge(
  client: Client,
  subject: Subject,
  kind: DecidedKind,
  { propagation }: DecideOptions,
): Promise<Judged> {
  try {
    const request = await client.request<KubeObject>({
      method: 'GET',
      path: kind.of.object(referenceOf(subject, kind)),
    });
    // What the rules say is about the very version that is decided on.
    const init = { client, clock: Date.now, propagationSeconds: propagation, known: request };
    const { rules = [] } = await explain(init, subject);
    return { subject, kind, request, rules };
  } catch (error) {
    throw withNamespaceHint(error, subject);
  }
}

function referenceOf(
  { name, namespace }: Subject,
  { isNamespaced }: DecidedKind,
): { readonly name: string; readonly namespace?: string } {
  return isNamespaced ? { name, namespace } : { name };
}

async function decide(
  client: Client,
  decision: Approval,
  { subject, kind, request, rules }: Judged,
  { reason, message, dryRun }: DecideOptions,
): Promise<DecidedRequest> {
  const result = {
    object: `${subject.kind}/${subject.name}`,
    ...(kind.isNamespaced ? { namespace: subject.namespace } : {}),
    ...{ dryRun, rules },
  };
  const before = decidedBefore(request);
  if (before === decision) {
    return { ...result, outcome: 'unchanged', message: `it is ${before} already` };
  }
  if (before !== undefined) {
    const final = `it is ${before}, which is final; its requester has to ask again`;
    return { ...result, outcome: 'refused', message: final };
  }
  await client.request({
    method: 'PUT',
    path: kind.of.object(referenceOf(subject, kind), kind.subresource),
    query: dryRun ? { dryRun: 'All' } : {},
    body: kind.decided(
      request,
      { type: decision, reason, message },
      Date.now() - client.clockOffset(),
    ),
  });
  return { ...result, outcome: decision, message };
}

function decidedBefore(request: KubeObject): Approval | 'Failed' | undefined {
  const { status } = request as {
    readonly status?: { readonly conditions?: readonly Condition[] };
  };
  return (['Denied', 'Failed', 'Approved'] as const).find((type) =>
    hasTrueCondition(status?.conditions, type),
  );
}

function textOf({ object, namespace, outcome, dryRun, message, rules }: DecidedRequest): string {
  const flag = namespace === undefined ? '' : ` -n ${namespace}`;
  const would = dryRun ? ' (dry run: nothing is stored)' : '';
  const what =
    outcome === 'Approved' || outcome === 'Denied'
      ? `${outcome.toLowerCase()}${would}`
      : `nothing is written: ${message}`;
  const next =
    outcome === 'Approved' && !dryRun
      ? ['', `  next: countersign explain ${shellWord(object)}${flag}`]
      : [];
  return [`${printable(object)}: ${what}`, ...rulesText(rules), ...next, ''].join('\n');
}
