// SPDX-License-Identifier: Apache-2.0
import {
  CERTIFICATE_REQUEST_RESOURCE,
  type CertificateRequest,
} from '#api/request/certificate-request.ts';
import {
  CSR_RESOURCE,
  isApproved,
  isFinished,
  type CertificateSigningRequest,
} from '#api/request/csr.ts';
import { certificateNotices } from '#diagnose/certificate-outlook.ts';
import { approvalRefusal } from '#diagnose/explain/approval-refusal.ts';
import { explainCertificateRequest } from '#diagnose/explain/certificate-request.ts';
import { explainSigningRequest } from '#diagnose/explain/certificate-signing-request.ts';
import type { ApprovalOutlook, Diagnosis } from '#diagnose/explain/explanation.ts';
import type { Subject } from '#diagnose/explain/lookup/reading.ts';
import { readNamedSigner, readSignerView } from '#diagnose/explain/read-signer-view.ts';
import { kindNamed } from '#diagnose/kinds.ts';
import type { LintFinding } from '#diagnose/lint/finding.ts';
import type { Client } from '#kube/client/client.ts';
import { resource } from '#kube/resource/resource.ts';

type RequestOutlook = Pick<Diagnosis, 'wouldFail'> & ApprovalOutlook;

const JUDGES: Readonly<
  Partial<Record<string, (client: Client, subject: Subject) => Promise<RequestOutlook>>>
> = { csr: judgeCsr, certificaterequest: judgeCertificateRequest };

/**
 * Judges an undecided request of the cluster as its signer would. A file does not have the rules
 * and the profile of its signer, and PKCS#10 has no usages.
 *
 * @param found - findings about the same request. They are not repeated
 * @throws KubeError of the API server
 */
export async function lintBySigner(
  client: Client,
  subject: Subject,
  found: readonly LintFinding[],
): Promise<readonly LintFinding[]> {
  const judge = JUDGES[kindNamed(subject.kind) ?? ''];
  if (judge === undefined) return [];
  const { notices = [], ...outlook } = await judge(client, subject);
  const refusal = approvalRefusal(outlook);
  const known = found.map(({ message }) => message).join('; ');
  const rest = { source: 'Countersign', where: `${subject.kind}/${subject.name}` };
  return [
    ...(refusal === undefined || outlook.wouldFail === known
      ? []
      : [{ severity: 'error', rule: 'signer-accepts', message: refusal, ...rest } as const]),
    ...notices.map(
      (message) =>
        ({ severity: 'warning', rule: 'certificate-complete', message, ...rest }) as const,
    ),
  ];
}

async function judgeCsr(client: Client, { name }: Subject): Promise<RequestOutlook> {
  const path = resource(CSR_RESOURCE).object({ name });
  const csr = await client.request<CertificateSigningRequest>({ method: 'GET', path });
  const view = await readSignerView(client, csr.spec.signerName);
  return {
    ...explainSigningRequest(csr, view),
    // Other notices are about the signer, not about the request.
    notices:
      view.signer === undefined || isApproved(csr) || isFinished(csr)
        ? []
        : certificateNotices(csr, view.signer.spec),
  };
}

async function judgeCertificateRequest(
  client: Client,
  { name, namespace }: Subject,
): Promise<RequestOutlook> {
  const path = resource(CERTIFICATE_REQUEST_RESOURCE).object({ name, namespace });
  const request = await client.request<CertificateRequest>({ method: 'GET', path });
  const view = await readNamedSigner(client, request.spec.issuerRef, namespace);
  const { notices: _ofSigner, ...outlook } = explainCertificateRequest(request, view);
  return outlook;
}
