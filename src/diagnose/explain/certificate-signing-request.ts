// SPDX-License-Identifier: Apache-2.0
import { findCondition } from '#api/request/conditions.ts';
import { isApproved, isFinished, type CertificateSigningRequest } from '#api/request/csr.ts';
import { servesSigningRequests } from '#api/signer/cluster-signer.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { compilePolicy, type RequestPolicy } from '#ca/policy/compile-policy.ts';
import { wouldFail } from '#ca/policy/denial-messages.ts';
import { compileIntermediates, judgeIntermediate } from '#ca/policy/intermediates.ts';
import { review } from '#ca/policy/review.ts';
import { validateIntermediate } from '#ca/policy/validate-intermediate.ts';
import { validateRequest, type ValidatedRequest } from '#ca/policy/validate.ts';
import type { RequestRefusal } from '#ca/policy/violations/violation.ts';
import { quote, shellWord } from '#base/quote.ts';
import { certificateNotices } from '../certificate-outlook.ts';
import { compileFailureJudge } from '../request-refusals.ts';
import { isApprovedByPerson } from './absent-signer.ts';
import { conditionMoment, reasonText } from './conditions.ts';
import {
  withoutOutlook,
  type Diagnosis,
  type RuleVerdict,
  type TimelineEntry,
  type Unapprovable,
} from './explanation.ts';
import { describeLeaf } from './leaf.ts';
import type { VerdictReason } from '#ca/policy/review.ts';
import {
  answeringComponent,
  hopelessSigner,
  isOfAcme,
  signerText,
  unservedReason,
  type SignerView,
  type ViewedSigner,
} from './signer-view.ts';

/** Explains a CertificateSigningRequest. Pure. */
export function explainSigningRequest(csr: CertificateSigningRequest, view: SignerView): Diagnosis {
  const made: TimelineEntry = {
    at: csr.metadata.creationTimestamp,
    what: `${quote(csr.spec.username ?? '')} requests a certificate of ${csr.spec.signerName}`,
  };
  const decided = ['Approved', 'Denied', 'Failed'].flatMap((type) => {
    const found = findCondition(csr.status?.conditions, type);
    return found === undefined ? [] : [conditionMoment(found, `${type}: ${reasonText(found)}`)];
  });
  const timeline = [made, ...decided];
  if (isFinished(csr)) return finished(csr, timeline);
  const unanswered = isApproved(csr) ? undefined : unanswerable(view);
  if (unanswered !== undefined) return { timeline, ...unanswered, ...byPerson(csr, view) };
  const rules = rulesOf(csr, view);
  const base = { timeline, ...(rules.length === 0 ? {} : { rules }) };
  if (!isApproved(csr)) return { ...base, ...unapproved(csr, view, rules) };
  const component = answeringComponent(view.signer, 'signer');
  const unserved = withoutRequests(view) ?? unservedReason(view, component);
  if (unserved !== undefined) return { ...base, ...withoutOutlook(unserved) };
  const does = component === 'acme' ? 'acme makes an Order for it' : `${component} answers it`;
  return {
    ...base,
    state: 'WaitingForComponent',
    summary: `it is approved, and ${does} within seconds`,
    remediation: [
      `countersign check   # is ${component} running, may it sign?`,
      `kubectl -n countersign-system logs deployment/countersign-${component}`,
    ],
  };
}

/** Returns the state of a request that Kubernetes signs once a person has approved it. */
function byPerson(
  { metadata }: CertificateSigningRequest,
  { signerName }: SignerView,
): Partial<Pick<Diagnosis, 'state' | 'remediation'>> {
  if (!isApprovedByPerson(signerName)) return {};
  return { state: 'WaitingForApproval', remediation: decisionsOf(metadata.name) };
}

/** Returns the commands that decide a request. */
function decisionsOf(name: string): readonly [approve: string, deny: string] {
  const word = shellWord(name, 'csr/');
  return [`kubectl certificate approve ${word}`, `kubectl certificate deny ${word}`];
}

