// SPDX-License-Identifier: Apache-2.0

/** What a small API server answers to whatever is not its matter. */
export interface OtherAnswer {
  readonly code: number;
  readonly body: object;
}

const PLURALS = ['clustertrustbundles', 'podcertificaterequests'];

/** Discovery, reviews of rights, what is made (Events), and what is not there. */
export function otherAnswer(method: string, path: string): OtherAnswer {
  if (path === '/apis/certificates.k8s.io/v1') {
    return { code: 200, body: { resources: PLURALS.map((name) => ({ name })) } };
  }
  if (path.endsWith('/selfsubjectaccessreviews')) {
    return { code: 201, body: { status: { allowed: true } } };
  }
  return method === 'POST' ? { code: 201, body: {} } : { code: 404, body: status(404, 'NotFound') };
}

/** `metav1.Status` of a refusal. */
export function status(code: number, reason: string): object {
  return { kind: 'Status', apiVersion: 'v1', code, reason, message: 'by a small API server' };
}
