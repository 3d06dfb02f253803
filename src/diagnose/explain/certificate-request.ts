// SPDX-License-Identifier: Apache-2.0
import {
  isApproved,
  isDenied,
  isFinished,
  type CertificateRequest,
} from '#api/request/certificate-request.ts';
import { namedIssuer } from '#api/acme/named-issuer.ts';
import { findCondition, type Condition } from '#api/request/conditions.ts';
import {
  RULES_ONLY,
  decide,
  type CertificateRequestPlan,
} from '#requests/certificate-request/decide.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { compileProfile } from '#ca/issuance/profile.ts';
import { compileIssuerPolicy } from '#ca/policy/compile-policy.ts';
import { wouldFail } from '#ca/policy/denial-messages.ts';
import type { RequestRefusal } from '#ca/policy/violations/violation.ts';
import { quote, shellWord } from '#base/quote.ts';
import { conditionMoments, reasonText } from './conditions.ts';
import {
  withoutOutlook,
  type Diagnosis,
  type TimelineEntry,
  type Unapprovable,
} from './explanation.ts';
import { describeLeaf } from './leaf.ts';
import {
  answeringComponent,
  hopelessSigner,
  signerText,
  unservedReason,
  type SignerView,
  type ViewedSigner,
} from './signer-view.ts';

/** Explains a CertificateRequest of cert-manager. Pure. */
export function explainCertificateRequest(
  request: CertificateRequest,
  view: SignerView,
): Diagnosis {
  const timeline = timelineOf(request);
  const ready = findCondition(request.status?.conditions, 'Ready');
  if (isFinished(request)) return finished(request, timeline);
  if (isDenied(request)) {
    const remediation = ['this is final: cert-manager creates a new request after its back-off'];
    return { timeline, state: 'Denied', summary: 'an approver denied it', remediation };
  }
  if (!isApproved(request)) return { timeline, ...unapproved(request, view) };
  if (!isOfCountersign(request)) return { timeline, ...ofAnotherIssuer(request) };
  const unserved = unservedReason(view, 'certificate-request') ?? withoutCertificateRequests(view);
  if (unserved !== undefined) return { timeline, ...withoutOutlook(unserved) };
  return { timeline, ...byRules(request, view, causeOf(ready)) };
}

/** Explains a request that is neither approved nor denied. */
function unapproved(request: CertificateRequest, view: SignerView): Omit<Diagnosis, 'timeline'> {
  const hopeless = isOfCountersign(request) ? unanswerable(view) : undefined;
  if (hopeless !== undefined) return hopeless;
  const state = 'WaitingForApproval';
  const refusal = failureOf(request, view);
  if (refusal !== undefined) {
    const { message, faults } = refusal;
    return {
      state,
      wouldFail: faults,
      summary: wouldFail(message),
      remediation: ['correct the Certificate: cert-manager then creates another request'],
    };
  }
  const { name, namespace = '' } = request.metadata;
  return {
    state,
    summary: 'no approver has approved it: cert-manager, approver-policy, or a person does',
    remediation: [`cmctl approve ${name} -n ${namespace}`],
  };
}

/** Explains an approved request that another project answers. */
function ofAnotherIssuer({ metadata, spec }: CertificateRequest): Omit<Diagnosis, 'timeline'> {
  const { group, kind, name } = namedIssuer(spec.issuerRef);
  const object = shellWord(metadata.name);
  return {
    state: 'WaitingForComponent',
    summary: `it is approved, and Countersign does not answer it: its issuer is ${kind} ${name} of ${group}`,
    remediation: [`kubectl describe certificaterequest ${object} -n ${metadata.namespace ?? ''}`],
  };
}

/** Reports whether the request names a signer of Countersign. Others have other approvers. */
function isOfCountersign({ spec }: CertificateRequest): boolean {
  return namedIssuer(spec.issuerRef).isOfCountersign;
}

/** Returns why no component answers a request for a signer of Countersign, approved or not. */
function unanswerable(view: SignerView): Unapprovable | undefined {
  return hopelessSigner(view, compileRules) ?? withoutCertificateRequests(view);
}

