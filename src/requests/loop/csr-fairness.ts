// SPDX-License-Identifier: Apache-2.0
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import type { FlowAssignment } from '#kube/workqueue/fair-queue.ts';
import type { Intern } from './interner.ts';

/** Maximum characters of a user name, which the authenticator chooses. */
const MAX_USERNAME = 256;

/** `system:serviceaccount:<namespace>:<name>`. */
const SERVICE_ACCOUNT = /^system:serviceaccount:[^:]*:/;

/**
 * Returns the flow of a CertificateSigningRequest. Without a namespace, that is its user. The
 * service accounts of one namespace are one flow, because a tenant can create any number of them.
 */
export function csrFlow({ spec }: CertificateSigningRequest): string {
  const name = nameOf(spec.username);
  return `user ${SERVICE_ACCOUNT.exec(name)?.[0] ?? name}`;
}

/** Returns the fairness key of a CertificateSigningRequest. */
export function csrFairnessKey(csr: CertificateSigningRequest): FlowAssignment {
  return { distinguishers: [csrFlow(csr)] };
}

/** Returns the retained fields, which the fairness key needs. */
export function csrRetainedFields({ spec }: CertificateSigningRequest, shared: Intern): object {
  return { spec: { username: shared(nameOf(spec.username)) } };
}

function nameOf(username = ''): string {
  return username.slice(0, MAX_USERNAME);
}
