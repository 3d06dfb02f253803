// SPDX-License-Identifier: Apache-2.0
import type { Explanation, Journey } from './explanation.ts';

/** What a Secret is for, as far as its metadata and what refers to it say. Its data is never read. */
export interface SecretUse {
  readonly name: string;
  readonly namespace: string;
  /** RFC 3339; undefined: there is no such Secret. */
  readonly createdAt?: string | undefined;
  /** The Certificate of cert-manager that writes it. */
  readonly certificate?: string | undefined;
  /** The explanation of the newest CertificateRequest for it. */
  readonly request?: Explanation | undefined;
  /** Of the signers whose CA is in it. */
  readonly signers: readonly Explanation[];
}

/** The journey of a Secret: with the CA of a signer, or with the certificate of a Certificate of cert-manager. Pure. */
export function explainSecret(use: SecretUse): Journey {
  const { name, namespace, createdAt, certificate, request, signers } = use;
  const timeline =
    createdAt === undefined ? [] : [{ at: createdAt, what: 'the Secret is created' }];
  const [signer] = signers;
  if (signer !== undefined) {
    const { state, summary, todo } = signer;
    return { timeline, state, summary: `it is for a CA: ${summary}`, todo, parts: signers };
  }
  if (certificate === undefined) return unused(use, timeline);
  if (request === undefined) {
    return {
      timeline,
      state: 'WaitsForComponent',
      summary: `Certificate ${certificate} of cert-manager writes it, and has no CertificateRequest: cert-manager has not asked, or cannot`,
      todo: [`kubectl describe certificate ${certificate} -n ${namespace}`],
    };
  }
  const summary = `Certificate ${certificate} of cert-manager writes it from its newest request: ${request.summary}`;
  const missing = createdAt === undefined && request.state === 'Issued';
  return {
    timeline,
    state: missing ? 'WaitsForComponent' : request.state,
    summary: missing ? `Secret ${name} does not exist. ${summary}` : summary,
    todo: missing ? [`kubectl describe certificate ${certificate} -n ${namespace}`] : request.todo,
    parts: [request],
  };
}

function unused({ name, namespace, createdAt }: SecretUse, timeline: Journey['timeline']): Journey {
  const missing =
    createdAt === undefined
      ? `there is no Secret ${name} in namespace ${namespace}, and no Certificate of cert-manager that would write it`
      : 'no Certificate of cert-manager writes it, and no signer has its CA in it';
  return {
    timeline,
    state: 'NotUsed',
    summary: missing,
    todo: [`kubectl get certificates -n ${namespace}`, 'countersign authority show'],
  };
}
