// SPDX-License-Identifier: Apache-2.0
import { findCondition } from '#api/request/conditions.ts';
import { isTerminal, type PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { readsPods } from '#api/signer/cluster-signer.ts';
import { evaluatePod } from '#requests/pcr-issuer/decide.ts';
import type { PodEvidence } from '#requests/pcr-issuer/evidence/evidence.ts';
import { attempt, type SignerError } from '#base/errors.ts';
import { compileProfile, type Profile } from '#ca/issuance/profile.ts';
import { quote } from '#base/quote.ts';
import { reasonOf } from '#requests/loop/error-outcome.ts';
import { conditionMoment, reasonText } from '../conditions.ts';
import type { Diagnosis, TimelineEntry } from '../explanation.ts';
import { describeLeaf } from '../leaf.ts';
import { afterRefusal } from './refused-pod.ts';
import { answeringComponent, signerText, unservedReason, type SignerView } from '../signer-view.ts';

/**
 * Explains a PodCertificateRequest. Pure.
 *
 * @param evidence - the pod and its Services, if the signer needs them, or the reason why the user
 *   may not read them
 */
export function explainPodRequest(
  request: PodCertificateRequest,
  view: SignerView,
  evidence?: PodEvidence | string,
): Diagnosis {
  const { spec, metadata } = request;
  const made: TimelineEntry = {
    at: metadata.creationTimestamp,
    what: `the kubelet of node ${quote(spec.nodeName)} requests a certificate of ${spec.signerName} for pod ${quote(spec.podName)}, ServiceAccount ${quote(spec.serviceAccountName)}`,
  };
  const component = answeringComponent(view.signer, 'pcr-issuer');
  if (isTerminal(request)) {
    const refusal = (): Refusal => afterRefusal(request, view, evidence);
    return ended(request, { made, component }, refusal);
  }
  const unserved = unservedReason(view, component);
  if (unserved !== undefined) return { timeline: [made], ...unserved };
  const { signer } = view;
  if (signer !== undefined && signer.spec.pods === undefined) {
    return {
      timeline: [made],
      state: 'WaitingForRule',
      summary: `${signerText(signer)} has no spec.pods: it does not serve pods`,
      remediation: ['add spec.pods.allow to the signer, or use another signer in the volume'],
    };
  }
  const unproven = whyUnproven(request, view, evidence);
  if (unproven !== undefined) return { timeline: [made], ...unproven };
  return {
    timeline: [made],
    state: 'WaitingForComponent',
    summary: answeredSoon(request, component, evidence),
    remediation: [
      `countersign check   # is ${component} running, may it sign?`,
      `kubectl -n countersign-system logs deployment/countersign-${component}`,
    ],
  };
}

function answeredSoon(
  { status }: PodCertificateRequest,
  component: string,
  evidence: PodEvidence | string | undefined,
): string {
  const [first] = status?.conditions ?? [];
  if (first !== undefined) return `it has the condition ${first.type}, which is not its end`;
  const soon = `${component} answers it within seconds`;
  return typeof evidence === 'string'
    ? `${soon}, unless its names cannot be proven, which could not be looked at: ${evidence}`
    : soon;
}

/** Returns why the names of the leaf are not proven now, by the code that decides. */
function whyUnproven(
  request: PodCertificateRequest,
  { signer }: SignerView,
  evidence: PodEvidence | string | undefined,
): Pick<Diagnosis, 'state' | 'summary' | 'remediation'> | undefined {
  if (signer === undefined || !readsPods(signer.spec) || typeof evidence !== 'object')
    return undefined;
  const error = attempt(() => errorOf(request, compileProfile(signer.spec), evidence));
  if (error === undefined) return undefined;
  const state = ofServices(error) ? 'WaitingForService' : 'WaitingForRule';
  const namespace = request.metadata.namespace ?? '';
  const remediation = ofServices(error)
    ? [
        `kubectl get services -n ${namespace} -o wide   # their selectors`,
        `kubectl get pod ${request.spec.podName} -n ${namespace} --show-labels`,
      ]
    : ['correct spec.pods of the signer, as the message says'];
  return { state, summary: `${reasonOf(error)}: ${error.message}`, remediation };
}

/**
 * Returns the error that keeps the request waiting.
 *
 * @throws SignerError of an expression
 */
function errorOf(
  request: PodCertificateRequest,
  profile: Profile,
  evidence: PodEvidence,
): SignerError | undefined {
  if (profile.pods === undefined) return undefined;
  const found = evaluatePod({ request, profile, reservedPrefixes: [], evidence }, profile.pods);
  return 'kind' in found && found.kind === 'wait' ? found.error : undefined;
}

/** Reports whether the pod or its Services need a fix, rather than the signer. */
function ofServices({ code }: SignerError): boolean {
  return code.startsWith('SERVICE') || code.startsWith('POD_');
}

type Refusal = Pick<Diagnosis, 'rules' | 'remediation'>;

/** The creation of a request, and the component that answers it. */
interface AnsweredRequest {
  readonly made: TimelineEntry;
  readonly component: string;
}

function ended(
  { status = {} }: PodCertificateRequest,
  answered: AnsweredRequest,
  refusal: () => Refusal,
): Diagnosis {
  const { made } = answered;
  const { conditions } = status;
  for (const state of ['Denied', 'Failed'] as const) {
    const found = findCondition(conditions, state);
    if (found === undefined) continue;
    const summary = reasonText(found);
    const timeline = [made, conditionMoment(found, `${state}: ${summary}`)];
    return { timeline, state, summary, ...refusal() };
  }
  return issued(status, answered);
}

function issued(
  status: NonNullable<PodCertificateRequest['status']>,
  { made, component }: AnsweredRequest,
): Diagnosis {
  const { certificateChain = '', beginRefreshAt: at } = status;
  const { what, moments } = describeLeaf(certificateChain);
  const found = findCondition(status.conditions, 'Issued');
  return {
    timeline: [
      made,
      ...(found === undefined
        ? []
        : [conditionMoment(found, `${component} issues the certificate`)]),
      ...(at === undefined ? [] : [{ at, what: 'the kubelet begins to renew it' }]),
      ...moments,
    ],
    state: 'Issued',
    summary: `it has its certificate: ${what}`,
    ...(at === undefined ? {} : { next: { what: 'the kubelet requests a new one', at } }),
    remediation: [],
  };
}