/** Explains a request that is neither approved nor denied, and whose signer has a valid spec. */
function unapproved(
  csr: CertificateSigningRequest,
  view: SignerView,
  rules: readonly RuleVerdict[],
): Omit<Diagnosis, 'timeline'> {
  const refusal = failureOf(csr, view);
  if (refusal !== undefined) {
    const { message, faults } = refusal;
    return { wouldFail: faults, ...hopeless(csr, view, message) };
  }
  const notices = view.signer === undefined ? [] : certificateNotices(csr, view.signer.spec);
  const diagnosis = undecided(csr, view, rules);
  return notices.length === 0 ? diagnosis : { ...diagnosis, notices };
}

/**
 * Returns the diagnosis of a request if the signer has no spec.requests: it signs no
 * CertificateSigningRequest, even an approved one.
 */
function withoutRequests({ signer }: SignerView): Unapprovable | undefined {
  if (signer === undefined || isOfAcme(signer) || servesSigningRequests(signer.spec)) return;
  const summary = `${signerText(signer)} has no spec.requests: it does not serve CertificateSigningRequests, not even approved ones`;
  const fix = 'add spec.requests to the signer, or request a certificate of another signer';
  return {
    state: 'WaitingForRule',
    summary,
    noApprovalHelps: `${summary}; ${fix}`,
    remediation: [fix],
  };
}

function finished(csr: CertificateSigningRequest, timeline: readonly TimelineEntry[]): Diagnosis {
  const { status, metadata } = csr;
  for (const state of ['Denied', 'Failed'] as const) {
    const found = findCondition(status?.conditions, state);
    if (found === undefined) continue;
    return {
      timeline,
      state,
      summary: reasonText(found),
      remediation: ['this is final: correct what is named, and create a new request'],
    };
  }
  const pem = Buffer.from(status?.certificate ?? '', 'base64').toString();
  const { what, moments } = describeLeaf(pem);
  return {
    timeline: [...timeline, { what: `the certificate is issued: ${what}` }, ...moments],
    state: 'Issued',
    summary: `it has its certificate: ${what}`,
    remediation: [
      `kubectl get ${shellWord(`csr/${metadata.name}`)} -o jsonpath='{.status.certificate}' | base64 -d`,
    ],
  };
}

/**
 * Returns why no component answers a CertificateSigningRequest, approved or not: its signer does
 * not exist, has an invalid spec, or serves no such requests.
 */
export function unanswerable(view: SignerView): Unapprovable | undefined {
  return hopelessSigner(view, compileRules) ?? withoutRequests(view);
}

/** @throws SignerError for a rule that does not compile */
function compileRules(spec: ViewedSigner['spec']): unknown {
  if (!servesSigningRequests(spec)) return undefined;
  return spec.intermediates === undefined ? compilePolicy(spec) : compileIntermediates(spec);
}

/** Returns the current verdict of each rule. Empty if there are no rules. */
function rulesOf(csr: CertificateSigningRequest, { signer }: SignerView): readonly RuleVerdict[] {
  if (signer === undefined || !servesSigningRequests(signer.spec)) return [];
  const found = attempt(() => {
    if (signer.spec.intermediates !== undefined) return [intermediateVerdict(csr, signer)];
    const policy = compilePolicy(signer.spec);
    const admitted = validated(csr, policy);
    if (admitted.kind === 'fail') {
      const { reason, message } = admitted;
      return [{ rule: reason, outcome: 'deny', message, nearest: false } as const];
    }
    return withNearest(review(policy, csr, admitted.request).reasons);
  });
  if (!(found instanceof SignerError)) return found;
  return [{ rule: 'rules', outcome: 'noOpinion', message: found.message, nearest: false }];
}

function validated(csr: CertificateSigningRequest, policy: RequestPolicy): ValidatedRequest {
  const { profile, rules } = policy;
  return validateRequest({ csr, profile, rules, reservedPrefixes: [] });
}

/** Returns why the signer would fail the request for good, even if a person approved it. */
function failureOf(
  csr: CertificateSigningRequest,
  { signer }: SignerView,
): RequestRefusal | undefined {
  // Another project may serve the signer name.
  return signer === undefined ? undefined : compileFailureJudge(signer.spec)(csr);
}

