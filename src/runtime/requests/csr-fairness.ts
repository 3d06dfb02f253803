// SPDX-License-Identifier: Apache-2.0
import type { CertificateSigningRequest } from '../../api/request/csr.ts';
import type { FlowAssignment } from '../../kube/workqueue/fair-queue.ts';
import type { Intern } from './interner.ts';

/** Bounds a user name: its length is up to the authenticator. */
const MAX_USERNAME = 256;

/** `system:serviceaccount:<namespace>:<name>`. */
const SERVICE_ACCOUNT = /^system:serviceaccount:[^:]*:/;

/**
 * CertificateSigningRequests have no namespace: their flow is the user who requests. The service accounts of one
 * namespace are one flow, because a tenant can create any number of them.
 */
export function csrFlow({ spec }: CertificateSigningRequest): string {
  const name = nameOf(spec.username);
  return `user ${SERVICE_ACCOUNT.exec(name)?.[0] ?? name}`;
}

/** How a CertificateSigningRequest is queued. */
export function csrFairnessKey(csr: CertificateSigningRequest): FlowAssignment {
  return { distinguishers: [csrFlow(csr)] };
}

/** The retained fields: what the fairness key needs. */
export function csrRetainedFields({ spec }: CertificateSigningRequest, shared: Intern): object {
  return { spec: { username: shared(nameOf(spec.username)) } };
}

function nameOf(username = ''): string {
  return username.slice(0, MAX_USERNAME);
}
