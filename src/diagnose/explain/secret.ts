// SPDX-License-Identifier: Apache-2.0
import type { Explanation, Diagnosis } from './explanation.ts';

/** The purpose of a Secret, by its metadata and referrers. Its data is never read. */
export interface SecretUse {
  readonly name: string;
  readonly namespace: string;
  /** RFC 3339. Undefined if the Secret does not exist. */
  readonly createdAt?: string | undefined;
  /** The Certificate of cert-manager that writes it. */
  readonly certificate?: string | undefined;
  /** The explanation of the latest CertificateRequest for it. */
  readonly request?: Explanation | undefined;
  /** Explanations of the signers whose CA is in it. */
  readonly signers: readonly Explanation[];
}

/**
 * Explains a Secret that holds the CA of a signer, or the certificate of a Certificate of
 * cert-manager. Pure.
 */
export function explainSecret(use: SecretUse): Diagnosis {
  const { name, namespace, createdAt, certificate, request, signers } = use;
  const timeline =
    createdAt === undefined ? [] : [{ at: createdAt, what: 'the Secret is created' }];
  const [signer] = signers;
  if (signer !== undefined) {
    const { state, summary, remediation } = signer;
    return { timeline, state, summary: `it is for a CA: ${summary}`, remediation, parts: signers };
  }
  if (certificate === undefined) return unused(use, timeline);
  if (request === undefined) {
    return {
      timeline,
      state: 'WaitingForComponent',
      summary: `Certificate ${certificate} of cert-manager writes it, and has no CertificateRequest: cert-manager has not created one, or cannot`,
      remediation: [`kubectl describe certificate ${certificate} -n ${namespace}`],
    };
  }
  const summary = `Certificate ${certificate} of cert-manager writes it from its newest request: ${request.summary}`;
  const missing = createdAt === undefined && request.state === 'Issued';
  return {
    timeline,
    state: missing ? 'WaitingForComponent' : request.state,
    summary: missing ? `Secret ${name} does not exist. ${summary}` : summary,
    remediation: missing
      ? [`kubectl describe certificate ${certificate} -n ${namespace}`]
      : request.remediation,
    parts: [request],
  };
}

function unused(
  { name, namespace, createdAt }: SecretUse,
  timeline: Diagnosis['timeline'],
): Diagnosis {
  const missing =
    createdAt === undefined
      ? `there is no Secret ${name} in namespace ${namespace}, and no Certificate of cert-manager that would write it`
      : 'no Certificate of cert-manager writes it, and no signer has its CA in it';
  return {
    timeline,
    state: 'NotUsed',
    summary: missing,
    remediation: [`kubectl get certificates -n ${namespace}`, 'countersign authority show'],
  };
}