/** Returns the diagnosis of a request if its signer answers no CertificateRequest. */
function withoutCertificateRequests({ signer }: SignerView): Unapprovable | undefined {
  if (signer === undefined || signer.spec.certificateRequests !== undefined) return undefined;
  const isExternal = signer.kind === 'ExternalClusterSigner';
  const lack = isExternal ? '' : ' has no spec.certificateRequests: it';
  const summary = `${signerText(signer)}${lack} does not serve CertificateRequests, not even approved ones`;
  const fix = isExternal
    ? 'create a request with a ClusterSigner, Signer, AcmeClusterSigner or AcmeSigner in spec.issuerRef'
    : 'add spec.certificateRequests.rules to the signer';
  return {
    state: 'WaitingForRule',
    summary,
    noApprovalHelps: `${summary}; ${fix}`,
    remediation: [fix],
  };
}

/** @throws SignerError for a rule that does not compile */
function compileRules(spec: ViewedSigner['spec']): unknown {
  return spec.certificateRequests === undefined ? undefined : compileIssuerPolicy(spec);
}

/** Returns the cause in Ready, unless rules caused the wait: the caller evaluates these again. */
function causeOf(ready: Condition | undefined): string | undefined {
  const message = ready?.message;
  return /^(?:NoRuleMatched|EvaluationError):/.test(message ?? '') ? undefined : message;
}

function timelineOf({ metadata, spec, status }: CertificateRequest): readonly TimelineEntry[] {
  const { username = '' } = spec;
  const { kind, name } = namedIssuer(spec.issuerRef);
  const made: TimelineEntry = {
    at: metadata.creationTimestamp,
    what: `${quote(username)} requests a certificate from ${kind} ${name}`,
  };
  return [made, ...conditionMoments(status?.conditions)];
}

function finished(request: CertificateRequest, timeline: readonly TimelineEntry[]): Diagnosis {
  const { certificate } = request.status ?? {};
  if (certificate === undefined || certificate === '') {
    const ready = findCondition(request.status?.conditions, 'Ready');
    const summary = ready === undefined ? 'Failed' : reasonText(ready);
    const remediation = ['this is final: cert-manager creates a new request after its back-off'];
    return { timeline, state: 'Failed', summary, remediation };
  }
  const { what, moments } = describeLeaf(Buffer.from(certificate, 'base64').toString());
  return {
    timeline: [...timeline, ...moments],
    state: 'Issued',
    summary: `it has its certificate: ${what}`,
    remediation: [],
  };
}

/** Returns why the request would fail for good, even if an approver approved it. */
function failureOf(
  request: CertificateRequest,
  { signer }: SignerView,
): RequestRefusal | undefined {
  if (signer?.spec.certificateRequests === undefined) return undefined;
  const conditions = [{ type: 'Approved', status: 'True' } as const];
  const approved = { ...request, status: { ...request.status, conditions } };
  const plan = attempt(() => planOf(approved, signer));
  return plan instanceof SignerError || plan.kind !== 'fail' ? undefined : plan;
}

function planOf(request: CertificateRequest, { spec }: ViewedSigner): CertificateRequestPlan {
  return decide({
    request,
    profile: compileProfile(spec),
    policy: compileIssuerPolicy(spec),
    authority: RULES_ONLY,
    reservedPrefixes: [],
    now: 0,
  });
}

function byRules(
  request: CertificateRequest,
  { signer }: SignerView,
  latestWarning: string | undefined,
): Pick<Diagnosis, 'state' | 'summary' | 'remediation'> {
  if (signer === undefined) throw new TypeError('a request that is served has a signer');
  const plan = attempt(() => planOf(request, signer));
  if (plan instanceof SignerError) {
    return {
      state: 'WaitingForRule',
      summary: plan.message,
      remediation: ['correct the expression'],
    };
  }
  if (plan.kind === 'undecided') {
    return {
      state: 'WaitingForRule',
      summary: `it is approved, and no rule of ${signerText(signer)} allows it: ${plan.message}`,
      remediation: [
        'change what is named, in the Certificate or in the rule: it is looked at again then',
      ],
    };
  }
  const component = answeringComponent(signer, 'certificate-request');
  return {
    state: 'WaitingForComponent',
    summary: latestWarning ?? `${component} answers it within seconds`,
    remediation: [`countersign check   # is ${component} running, may it sign?`],
  };
}
