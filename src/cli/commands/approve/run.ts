// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '#api/object/object.ts';
import { SignerError, usageError } from '#base/errors.ts';
import { approvalRefusal } from '#diagnose/explain/approval-refusal.ts';
import { explain } from '#diagnose/explain/explain.ts';
import type { Subject } from '#diagnose/explain/lookup/reading.ts';
import type { Explanation, RuleVerdict } from '#diagnose/explain/explanation.ts';
import { kindNamed, type KindName } from '#diagnose/kinds.ts';
import { noticesText, rulesText } from '#diagnose/explain/text.ts';
import type { Client } from '#kube/client/client.ts';
import {
  DECIDED_KINDS,
  decideRequest,
  decisionText,
  requestPath,
  type Approval,
  type DecidedKind,
  type DecisionReport,
} from '#operations/deciding/decide-request.ts';
import { EXIT_REFUSED, type Output } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import { shellWord } from '#base/quote.ts';
import { subjectOf, withNamespaceHint } from '#cli/subject.ts';
import { printDocument, printText } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';

/** Flags of `countersign approve` and `countersign deny`. */
export interface DecideOptions extends UserOptions {
  readonly namespace: string;
  readonly reason: string;
  readonly message: string;
  readonly dryRun: boolean;
  /** True to approve a request that its signer would fail. Absent for `deny`. */
  readonly force?: boolean;
  readonly output: Output | 'name';
  /** Propagation time in seconds. */
  readonly propagation: number;
}

/** Result for one request: `-o json` and `-o yaml` print a list of these. */
export interface DecidedRequest extends DecisionReport {
  /** Current verdicts of its signer's rules. */
  readonly rules: readonly RuleVerdict[];
  /** Facts to know before the approval. Absent for `deny`. */
  readonly notices?: readonly string[];
}

/** Outcomes of a written decision. */
const DECISIONS: ReadonlySet<string> = new Set<Approval>(['Approved', 'Denied']);

const KINDS: Readonly<Partial<Record<KindName, DecidedKind>>> = DECIDED_KINDS;

/**
 * Runs `countersign approve` or `countersign deny`. Prints the rules' verdicts beside each request,
 * then writes.
 *
 * @param texts - `kind/name` each. All are read before anything is written.
 * @returns the exit code
 * @throws KubeError if one cannot be read, or SignerError USAGE. Nothing is written then.
 * @throws SignerError if one cannot be written. The others are decided and printed.
 */
export async function decideRequests(
  decision: Approval,
  texts: readonly string[],
  options: DecideOptions,
): Promise<number> {
  const subjects = distinct(texts.map((text) => subjectOf(text, options.namespace)));
  const kinds = subjects.map((subject) => kindOf(subject));
  const { client } = await connectUser(options, decision === 'Approved' ? 'approve' : 'deny');
  try {
    const judged = await Promise.all(
      subjects.map((subject, index) =>
        judge(client, subject, kinds[index] ?? DECIDED_KINDS.csr, options),
      ),
    );
    const { output } = options;
    const { done, failures } = await decideAll(client, decision, judged, options);
    if (output === 'text') printText(done.map(textOf).join('\n'));
    else if (output === 'name') printText(done.map(({ object }) => `${object}\n`).join(''));
    else printDocument(structuredText(done, output));
    const failure = summaryOf(failures, done);
    if (failure !== undefined) throw failure;
    return done.some(({ outcome }) => outcome === 'refused') ? EXIT_REFUSED : 0;
  } finally {
    await client.close();
  }
}

