// SPDX-License-Identifier: Apache-2.0
import { findCondition } from '../api/request/conditions.ts';
import { isTerminal, type PodCertificateRequest } from '../api/request/pod-certificate-request.ts';
import { quote } from '../quote.ts';
import { conditionMoment, reasonText } from './conditions.ts';
import type { Journey, TimelineEntry } from './explanation.ts';
import { describeLeaf } from './leaf.ts';
import { signerText, whyUnserved, type SignerView } from './signer-view.ts';

/** The journey of a PodCertificateRequest. Pure. */
export function explainPodRequest(request: PodCertificateRequest, view: SignerView): Journey {
  const { spec, status, metadata } = request;
  const made: TimelineEntry = {
    at: metadata.creationTimestamp,
    what: `the kubelet of node ${quote(spec.nodeName)} asks for a certificate of ${spec.signerName} for pod ${quote(spec.podName)}, ServiceAccount ${quote(spec.serviceAccountName)}`,
  };
  if (isTerminal(request)) return ended(request, made);
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
  const conditions = status?.conditions ?? [];
  return {
    timeline: [made],
    state: 'WaitsForComponent',
    summary:
      conditions.length > 0
        ? `it has the condition ${conditions[0]?.type ?? ''}, which is not its end`
        : 'pcr-issuer answers it within seconds',
    todo: [
      'countersign check   # is pcr-issuer running, may it sign?',
      'kubectl -n countersign-system logs deployment/countersign-pcr-issuer',
    ],
  };
}

function ended({ status = {} }: PodCertificateRequest, made: TimelineEntry): Journey {
  const { conditions } = status;
  for (const state of ['Denied', 'Failed'] as const) {
    const found = findCondition(conditions, state);
    if (found === undefined) continue;
    const summary = reasonText(found);
    return {
      timeline: [made, conditionMoment(found, `${state}: ${summary}`)],
      state,
      summary,
      todo: [
        'the kubelet asks again with a back-off; correct what is named, in the pod or in spec.pods of the signer',
      ],
    };
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
