// SPDX-License-Identifier: Apache-2.0
import type { CertificateRequest } from '#api/request/certificate-request.ts';
import { isApproved, isFinished, type CertificateSigningRequest } from '#api/request/csr.ts';
import { certificateNotices } from '#diagnose/certificate-outlook.ts';
import { approvalRefusal } from '#diagnose/explain/approval-refusal.ts';
import { explainCertificateRequest } from '#diagnose/explain/certificate-request.ts';
import { explainSigningRequest } from '#diagnose/explain/certificate-signing-request.ts';
import type { ApprovalOutlook, Diagnosis } from '#diagnose/explain/explanation.ts';
import { readNamedSigner, readSignerView } from '#diagnose/explain/read-signer-view.ts';
import type { LintFinding } from '#diagnose/lint/finding.ts';
import type { Client } from '#kube/client/client.ts';

type RequestOutlook = Pick<Diagnosis, 'wouldFail'> & ApprovalOutlook;

/**
 * Judges an undecided request of the cluster as its signer would. A file does not have the rules
 * and the profile of its signer, and PKCS#10 has no usages.
 *
 * @param found - findings about the same request. They are not repeated
 * @throws KubeError of the API server
 */
export async function lintBySigner(
  client: Client,
  request: CertificateSigningRequest | CertificateRequest,
  { where, found }: { readonly where: string; readonly found: readonly LintFinding[] },
): Promise<readonly LintFinding[]> {
  const {
    notices = [],
    wouldFail: faults = [],
    ...outlook
  } = isOfCertManager(request)
    ? await judgeCertificateRequest(client, request)
    : await judgeCsr(client, request);
  const wouldFail = faults.filter((fault) => found.every(({ message }) => message !== fault));
  const refusal = approvalRefusal({ ...outlook, wouldFail });
  const rest = { source: 'Countersign', where };
  return [
    ...(refusal === undefined
      ? []
      : [{ severity: 'error', rule: 'signer-accepts', message: refusal, ...rest } as const]),
    ...notices.map(
      (message) =>
        ({ severity: 'warning', rule: 'certificate-complete', message, ...rest }) as const,
    ),
  ];
}

function isOfCertManager(
  request: CertificateSigningRequest | CertificateRequest,
): request is CertificateRequest {
  return 'issuerRef' in request.spec;
}

async function judgeCsr(client: Client, csr: CertificateSigningRequest): Promise<RequestOutlook> {
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
  request: CertificateRequest,
): Promise<RequestOutlook> {
  const { namespace = '' } = request.metadata;
  const view = await readNamedSigner(client, request.spec.issuerRef, namespace);
  const { notices: _ofSigner, ...outlook } = explainCertificateRequest(request, view);
  return outlook;
}
