// SPDX-License-Identifier: Apache-2.0
import { findCondition } from '../api/request/conditions.ts';
import { isApproved, isFinished, type CertificateSigningRequest } from '../api/request/csr.ts';
import { SignerError, attempt } from '../errors.ts';
import { compilePolicy } from '../policy/compile-policy.ts';
import { review } from '../policy/review.ts';
import { validateRequest } from '../policy/validate.ts';
import { quote, shellWord } from '../quote.ts';
import { conditionMoment, reasonText } from './conditions.ts';
import type { Journey, TimelineEntry, RuleVerdict } from './explanation.ts';
import { describeLeaf } from './leaf.ts';
import type { VerdictReason } from '../policy/review.ts';
import {
  isOfAcme,
  signerText,
  whyUnserved,
  type SignerView,
  type ViewedSigner,
} from './signer-view.ts';

/** The journey of a CertificateSigningRequest. Pure. */
export function explainSigningRequest(csr: CertificateSigningRequest, view: SignerView): Journey {
  const made: TimelineEntry = {
    at: csr.metadata.creationTimestamp,
    what: `${quote(csr.spec.username ?? '')} asks for a certificate of ${csr.spec.signerName}`,
  };
  const decided = ['Approved', 'Denied', 'Failed'].flatMap((type) => {
    const found = findCondition(csr.status?.conditions, type);
    return found === undefined ? [] : [conditionMoment(found, `${type}: ${reasonText(found)}`)];
  });
  const timeline = [made, ...decided];
  if (isFinished(csr)) return finished(csr, timeline);
  const rules = rulesOf(csr, view);
  const base = { timeline, ...(rules.length === 0 ? {} : { rules }) };
  if (!isApproved(csr)) return { ...base, ...undecided(csr, view, rules) };
  const unserved = whyUnserved(view, 'signer') ?? withoutRequests(view);
  if (unserved !== undefined) return { ...base, ...unserved };
  const component = isOfAcme(view.signer) ? 'acme' : 'signer';
  const does = component === 'acme' ? 'acme makes an Order for it' : 'signer signs it';
  return {
    ...base,
    state: 'WaitsForComponent',
    summary: `it is approved, and ${does} within seconds`,
    todo: [
      `countersign check   # is ${component} running, may it sign?`,
      `kubectl -n countersign-system logs deployment/countersign-${component}`,
    ],
  };
}

/** A signer without spec.requests signs no CertificateSigningRequest, whoever approves it. */
function withoutRequests({
  signer,
}: SignerView): Pick<Journey, 'state' | 'summary' | 'todo'> | undefined {
  if (signer === undefined || isOfAcme(signer) || signer.spec.requests !== undefined) return;
  return {
    state: 'WaitsForRule',
    summary: hasNoRequests(signer),
    todo: ['add spec.requests to the signer, or ask for a certificate of another signer'],
  };
}

function hasNoRequests(signer: ViewedSigner): string {
  return `${signerText(signer)} has no spec.requests: it does not serve CertificateSigningRequests`;
}

function finished(csr: CertificateSigningRequest, timeline: readonly TimelineEntry[]): Journey {
  const { status, metadata } = csr;
  for (const state of ['Denied', 'Failed'] as const) {
    const found = findCondition(status?.conditions, state);
    if (found === undefined) continue;
    return {
      timeline,
      state,
      summary: reasonText(found),
      todo: ['this is final: correct what is named, and create a new request'],
    };
  }
  const pem = Buffer.from(status?.certificate ?? '', 'base64').toString();
  const { what, moments } = describeLeaf(pem);
  return {
    timeline: [...timeline, { what: `the certificate is issued: ${what}` }, ...moments],
    state: 'Issued',
    summary: `it has its certificate: ${what}`,
    todo: [
      `kubectl get ${shellWord(`csr/${metadata.name}`)} -o jsonpath='{.status.certificate}' | base64 -d`,
    ],
  };
}

/** What each rule says now. Empty where there are none, or the request cannot be read. */
function rulesOf(csr: CertificateSigningRequest, { signer }: SignerView): readonly RuleVerdict[] {
  if (signer?.spec.requests === undefined) return [];
  const found = attempt(() => {
    const policy = compilePolicy(signer.spec);
    const admitted = validateRequest({ csr, profile: policy.profile, reservedPrefixes: [] });
    if (admitted.kind === 'fail') {
      const { reason, message } = admitted;
      return [{ rule: reason, outcome: 'deny', message, nearest: false } as const];
    }
    return withNearest(review(policy, csr, admitted.request).reasons);
  });
  if (!(found instanceof SignerError)) return found;
  return [{ rule: 'rules', outcome: 'noOpinion', message: found.message, nearest: false }];
}

function undecided(
  csr: CertificateSigningRequest,
  view: SignerView,
  rules: readonly RuleVerdict[],
): Pick<Journey, 'state' | 'summary' | 'todo'> {
  const { signer } = view;
  if (signer === undefined) {
    const { summary, todo } = whyUnserved(view, 'approver') ?? { summary: '', todo: [] };
    return { state: 'WaitsForSigner', summary, todo };
  }
  const name = shellWord(csr.metadata.name, 'csr/');
  const byHand = [`kubectl certificate approve ${name}`, `kubectl certificate deny ${name}`];
  if (rules.some(({ outcome }) => outcome === 'approve' || outcome === 'deny')) {
    return {
      state: 'WaitsForComponent',
      summary: 'a rule decides it, and approver does so within seconds',
      todo: ['countersign check   # is approver running, may it approve?'],
    };
  }
  const nearest = rules.find((each) => each.nearest);
  if (nearest === undefined) {
    const why =
      signer.spec.requests === undefined
        ? hasNoRequests(signer)
        : 'no rule applies to it: it waits for a person';
    return { state: 'WaitsForApproval', summary: why, todo: byHand };
  }
  return {
    state: 'WaitsForApproval',
    summary: `no rule allows it; ${nearest.rule} is nearest: ${nearest.message}`,
    todo: [
      'change what the rule names, in the request or in the rule, or decide by hand:',
      ...byHand,
    ],
  };
}

const NOT_APPLYING = /^does not (?:apply|deny)/;

/** Parts that a rule does not allow are separated by `; ` (policy/review.ts). */
function lacks({ message }: VerdictReason): number {
  return NOT_APPLYING.test(message) ? Infinity : message.split('; ').length;
}

/** Marks the rule that lacks least: one whose `when` is false is nearer than none only where no other applies. */
function withNearest(reasons: readonly VerdictReason[]): readonly RuleVerdict[] {
  const open = reasons.filter(({ outcome }) => outcome === 'noOpinion');
  const least = Math.min(...open.map(lacks));
  const nearest = open.find((each) => lacks(each) === least && least !== Infinity);
  return reasons.map((each) => ({ ...each, nearest: each === nearest }));
}
