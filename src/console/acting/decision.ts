// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '#api/object/object.ts';
import { shellWord } from '#base/quote.ts';
import { approvalRefusal } from '#diagnose/explain/approval-refusal.ts';
import { explain } from '#diagnose/explain/explain.ts';
import { noticesText, rulesText } from '#diagnose/explain/text.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import {
  DECIDED_KINDS,
  decideRequest,
  decisionText,
  requestPath,
  type DecidedKind,
  type DecidedSubject,
  type DecisionReport,
} from '#operations/deciding/decide-request.ts';
import { requestFacts } from './request-facts.ts';
import { outdated, type ActionChoice, type ActionInit, type PlannedAction } from './action.ts';

const DECISIONS = {
  approve: { type: 'Approved', reason: 'CountersignApprove' },
  deny: { type: 'Denied', reason: 'CountersignDeny' },
} as const;

/** The verbs that decide a request. */
export type DecisionVerb = keyof typeof DECISIONS;

/** Reports whether a person can decide requests of this kind. */
function isDecided(kind: string): kind is keyof typeof DECIDED_KINDS {
  return Object.hasOwn(DECIDED_KINDS, kind);
}

/** A request with the verdicts of its rules, and the effect of the decision. */
interface DecisionPreview {
  readonly request: KubeObject;
  readonly report: DecisionReport;
  readonly lines: readonly string[];
}

/**
 * Plans a decision as `countersign approve --dry-run` does. The API server judges the person's
 * permissions.
 *
 * @returns undefined if the choice names no request
 * @throws KubeError of the API server
 */
export async function planDecision(
  init: ActionInit,
  verb: DecisionVerb,
  choice: ActionChoice,
): Promise<PlannedAction | undefined> {
  const [kindName = '', name = '', ...rest] = (choice.subject ?? '').split('/');
  if (!isDecided(kindName) || name === '' || rest.length > 0) return undefined;
  const kind: DecidedKind = DECIDED_KINDS[kindName];
  const subject = { kind: kindName, name, namespace: choice.in ?? '' };
  const seen = await judge(init, verb, [subject, kind], `countersign ${verb}`);
  const where = kind.isNamespaced ? ` -n ${shellWord(subject.namespace)}` : '';
  const object = `${kindName}/${name}`;
  const plan = {
    verb,
    title: `${verb === 'approve' ? 'Approve' : 'Deny'} ${object}`,
    command: `countersign ${verb} ${shellWord(object)}${where}`,
    lines: seen.lines,
    isReady: seen.report.outcome === DECISIONS[verb].type,
  };
  return {
    plan,
    run: async ({ message }) => {
      const text = message === '' ? `countersign ${verb}` : message;
      try {
        const now = await judge(init, verb, [subject, kind], text);
        if (now.request.metadata.uid !== seen.request.metadata.uid)
          return outdated('another request has this name now');
        if (now.lines.join('\n') !== seen.lines.join('\n'))
          return outdated('the request, or the verdicts of its rules, have changed');
        const { client, clock } = init;
        const decision = { ...DECISIONS[verb], message: text, dryRun: false, client, clock };
        const report = await decideRequest(decision, subject, kind, now.request);
        return { outcome: 'done', lines: [decisionText(report)] };
      } catch (error) {
        if (!isChanged(error)) throw error;
        return outdated('the request was changed or deleted meanwhile');
      }
    },
  };
}

function isChanged(error: unknown): boolean {
  return error instanceof KubeError && (error.code === 'KUBE_CONFLICT' || error.status === 404);
}

async function judge(
  { client, clock, propagationSeconds }: ActionInit,
  verb: DecisionVerb,
  [subject, kind]: readonly [DecidedSubject, DecidedKind],
  message: string,
): Promise<DecisionPreview> {
  const path = requestPath(kind, subject);
  const request = await client.request<KubeObject>({ method: 'GET', path });
  const init = { client, clock, propagationSeconds, known: request };
  const explanation = await explain(init, subject);
  const { rules = [], notices = [] } = explanation;
  const isApproval = verb === 'approve';
  const refusal = isApproval ? approvalRefusal(explanation) : undefined;
  const decision = { ...DECISIONS[verb], message, dryRun: true, client, clock, refusal };
  const report = await decideRequest(decision, subject, kind, request);
  const lines = [
    decisionText(report),
    ...requestFacts(request),
    ...rulesText(rules),
    ...(isApproval ? noticesText(notices) : []),
  ];
  return { request, report, lines: lines.filter((line) => line !== '') };
}
