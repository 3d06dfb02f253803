// SPDX-License-Identifier: Apache-2.0
import { fail, must, pass, skip, type Case } from '../../case.ts';
import { isAssertionResult, issuedLeafOf } from '../../issued-leaf.ts';
import { e2e, integration } from '../../sources.ts';
import { onOperation } from '../../snapshot.ts';
import { CSR_OPERATIONS, type CsrOperation, type CsrSnapshot } from '../snapshot.ts';

const CLIENT = e2e('certificates.go', 'should support building a client with a CSR');
const OPERATIONS = e2e('certificates.go', 'should support CSR API operations');

/** What each call must do. */
const ASSERTS: Readonly<Record<CsrOperation, string>> = {
  discoveryGroups: '/apis lists certificates.k8s.io with v1',
  discoveryGroup: '/apis/certificates.k8s.io lists v1',
  discoveryResources: 'v1 has certificatesigningrequests with /approval and /status',
  create: 'three requests are created from one template',
  get: 'a request is read as it was created, expirationSeconds included',
  list: 'a list with the field selector spec.signerName has the three, and only those',
  watch: 'a watch reports each change of a request',
  patch: 'a merge patch adds an annotation and raises the resourceVersion',
  update: 'an update adds an annotation',
  getApproval: '/approval is read as the request itself',
  patchApproval: 'a patch of /approval adds a condition and an annotation',
  updateApproval: 'an update of /approval adds Approved',
  getStatus: '/status is read as the request itself',
  patchStatus: 'a patch of /status sets the certificate and an annotation',
  updateStatus: 'an update of /status adds a condition',
  delete: 'a deleted request is gone, and the other two remain',
  deleteCollection: 'a deleted collection is empty',
};

/** The first id of the calls: they follow in their order. */
const FIRST_OPERATION = 67;

/** Kubernetes 1.37's own conformance tests of CertificateSigningRequests. */
export const CSR_UPSTREAM: readonly Case<CsrSnapshot>[] = [
  must(
    'CSR-64',
    'the API server accepts the leaf as a client certificate, with its common name as the user',
    CLIENT,
    ({ clientAuthentication: login, profile, scenarios: scenarios }) => {
      if (login.skipped !== undefined) return skip(login.skipped);
      if (profile.clientAuthentication !== true) {
        return skip(
          'the profile does not say that the API server accepts this CA (clientAuthentication)',
        );
      }
      const issued = issuedLeafOf(scenarios.plain);
      if (isAssertionResult(issued)) return issued;
      if (login.fault !== undefined) return fail(login.fault);
      const name = issued.request.requested.names.commonName;
      return login.username === name
        ? pass(`it is ${name}`)
        : fail(`the user is ${login.username ?? 'unknown'}, not ${name}`);
    },
  ),
  must(
    'CSR-65',
    'kubernetes.io/kube-apiserver-client issues exactly one certificate',
    CLIENT,
    ({ signerName, scenarios: scenarios }) => {
      if (signerName !== 'kubernetes.io/kube-apiserver-client')
        return skip(`${signerName} may send intermediates`);
      const issued = issuedLeafOf(scenarios.plain);
      if (isAssertionResult(issued)) return issued;
      return issued.chain.length === 1
        ? pass('one certificate')
        : fail(`${issued.chain.length} certificates`);
    },
  ),
  must(
    'CSR-66',
    'the API server rejects system:masters for kubernetes.io/kube-apiserver-client',
    integration('certificates/admission_subjectrestriction_test.go'),
    ({ signerName, scenarios: scenarios }) => {
      if (signerName !== 'kubernetes.io/kube-apiserver-client')
        return skip(`the admission plugin does not guard ${signerName}`);
      if ('skipped' in scenarios.masters) return skip(scenarios.masters.skipped);
      const { rejection: refusal } = scenarios.masters;
      return refusal === undefined ? fail('the API server took it') : pass(refusal);
    },
  ),
  ...CSR_OPERATIONS.map((name, index) =>
    must<CsrSnapshot>(
      `CSR-${FIRST_OPERATION + index}`,
      ASSERTS[name],
      OPERATIONS,
      onOperation<CsrOperation>(name),
    ),
  ),
];