/** Returns the diagnosis of an undecided request that can never get a certificate. */
function hopeless(
  { metadata }: CertificateSigningRequest,
  view: SignerView,
  message: string,
): Pick<Diagnosis, 'state' | 'summary' | 'remediation'> {
  const { signer } = view;
  const summary = wouldFail(message);
  const { requests, intermediates } = signer?.spec ?? {};
  const decides =
    intermediates !== undefined ||
    (requests?.rules ?? []).length > 0 ||
    (requests?.deny ?? []).length > 0;
  if (decides) {
    return {
      state: 'WaitingForComponent',
      summary: `${summary}; approver denies it within seconds`,
      remediation: [
        'countersign check   # is approver running, may it approve?',
        'create a corrected request',
      ],
    };
  }
  return {
    state: 'WaitingForApproval',
    summary,
    remediation: [
      'create a corrected request, and close this one:',
      `kubectl certificate deny ${shellWord(metadata.name, 'csr/')}`,
    ],
  };
}

/** Returns the current verdict of the rules for the CAs of other clusters. */
function intermediateVerdict(csr: CertificateSigningRequest, { spec }: ViewedSigner): RuleVerdict {
  const policy = compileIntermediates(spec);
  const { keyTypes } = policy;
  const validated = validateIntermediate({ csr, keyTypes, reservedPrefixes: [] });
  if (validated.kind === 'fail') {
    const { reason: rule, message } = validated;
    return { rule, outcome: 'deny', message, nearest: false };
  }
  const verdict = judgeIntermediate(policy, csr, validated.asked);
  if (verdict.outcome === 'unknown') throw verdict.error;
  if (verdict.outcome === 'deny') {
    return { rule: 'rules', outcome: 'deny', message: verdict.message, nearest: false };
  }
  const { rule, names } = verdict;
  const message = `allows a CA of trust domain ${names.trustDomain}`;
  return { rule, outcome: 'approve', message, nearest: false };
}

function undecided(
  csr: CertificateSigningRequest,
  view: SignerView,
  rules: readonly RuleVerdict[],
): Pick<Diagnosis, 'state' | 'summary' | 'remediation'> {
  const [approve, deny] = decisionsOf(csr.metadata.name);
  if (rules.some(({ outcome }) => outcome === 'approve' || outcome === 'deny')) {
    return {
      state: 'WaitingForComponent',
      summary: 'a rule decides it, and approver does so within seconds',
      remediation: ['countersign check   # is approver running, may it approve?'],
    };
  }
  const state = 'WaitingForApproval';
  const nearest = rules.find((each) => each.nearest);
  const afterwards = unservedReason(view, answeringComponent(view.signer, 'signer'));
  const rest = afterwards === undefined ? '' : `; and ${afterwards.summary}`;
  const mend = afterwards?.remediation ?? [];
  if (nearest === undefined) {
    const summary = `no rule applies to it: it waits for a person${rest}`;
    return { state, summary, remediation: [approve, deny, ...mend] };
  }
  return {
    state,
    summary: `no rule allows it; ${nearest.rule} is nearest: ${nearest.message}${rest}`,
    remediation: [
      'change what the rule names, in the request or in the rule, or decide by hand:',
      approve,
      deny,
      ...mend,
    ],
  };
}

const NOT_APPLYING = /^does not (?:apply|deny)/;

/**
 * Counts the parts of a request that a rule does not allow. Semicolons separate them in the message
 * (ca/policy/review.ts).
 */
function lacks({ message }: VerdictReason): number {
  return NOT_APPLYING.test(message) ? Infinity : message.split('; ').length;
}

/**
 * Marks the nearest rule: the one that rejects the fewest parts of the request. A rule whose `when`
 * is false is never the nearest.
 */
function withNearest(reasons: readonly VerdictReason[]): readonly RuleVerdict[] {
  const open = reasons.filter(({ outcome }) => outcome === 'noOpinion');
  const least = Math.min(...open.map(lacks));
  const nearest = open.find((each) => lacks(each) === least && least !== Infinity);
  return reasons.map((each) => ({ ...each, nearest: each === nearest }));
}
