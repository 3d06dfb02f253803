// SPDX-License-Identifier: Apache-2.0
import { CERT_MANAGER_EVENTS, CERT_MANAGER_WRITERS } from './cert-manager-deployments.ts';
import { WRITERS_POLICY } from './countersigns.ts';

const WRITES_SPEC =
  'a user without the verbs sign and attest may write ClusterSigners, which decide who gets certificates';
const WRITES_STATUS =
  'a user without the verb attest may write a status, whose anchors are published';
const WRITES_LEASES = 'a user who may write Leases may keep the components from their work';

const FORGES_EVENTS =
  'this component may forge and overwrite the Events of others when it is taken over';

/** What anybody could do without the policy. */
const RISKS: Readonly<Record<string, string>> = {
  'countersign-pod-certificate-requests':
    'who may create PodCertificateRequests in a namespace may invent the pod, ServiceAccount and node in them',
  'countersign-cluster-signers': WRITES_SPEC,
  'countersign-cluster-signer-secrets':
    'the writer of a ClusterSigner may take the name of any Secret for its CA',
  'countersign-cluster-signer-status': WRITES_STATUS,
  'countersign-signer-status': WRITES_STATUS,
  'countersign-certificate-request-identity':
    'who may create CertificateRequests may name another user as the requester',
  'countersign-certificate-request-spec':
    'who may update CertificateRequests may change what was approved',
  'countersign-certificate-request-approval':
    'who may update the status of CertificateRequests may approve them',
  'countersign-certificate-request-answers':
    'this component may answer the CertificateRequests of every issuer when it is taken over',
  'countersign-acme-answers':
    'this component may answer the CertificateRequests of every issuer when it is taken over',
  'countersign-acme-cluster-signers':
    'a user without the verbs sign and attest may write AcmeClusterSigners, which decide who gets certificates',
  'countersign-acme-account-keys':
    'the writer of an AcmeClusterSigner may order certificates with any account key, and prove names with any credential',
  'countersign-acme-signer-status': 'a user may say of a signer that it is ready, or is not',
  'countersign-acme-orders':
    'who may write Orders and Challenges may have certificates ordered that no rule allows',
  'countersign-acme-challenge-status':
    'who may write the status of Challenges may have a server told that a name is proved',
  'countersign-acme-revocation': 'who may update Orders may have their certificates revoked',
  'countersign-acme-renewals':
    'this component may change the status of every Certificate when it is taken over',
  'countersign-attester-bundles':
    'this component may make bundles of other names when it is taken over',
  'countersign-authority-secrets':
    'this component may create Secrets of other names when it is taken over',
  'countersign-authority-api-service':
    'this component may lead readers of the ledger to another server when it is taken over',
  'countersign-authority-crls':
    'this component may create ConfigMaps of other names when it is taken over',
  'countersign-revocations':
    'who may write Revocations may have the certificates of every signer refused',
  'countersign-request-metadata':
    'this component may have CertificateSigningRequests of every signer deleted when it is taken over',
  'countersign-events': FORGES_EVENTS,
  [WRITERS_POLICY]:
    'a user without the verbs sign and attest on all signer names may write a Countersign, which decides what runs with CA keys',
  [CERT_MANAGER_WRITERS]:
    'a user without the permissions of cert-manager may write a CertManagerDeployment, which decides where its pods run and with which flags',
  [CERT_MANAGER_EVENTS]: FORGES_EVENTS,
  'countersign-leases': WRITES_LEASES,
  'countersign-refreshed-workloads':
    'this component may change everything of every workload when it is taken over',
  'countersign-refreshed-pods':
    'this component may evict pods of namespaces that did not opt in when it is taken over',
  'countersign-trust-config-maps':
    'this component may write ConfigMaps of its names in every namespace when it is taken over',
  'countersign-trust-ca-bundles':
    'this component may change everything of the APIServices and CustomResourceDefinitions that it is named when it is taken over',
  'countersign-federated-bundles':
    'this component may write bundles that name a signer, or another trust domain, when it is taken over',
  'countersign-leases-deleted': 'a component that is taken over may delete the Leases of another',
};

/**
 * Says what a missing or different policy affects, for a warning about it.
 *
 * @param name - of the policy
 */
export function admissionRisk(name: string): string {
  return RISKS[name] ?? 'what it guards is not guarded';
}
