// SPDX-License-Identifier: Apache-2.0
import type { CertificateSigningRequest } from '../../api/request/csr.ts';
import type { FlowAssignment } from '../../kube/workqueue/fair-queue.ts';
import type { Intern } from './interner.ts';

/** Names of users are as long as whoever authenticates them likes. */
const MAX_USERNAME = 256;

/** CertificateSigningRequests have no namespace: whoever asks is whom others must not wait for. */
export function csrFairnessKey({ spec }: CertificateSigningRequest): FlowAssignment {
  return { distinguishers: [`user ${nameOf(spec.username)}`] };
}

/** Of a request that is not kept whole. */
export function csrRetainedFields({ spec }: CertificateSigningRequest, shared: Intern): object {
  return { spec: { username: shared(nameOf(spec.username)) } };
}

function nameOf(username = ''): string {
  return username.slice(0, MAX_USERNAME);
}
