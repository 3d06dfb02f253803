// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import { servesSigningRequests, type SignerObject } from '#api/signer/cluster-signer.ts';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import { decide, type ApprovalPlan } from '#requests/approver/decide.ts';
import { wouldFail } from '#ca/policy/denial-messages.ts';
import { compilePolicy } from '#ca/policy/compile-policy.ts';
import { denyUnorderable } from './acme-request.ts';
import { parseSignerFile } from './signer-file.ts';
import { writtenSpec } from './request-file.ts';
import {
  judgeCertificateRequest,
  printVerdict,
  type PolicyTestOptions,
  type PolicyTestVerdict,
} from './test-certificate-request.ts';

/** The verdict of each plan of the approver. */
export const WORDS: Readonly<Record<ApprovalPlan['kind'], PolicyTestVerdict['word']>> = {
  approve: 'APPROVE',
  deny: 'DENY',
  // A person may approve it, and the signer fails it.
  unissuable: 'DENY',
  wait: 'NO OPINION',
  ignore: 'NO OPINION',
};

/**
 * Runs `countersign policy test`: prints the verdict and its reasons.
 *
 * @returns the exit code
 * @throws SignerError SPEC_INVALID or REQUEST_MALFORMED for a file that cannot be read
 */
export async function testPolicy(options: PolicyTestOptions): Promise<number> {
  const signer = parseSignerFile(await readFile(options.signerFile, 'utf8'), options.signerFile);
  const text = await readFile(options.csr, 'utf8');
  const { namespace } = options;
  const verdict =
    namespace === undefined
      ? judge(signer, text, options)
      : judgeCertificateRequest(signer, text, { ...options, namespace });
  const found = denyUnorderable(verdict, signer, writtenRequest(text, options));
  return printVerdict(found, '; ', options.output);
}

function judge(signer: SignerObject, text: string, options: PolicyTestOptions): PolicyTestVerdict {
  if (!servesSigningRequests(signer.spec)) {
    return { word: 'NO OPINION', message: whyIgnored(signer) };
  }
  const plan = decide({
    csr: requestOf(text, signer.spec.signerName, options),
    policy: compilePolicy(signer.spec),
    reservedPrefixes: options.reservedPrefix,
  });
  const message =
    plan.kind === 'ignore'
      ? whyIgnored(signer)
      : plan.kind === 'unissuable'
        ? wouldFail(plan.message)
        : plan.message;
  return { word: WORDS[plan.kind], message };
}

/** Returns base64 of the PKCS#10 request in the file. */
function writtenRequest(text: string, { csr, namespace }: PolicyTestOptions): string {
  const kind = namespace === undefined ? 'CertificateSigningRequest' : 'CertificateRequest';
  return writtenSpec<CertificateSigningRequest>(kind, text, csr).request;
}

/** Returns the reason why no rule was evaluated. */
function whyIgnored({ spec: { requests, certificateRequests } }: SignerObject): string {
  if (requests !== undefined)
    return 'spec.requests has neither rules nor deny: the approver leaves the request to others';
  const unserved =
    'there is no spec.requests: this signer does not serve CertificateSigningRequests';
  if (certificateRequests === undefined) return unserved;
  return `${unserved}; --namespace tests spec.certificateRequests, the rules for cert-manager`;
}

/**
 * Returns the object as the API server would store it: the requester from the flags, the rest from
 * the file.
 */
function requestOf(
  text: string,
  signerName: string,
  options: PolicyTestOptions,
): CertificateSigningRequest {
  const written = writtenSpec<CertificateSigningRequest>(
    'CertificateSigningRequest',
    text,
    options.csr,
  );
  const usages = options.usage.length > 0 ? options.usage : (written.usages ?? ['client auth']);
  const seconds = options.expirationSeconds ?? written.expirationSeconds;
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'policy-test', uid: '', resourceVersion: '', creationTimestamp: '' },
    spec: {
      request: written.request,
      signerName,
      usages,
      username: options.user,
      uid: options.uid,
      groups: options.group,
      ...(seconds === undefined ? {} : { expirationSeconds: seconds }),
    },
  };
}
