// SPDX-License-Identifier: Apache-2.0
import type { CertificateRequest } from '#api/request/certificate-request.ts';
import type { SignerObject } from '#api/signer/cluster-signer.ts';
import { formatDuration } from '#api/object/duration.ts';
import {
  RULES_ONLY,
  decide,
  type CertificateRequestPlan,
} from '#requests/certificate-request/decide.ts';
import { compileProfile } from '#ca/issuance/profile.ts';
import { compileIssuerPolicy } from '#ca/policy/compile-policy.ts';
import type { Output } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import { printable } from '#base/quote.ts';
import { printDocument, printText } from '#cli/terminal.ts';
import { writtenSpec } from './request-file.ts';

/** Returns the verdict of the certificate-request component on an approved CertificateRequest. */
export function judgeCertificateRequest(
  signer: SignerObject,
  text: string,
  options: PolicyTestOptions & { readonly namespace: string },
): PolicyTestVerdict {
  if (signer.spec.certificateRequests === undefined) {
    return {
      word: 'NO OPINION',
      message:
        'there is no spec.certificateRequests: this signer does not serve CertificateRequests',
    };
  }
  const { namespace = options.namespace } = signer.metadata;
  if (namespace !== options.namespace) {
    return {
      word: 'NO OPINION',
      message: `a Signer in namespace ${namespace} serves CertificateRequests of its own namespace only`,
    };
  }
  return certificateRequestVerdict(
    decide({
      request: requestOf(text, signer, options),
      profile: compileProfile(signer.spec),
      policy: compileIssuerPolicy(signer.spec),
      authority: RULES_ONLY,
      reservedPrefixes: options.reservedPrefix,
      now: 0,
    }),
  );
}

/** Returns the verdict of the rules alone, without a CA. */
export function certificateRequestVerdict(plan: CertificateRequestPlan): PolicyTestVerdict {
  if (plan.kind === 'wait') return { word: 'APPROVE', message: 'a rule allows the whole request' };
  if (plan.kind === 'undecided') return { word: 'NO OPINION', message: plan.message };
  const message = plan.kind === 'fail' ? plan.message : '';
  return { word: 'DENY', message };
}

/**
 * Returns the object as the API server would store it: the requester from the flags, the rest from
 * the file.
 */
function requestOf(
  text: string,
  { apiVersion, kind, metadata }: SignerObject,
  options: PolicyTestOptions & { readonly namespace: string },
): CertificateRequest {
  const { namespace, user, uid, group, usage, expirationSeconds } = options;
  const written = writtenSpec<CertificateRequest>('CertificateRequest', text, options.csr);
  return {
    apiVersion: 'cert-manager.io/v1',
    kind: 'CertificateRequest',
    metadata: {
      name: 'policy-test',
      namespace,
      uid: '',
      resourceVersion: '',
      creationTimestamp: '',
    },
    spec: {
      ...written,
      issuerRef: { group: apiVersion.split('/')[0] ?? '', kind, name: metadata.name },
      ...(usage.length > 0 ? { usages: usage } : {}),
      ...(expirationSeconds === undefined ? {} : { duration: formatDuration(expirationSeconds) }),
      username: user,
      uid,
      groups: group,
    },
    status: { conditions: [{ type: 'Approved', status: 'True' }] },
  };
}

/** The printed verdict, which determines the exit code. */
export interface PolicyTestVerdict {
  readonly word: 'APPROVE' | 'DENY' | 'NO OPINION';
  /** Reasons, separated by a semicolon and a space. */
  readonly message: string;
}

/** Flags of `countersign policy test`. */
export interface PolicyTestOptions {
  readonly signerFile: string;
  readonly csr: string;
  /** Namespace of a CertificateRequest of cert-manager. Absent for a CertificateSigningRequest. */
  readonly namespace?: string;
  readonly user: string;
  readonly uid: string;
  readonly group: readonly string[];
  readonly usage: readonly string[];
  readonly expirationSeconds?: number;
  readonly output: Output;
  readonly reservedPrefix: readonly string[];
}

/**
 * Prints a verdict with one reason a line.
 *
 * @returns the exit code
 */
export function printVerdict(
  { word, message }: PolicyTestVerdict,
  separator: string,
  output: Output,
): number {
  const reasons = message.split(separator);
  if (output === 'text') {
    printText(`${word}\n${reasons.map((line) => `  ${printable(line)}\n`).join('')}`);
  } else {
    printDocument(structuredText({ verdict: word, reasons }, output));
  }
  return EXIT_CODES[word];
}

/** Exit codes for scripts and CI. A request that is not approved is not a success. */
const EXIT_CODES: Readonly<Record<PolicyTestVerdict['word'], number>> = {
  APPROVE: 0,
  DENY: 3,
  'NO OPINION': 4,
};