/** Decides each request, also after one that cannot be written. */
async function decideAll(
  client: Client,
  type: Approval,
  judged: readonly RequestReview[],
  options: DecideOptions,
): Promise<{
  readonly done: readonly DecidedRequest[];
  readonly failures: readonly FailedDecision[];
}> {
  const { reason, message, dryRun } = options;
  const init = { client, clock: Date.now, type, reason, message, dryRun };
  const done: DecidedRequest[] = [];
  const failures: FailedDecision[] = [];
  for (const { subject, kind, request, explanation } of judged) {
    const { refusal, ...shown } = outlookOf(type, explanation, options);
    try {
      const report = await decideRequest({ ...init, refusal }, subject, kind, request);
      done.push({ ...report, ...shown });
    } catch (error) {
      if (!(error instanceof SignerError)) throw error;
      failures.push({ object: `${subject.kind}/${subject.name}`, error });
    }
  }
  return { done, failures };
}

interface FailedDecision {
  readonly object: string;
  readonly error: SignerError;
}

/** Returns the error for all failures, which names the decisions that are written. */
function summaryOf(
  failures: readonly FailedDecision[],
  done: readonly DecidedRequest[],
): SignerError | undefined {
  const [first] = failures;
  const total = failures.length + done.length;
  if (first === undefined || total === 1) return first?.error;
  const faults = failures.map(({ object, error }) => `${object}: ${error.message}`).join('; ');
  const decided = done.filter((each) => !each.dryRun && DECISIONS.has(each.outcome));
  const written = decided.map(({ object }) => object).join(', ');
  return new SignerError({
    code: first.error.code,
    disposition: first.error.disposition,
    message: `${failures.length} of ${total} requests failed: ${faults}; written: ${written === '' ? 'none' : written}; run the command again for those that failed`,
    cause: first.error,
  });
}

/** Returns each request once. The second decision of one would be a conflict. */
function distinct(subjects: readonly Subject[]): readonly Subject[] {
  const first = new Map<string, Subject>();
  for (const subject of subjects) {
    const path = requestPath(kindOf(subject), subject);
    if (!first.has(path)) first.set(path, subject);
  }
  return [...first.values()];
}

function kindOf({ kind, name }: Subject): DecidedKind {
  const named = kindNamed(kind);
  const found = named === undefined ? undefined : KINDS[named];
  if (found !== undefined) return found;
  throw usageError(
    `${kind}/${name}: a person decides csr and certificaterequest; rules alone decide the others`,
  );
}

interface DecisionOutlook extends Pick<DecidedRequest, 'rules' | 'notices'> {
  readonly refusal?: string;
}

/** Returns what to know of a decision, and why it is refused. A denial is never refused. */
function outlookOf(
  decision: Approval,
  explanation: Explanation,
  { force = false }: DecideOptions,
): DecisionOutlook {
  const { rules = [], notices = [] } = explanation;
  if (decision === 'Denied') return { rules };
  const fault = force ? undefined : approvalRefusal(explanation);
  if (fault === undefined) return { rules, notices };
  return { rules, notices, refusal: `${fault}; --force approves it nevertheless` };
}

interface RequestReview {
  readonly subject: Subject;
  readonly kind: DecidedKind;
  readonly request: KubeObject;
  readonly explanation: Explanation;
}

async function judge(
  client: Client,
  subject: Subject,
  kind: DecidedKind,
  { propagation }: DecideOptions,
): Promise<RequestReview> {
  try {
    const request = await client.request<KubeObject>({
      method: 'GET',
      path: requestPath(kind, subject),
    });
    // Pass the request, so that the verdicts are about the version to decide.
    const init = { client, clock: Date.now, propagationSeconds: propagation, known: request };
    return { subject, kind, request, explanation: await explain(init, subject) };
  } catch (error) {
    throw await withNamespaceHint(error, subject, client);
  }
}

function textOf({ rules, notices = [], ...report }: DecidedRequest): string {
  const { object, namespace, outcome, dryRun } = report;
  const flag = namespace === undefined ? '' : ` -n ${namespace}`;
  const next =
    outcome === 'Approved' && !dryRun
      ? ['', `  next: countersign explain ${shellWord(object)}${flag}`]
      : [];
  return [decisionText(report), ...rulesText(rules), ...noticesText(notices), ...next, ''].join(
    '\n',
  );
}
