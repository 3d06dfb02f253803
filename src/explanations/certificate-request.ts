// SPDX-License-Identifier: Apache-2.0
import {
  isApproved,
  isDenied,
  isFinished,
  type CertificateRequest,
} from '../api/request/certificate-request.ts';
import { findCondition } from '../api/request/conditions.ts';
import { RULES_ONLY, decide } from '../controllers/certificate-request/decide.ts';
import { SignerError, attempt } from '../errors.ts';
import { compileProfile } from '../issuance/profile.ts';
import { compileCertificateRequestPolicy } from '../policy/compile-policy.ts';
import { quote } from '../quote.ts';
import { conditionMoments, reasonText } from './conditions.ts';
import type { Journey, TimelineEntry } from './explanation.ts';
import { describeLeaf } from './leaf.ts';
import { isOfAcme, signerText, whyUnserved, type SignerView } from './signer-view.ts';

/** The journey of a CertificateRequest of cert-manager. Pure. */
export function explainCertificateRequest(request: CertificateRequest, view: SignerView): Journey {
  const timeline = timelineOf(request);
  const ready = findCondition(request.status?.conditions, 'Ready');
  if (isFinished(request)) return finished(request, timeline);
  if (isDenied(request)) {
    const todo = ['this is final: cert-manager creates a new request after its back-off'];
    return { timeline, state: 'Denied', summary: 'an approver denied it', todo };
  }
  if (!isApproved(request)) {
    return {
      timeline,
      state: 'WaitsForApproval',
      summary: 'no approver has approved it: cert-manager, approver-policy, or a person does',
      todo: [`cmctl approve ${request.metadata.name} -n ${request.metadata.namespace ?? ''}`],
    };
  }
  const unserved = whyUnserved(view, 'certificate-request');
  if (unserved !== undefined) return { timeline, ...unserved };
  return { timeline, ...byRules(request, view, ready?.message) };
}

function timelineOf({ metadata, spec, status }: CertificateRequest): readonly TimelineEntry[] {
  const { issuerRef, username = '' } = spec;
  const made: TimelineEntry = {
    at: metadata.creationTimestamp,
    what: `${quote(username)} asks ${issuerRef.kind ?? 'Issuer'} ${issuerRef.name} for a certificate`,
  };
  return [made, ...conditionMoments(status?.conditions)];
}

function finished(request: CertificateRequest, timeline: readonly TimelineEntry[]): Journey {
  const { certificate } = request.status ?? {};
  if (certificate === undefined || certificate === '') {
    const ready = findCondition(request.status?.conditions, 'Ready');
    const summary = ready === undefined ? 'Failed' : reasonText(ready);
    const todo = ['this is final: cert-manager creates a new request after its back-off'];
    return { timeline, state: 'Failed', summary, todo };
  }
  const { what, moments } = describeLeaf(Buffer.from(certificate, 'base64').toString());
  return {
    timeline: [...timeline, ...moments],
    state: 'Issued',
    summary: `it has its certificate: ${what}`,
    todo: [],
  };
}

function byRules(
  request: CertificateRequest,
  { signer }: SignerView,
  said: string | undefined,
): Pick<Journey, 'state' | 'summary' | 'todo'> {
  if (signer === undefined) throw new TypeError('a request that is served has a signer');
  if (signer.spec.certificateRequests === undefined) {
    return {
      state: 'WaitsForRule',
      summary: `${signerText(signer)} has no spec.certificateRequests: it does not serve CertificateRequests`,
      todo: ['add spec.certificateRequests.rules to the signer'],
    };
  }
  const plan = attempt(() =>
    decide({
      request,
      profile: compileProfile(signer.spec),
      policy: compileCertificateRequestPolicy(signer.spec),
      authority: RULES_ONLY,
      reservedPrefixes: [],
      now: 0,
    }),
  );
  if (plan instanceof SignerError) {
    return { state: 'WaitsForRule', summary: plan.message, todo: ['correct the expression'] };
  }
  if (plan.kind === 'undecided') {
    return {
      state: 'WaitsForRule',
      summary: `it is approved, and no rule of ${signerText(signer)} allows it: ${plan.message}`,
      todo: ['change what is named, in the Certificate or in the rule: it is looked at again then'],
    };
  }
  const component = isOfAcme(signer) ? 'acme' : 'certificate-request';
  return {
    state: 'WaitsForComponent',
    summary: said ?? `${component} answers it within seconds`,
    todo: [`countersign check   # is ${component} running, may it sign?`],
  };
}
