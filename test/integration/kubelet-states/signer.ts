// SPDX-License-Identifier: Apache-2.0
/**
 * Answers of a signer to PodCertificateRequests, written by the test itself: the earliest refresh
 * that the API allows.
 */
import { randomBytes } from 'node:crypto';
import {
  MIN_LIFETIME_SECONDS,
  REFRESH_MARGIN_SECONDS,
  isTerminal,
  withDenied,
  withFailed,
  withIssued,
  type PodCertificateRequest,
} from '#api/request/pod-certificate-request.ts';
import { encodePem } from '#pki/der/pem.ts';
import { decodeRequest } from '#pki/x509/pkcs10.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { until } from '../../cluster/until.ts';
import { requestsOf } from '../../support/cluster/requests/pod-certificate-request.ts';
import { certificateDer } from '../../support/pki/certificate-der.ts';
import { int, seq, utcTime } from '../../support/pki/der.ts';
import { privateKey } from '../../support/pki/keys.ts';

export type Answer = 'Issued' | 'Denied' | 'Failed';

/**
 * The API server accepts a notBefore of up to 5 minutes ago (validation.go, timeNear); 20 s are for
 * this write.
 */
const BACKDATE_MS = 280_000;

/** Writes an answer to the status of a request, and returns the chain of an issued one. */
export async function answer(
  cluster: Cluster,
  request: PodCertificateRequest,
  as: Answer,
): Promise<string> {
  const now = Date.now();
  const answers: Readonly<Record<Answer, () => PodCertificateRequest>> = {
    Issued: () => issued(request, now),
    Denied: () => withDenied(request, { reason: 'NotAllowed', message: 'not for you' }, now),
    Failed: () => withFailed(request, { reason: 'Broken', message: 'it broke' }, now),
  };
  const answered = answers[as]();
  await cluster.kubectl(['replace', '--subresource=status', '-f', '-'], {
    input: JSON.stringify(answered),
  });
  return answered.status?.certificateChain ?? '';
}

function issued(request: PodCertificateRequest, now: number): PodCertificateRequest {
  const notBefore = Math.floor((now - BACKDATE_MS) / 1000) * 1000;
  const notAfter = notBefore + MIN_LIFETIME_SECONDS * 1000;
  const stub = Buffer.from(request.spec.stubPKCS10Request ?? '', 'base64');
  const leaf = certificateDer({
    key: privateKey('P-256', 'kubelet-states'),
    serial: int(0x01, ...randomBytes(8)),
    validity: seq(utcTime(utc(notBefore)), utcTime(utc(notAfter))),
    spki: decodeRequest(stub).publicKey.spki,
  });
  const chainPem = encodePem('CERTIFICATE', leaf);
  const beginRefreshAt = notBefore + REFRESH_MARGIN_SECONDS * 1000;
  return withIssued(request, { chainPem, notBefore, beginRefreshAt, notAfter }, now);
}

/** RFC 5280 §4.1.2.5.1: YYMMDDHHMMSSZ. */
function utc(at: number): string {
  return `${new Date(at).toISOString().replaceAll(/\D/g, '').slice(2, 14)}Z`;
}

/** The request of a pod that has no answer yet. */
export function pending(
  cluster: Cluster,
  namespace: string,
  pod: string,
  milliseconds = 120_000,
): Promise<PodCertificateRequest> {
  return until(`${namespace}/${pod} has a pending request`, milliseconds, async () => {
    const requests = await requestsOf(cluster, namespace, pod);
    return requests.find((each) => !isTerminal(each));
  });
}
