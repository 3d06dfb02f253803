// SPDX-License-Identifier: Apache-2.0
import { POD_REQUEST_POLICY, guardsPodRequests } from './policies.ts';
import { CERT_MANAGER_EVENTS, CERT_MANAGER_WRITERS } from './cert-manager-deployments.ts';
import { WRITERS_POLICY } from './countersigns.ts';

const WRITES_SPEC =
  'a user without the verbs sign and attest may write ClusterSigners, which decide who gets certificates';
const WRITES_STATUS =
  'a user without the verb attest may write a status, whose anchors are published';
const WRITES_LEASES = 'a user who may write Leases may stop the components';

const WRITES_ROUTES =
  'this component may change the routes of others, and what an Ingress controller does, if it is compromised';

const FORGES_EVENTS =
  'this component may forge and overwrite the Events of others if it is compromised';

/** Risk without each policy. */
const RISKS: Readonly<Record<string, string>> = {
  [POD_REQUEST_POLICY]:
    'a user who may create PodCertificateRequests in a namespace may invent the pod, ServiceAccount and node in them',
  'countersign-cluster-signers': WRITES_SPEC,
  'countersign-cluster-signer-secrets':
    'the writer of a ClusterSigner may take the name of any Secret for its CA',
  'countersign-cluster-signer-status': WRITES_STATUS,
  'countersign-cluster-signer-upstreams':
    'the writer of a ClusterSigner may have any listed issuer of cert-manager sign its CA',
  'countersign-cluster-signer-vaults':
    'the writer of a ClusterSigner may have any secrets engine of a listed Vault sign its CA',
  'countersign-signer-status': WRITES_STATUS,
  'countersign-certificate-request-identity':
    'a user who may create CertificateRequests may name another user as the requester',
  'countersign-certificate-request-spec':
    'a user who may update CertificateRequests may change what was approved',
  'countersign-certificate-request-approval':
    'a user who may update the status of CertificateRequests may approve them',
  'countersign-certificate-request-answers':
    'this component may answer the CertificateRequests of every issuer if it is compromised',
  'countersign-acme-answers':
    'this component may answer the CertificateRequests of every issuer if it is compromised',
  'countersign-acme-cluster-signers':
    'a user without the verbs sign and attest may write AcmeClusterSigners, which decide who gets certificates',
  'countersign-acme-account-keys':
    'the writer of an AcmeClusterSigner may order certificates with any account key, and prove names with any credential',
  'countersign-external-cluster-signers':
    'a user without the verbs sign and attest may write ExternalClusterSigners, which decide who gets certificates',
  'countersign-external-cluster-signer-vaults':
    'the writer of an ExternalClusterSigner may have any secrets engine of a listed Vault issue certificates',
  'countersign-external-cluster-signer-status':
    'a user may set the condition Ready of a signer, or have it order nothing',
  'countersign-acme-signer-status': 'a user may set the condition Ready of a signer',
  'countersign-acme-orders':
    'a user who may write Orders and Challenges may have certificates ordered that no rule allows',
  'countersign-acme-challenge-status':
    'a user who may write the status of Challenges may report an unproved name as proved',
  'countersign-acme-revocation': 'a user who may update Orders may have their certificates revoked',
  'countersign-acme-ingresses': WRITES_ROUTES,
  'countersign-acme-http-routes': WRITES_ROUTES,
  'countersign-acme-renewals':
    'this component may change the status of every Certificate if it is compromised',
  'countersign-attester-bundles':
    'this component may make bundles of other names if it is compromised',
  'countersign-authority-secrets':
    'this component may create Secrets of other names, and have keys copied by other controllers, if it is compromised',
  'countersign-authority-certificate-requests':
    'this component may request certificates of every issuer in the namespaces that it is named if it is compromised',
  'countersign-component-metadata':
    'a compromised component may make objects that cannot be deleted, or have them deleted as garbage',
  'countersign-ledger-objects':
    'this component may have the key of the log copied by other controllers if it is compromised',
  'countersign-notifier-objects':
    'this component may write other data beside its cursors if it is compromised',
  'countersign-authority-api-service':
    'this component may lead readers of the ledger to another server if it is compromised',
  'countersign-authority-crls':
    'this component may create ConfigMaps of other names, and make them immutable, if it is compromised',
  'countersign-revocations':
    'a user who may write Revocations may have the certificates of every signer refused',
  'countersign-request-metadata':
    'this component may have CertificateSigningRequests of every signer deleted if it is compromised',
  'countersign-events': FORGES_EVENTS,
  [WRITERS_POLICY]:
    'a user without the verbs sign and attest on all signer names may write a Countersign, which decides what runs with CA keys',
  [CERT_MANAGER_WRITERS]:
    'a user without the permissions of cert-manager may write a CertManagerDeployment, which decides where its pods run and with which flags',
  [CERT_MANAGER_EVENTS]: FORGES_EVENTS,
  'countersign-leases': WRITES_LEASES,
  'countersign-refreshed-workloads':
    'this component may change everything of every workload if it is compromised',
  'countersign-refreshed-pods':
    'this component may evict pods of namespaces that did not opt in if it is compromised',
  'countersign-trust-config-maps':
    'this component may write ConfigMaps of its names in every namespace if it is compromised',
  'countersign-trust-ca-bundles':
    'this component may change everything of the APIServices and CustomResourceDefinitions that it is named if it is compromised',
  'countersign-federated-bundles':
    'this component may write bundles that name a signer, or another trust domain, if it is compromised',
  'countersign-leases-deleted': 'a compromised component may delete the Leases of another',
};

/**
 * Returns the risk of a missing or different policy, for a warning about it.
 *
 * @param name - of the policy
 */
export function admissionRisk(name: string): string {
  const policy = guardsPodRequests(name) ? POD_REQUEST_POLICY : name;
  return RISKS[policy] ?? 'the objects that it guards are unprotected';
}
