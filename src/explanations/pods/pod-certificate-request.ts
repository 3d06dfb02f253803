// SPDX-License-Identifier: Apache-2.0
import { findCondition } from '../../api/request/conditions.ts';
import {
  isTerminal,
  type PodCertificateRequest,
} from '../../api/request/pod-certificate-request.ts';
import { readsPods } from '../../api/signer/cluster-signer.ts';
import { evaluatePod } from '../../controllers/pcr-issuer/decide.ts';
import type { PodEvidence } from '../../controllers/pcr-issuer/evidence/evidence.ts';
import { attempt, type SignerError } from '../../errors.ts';
import { compileProfile, type Profile } from '../../issuance/profile.ts';
import { quote } from '../../quote.ts';
import { reasonOf } from '../../runtime/requests/error-outcome.ts';
import { conditionMoment, reasonText } from '../conditions.ts';
import type { Journey, TimelineEntry } from '../explanation.ts';
import { describeLeaf } from '../leaf.ts';
import { afterRefusal } from './refused-pod.ts';
import { signerText, whyUnserved, type SignerView } from '../signer-view.ts';

/**
 * The journey of a PodCertificateRequest. Pure.
 *
 * @param evidence - what the user may read of the pod and its Services, where the signer asks for it; a text: why not
 */
export function explainPodRequest(
  request: PodCertificateRequest,
  view: SignerView,
  evidence?: PodEvidence | string,
): Journey {
  const { spec, metadata } = request;
  const made: TimelineEntry = {
    at: metadata.creationTimestamp,
    what: `the kubelet of node ${quote(spec.nodeName)} asks for a certificate of ${spec.signerName} for pod ${quote(spec.podName)}, ServiceAccount ${quote(spec.serviceAccountName)}`,
  };
  if (isTerminal(request)) return ended(request, made, () => afterRefusal(request, view, evidence));
  const unserved = whyUnserved(view, 'pcr-issuer');
  if (unserved !== undefined) return { timeline: [made], ...unserved };
  const { signer } = view;
  if (signer !== undefined && signer.spec.pods === undefined) {
    return {
      timeline: [made],
      state: 'WaitsForRule',
      summary: `${signerText(signer)} has no spec.pods: it does not serve pods`,
      todo: ['add spec.pods.allow to the signer, or use another signer in the volume'],
    };
  }
  const unproven = whyUnproven(request, view, evidence);
  if (unproven !== undefined) return { timeline: [made], ...unproven };
  return {
    timeline: [made],
    state: 'WaitsForComponent',
    summary: answeredSoon(request, evidence),
    todo: [
      'countersign check   # is pcr-issuer running, may it sign?',
      'kubectl -n countersign-system logs deployment/countersign-pcr-issuer',
    ],
  };
}

function answeredSoon(
  { status }: PodCertificateRequest,
  evidence: PodEvidence | string | undefined,
): string {
  const [first] = status?.conditions ?? [];
  if (first !== undefined) return `it has the condition ${first.type}, which is not its end`;
  const soon = 'pcr-issuer answers it within seconds';
  return typeof evidence === 'string'
    ? `${soon}, unless its names cannot be proven, which could not be looked at: ${evidence}`
    : soon;
}

/** What the names of the leaf lack now, computed by the code that decides. */
function whyUnproven(
  request: PodCertificateRequest,
  { signer }: SignerView,
  evidence: PodEvidence | string | undefined,
): Pick<Journey, 'state' | 'summary' | 'todo'> | undefined {
  if (signer === undefined || !readsPods(signer.spec) || typeof evidence !== 'object')
    return undefined;
  const error = attempt(() => errorOf(request, compileProfile(signer.spec), evidence));
  if (error === undefined) return undefined;
  const state = ofServices(error) ? 'WaitsForService' : 'WaitsForRule';
  const namespace = request.metadata.namespace ?? '';
  const todo = ofServices(error)
    ? [
        `kubectl get services -n ${namespace} -o wide   # their selectors`,
        `kubectl get pod ${request.spec.podName} -n ${namespace} --show-labels`,
      ]
    : ['correct spec.pods of the signer, as the message says'];
  return { state, summary: `${reasonOf(error)}: ${error.message}`, todo };
}

/** What keeps it waiting. @throws SignerError of an expression */
function errorOf(
  request: PodCertificateRequest,
  profile: Profile,
  evidence: PodEvidence,
): SignerError | undefined {
  if (profile.pods === undefined) return undefined;
  const found = evaluatePod({ request, profile, reservedPrefixes: [], evidence }, profile.pods);
  return 'kind' in found && found.kind === 'wait' ? found.error : undefined;
}

/** It waits for the pod or for Services, and not for whoever writes the signer. */
function ofServices({ code }: SignerError): boolean {
  return code.startsWith('SERVICE') || code.startsWith('POD_');
}

function ended(
  { status = {} }: PodCertificateRequest,
  made: TimelineEntry,
  refusal: () => Pick<Journey, 'rules' | 'todo'>,
): Journey {
  const { conditions } = status;
  for (const state of ['Denied', 'Failed'] as const) {
    const found = findCondition(conditions, state);
    if (found === undefined) continue;
    const summary = reasonText(found);
    const timeline = [made, conditionMoment(found, `${state}: ${summary}`)];
    return { timeline, state, summary, ...refusal() };
  }
  return issued(status, made);
}

function issued(
  status: NonNullable<PodCertificateRequest['status']>,
  made: TimelineEntry,
): Journey {
  const { certificateChain = '', beginRefreshAt: at } = status;
  const { what, moments } = describeLeaf(certificateChain);
  const found = findCondition(status.conditions, 'Issued');
  return {
    timeline: [
      made,
      ...(found === undefined ? [] : [conditionMoment(found, 'pcr-issuer issues the certificate')]),
      ...(at === undefined ? [] : [{ at, what: 'the kubelet begins to renew it' }]),
      ...moments,
    ],
    state: 'Issued',
    summary: `it has its certificate: ${what}`,
    ...(at === undefined ? {} : { next: { what: 'the kubelet asks for a new one', at } }),
    todo: [],
  };
}
