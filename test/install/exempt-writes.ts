// SPDX-License-Identifier: Apache-2.0
/** The writes of components that no policy holds, each with its reason. */

const OWN_STATUS =
  'the status is the record of this component: the API server keeps spec and metadata, and a policy keeps others from it';
const OWN_NOTES =
  'Orders and Challenges are the notes of acme alone: a policy keeps others from them, and one holds their finalizers and owners';
const REVIEW = 'the API server answers a review and stores nothing';
const KEPT = 'the API server keeps the metadata of a custom resource whose status is written';
const UNGUARDED =
  'the API server evaluates no policy on webhook configurations: the names in RBAC are all that holds it';

/** `component OPERATION group/resource` → why no policy holds it. */
export const EXEMPT: Readonly<Record<string, string>> = {
  'acme CREATE acme.countersign.dev/challenges': OWN_NOTES,
  'acme CREATE acme.countersign.dev/orders': OWN_NOTES,
  'acme DELETE acme.countersign.dev/challenges': OWN_NOTES,
  'acme DELETE acme.countersign.dev/orders': OWN_NOTES,
  'acme UPDATE acme.countersign.dev/acmeclustersigners/status': OWN_STATUS,
  'acme UPDATE acme.countersign.dev/acmesigners/status': OWN_STATUS,
  'acme UPDATE acme.countersign.dev/challenges': OWN_NOTES,
  'acme UPDATE acme.countersign.dev/challenges/status': OWN_NOTES,
  'acme UPDATE acme.countersign.dev/orders/status': OWN_NOTES,
  'acme-solver CREATE dns.example.com/zone':
    'a provider answers it and stores nothing; RBAC names its group and the solver',
  'attester DELETE certificates.k8s.io/clustertrustbundles':
    'RBAC names each bundle, which the attester may empty as well',
  'authority UPDATE countersign.dev/clustersigners/status': OWN_STATUS,
  'authority UPDATE countersign.dev/revocations/status':
    'the status says which CRL lists a Revocation; no role of ours lets another write it',
  'authority UPDATE countersign.dev/signers/status': OWN_STATUS,
  'external-signer UPDATE certificates.k8s.io/podcertificaterequests/status':
    'the API server asks for the verb sign on the signer name, and keeps spec and metadata (ResetObjectMetaForStatus)',
  'external-signer UPDATE countersign.dev/externalclustersigners/status': OWN_STATUS,
  'ledger CREATE authentication.k8s.io/tokenreviews': REVIEW,
  'ledger CREATE authorization.k8s.io/subjectaccessreviews': REVIEW,
  'pcr-issuer UPDATE certificates.k8s.io/podcertificaterequests/status':
    'the API server asks for the verb sign on the signer name, and keeps spec and metadata (ResetObjectMetaForStatus)',
  'trust-distributor UPDATE admissionregistration.k8s.io/mutatingwebhookconfigurations': UNGUARDED,
  'trust-distributor UPDATE admissionregistration.k8s.io/validatingwebhookconfigurations':
    UNGUARDED,
};

/** `group/resource` → why no policy holds its finalizers and owners. */
export const WITHOUT_METADATA: Readonly<Record<string, string>> = {
  'acme.countersign.dev/acmeclustersigners/status': KEPT,
  'acme.countersign.dev/acmesigners/status': KEPT,
  'acme.countersign.dev/challenges/status': KEPT,
  'acme.countersign.dev/orders/status': KEPT,
  'admissionregistration.k8s.io/mutatingwebhookconfigurations': UNGUARDED,
  'admissionregistration.k8s.io/validatingwebhookconfigurations': UNGUARDED,
  'authentication.k8s.io/tokenreviews': REVIEW,
  'authorization.k8s.io/subjectaccessreviews': REVIEW,
  'cert-manager.io/certificaterequests/status': KEPT,
  'cert-manager.io/certificates/status': KEPT,
  'countersign.dev/clustersigners/status': KEPT,
  'countersign.dev/externalclustersigners/status': KEPT,
  'countersign.dev/revocations/status': KEPT,
  'countersign.dev/signers/status': KEPT,
  'dns.example.com/zone': 'a provider answers it and stores nothing',
};

/** Roles of no component that allow a write → why no policy of components holds it. */
export const EXEMPT_ROLES: Readonly<Record<string, string>> = {
  'countersign-cert-manager-operator':
    'it may what cert-manager may, and counts as cluster-admin (SECURITY.md); a policy of its own holds the objects that it installs',
  'countersign-csr-requester':
    'for people, who ask for certificates: what they ask for is approved or denied',
  'countersign-operator':
    'it installs the components with their policies, so it can become each of them (SECURITY.md); RBAC holds it to its own names',
};
