// SPDX-License-Identifier: Apache-2.0
/**
 * What somebody may who holds the operator's token, as words after `kubectl auth can-i`. Data only.
 */
import { OLD } from './releases.ts';
import { SYSTEM } from './stand.ts';

/** What SECURITY.md says that it can. */
export const CAN: readonly (readonly [what: string, ...args: string[]])[] = [
  ['read every Secret', 'list', 'secrets', '-A'],
  ['change every webhook', 'patch', 'mutatingwebhookconfigurations/other'],
  ['change every definition', 'patch', 'crd/other.example.com'],
  ['write every Secret', 'update', 'secrets', '-A'],
  [
    'write the Deployments of cert-manager',
    'patch',
    'deployments/cert-manager',
    '-n',
    'cert-manager',
  ],
];

/** And what it cannot. */
export const CANNOT: readonly (readonly [what: string, ...args: string[]])[] = [
  ['make a role of another name', 'patch', 'clusterroles/other'],
  ['make a Deployment of another name', 'patch', 'deployments/other', '-n', 'cert-manager'],
  ['write Deployments of another namespace', 'patch', 'deployments/cert-manager', '-n', SYSTEM],
  ['write a MutatingAdmissionPolicy', 'create', 'mutatingadmissionpolicies'],
  ['write a CertManagerDeployment', 'patch', 'certmanagerdeployments/cluster'],
  ['mint a token of its own namespace', 'create', 'serviceaccounts/token', '-n', SYSTEM],
  [
    'write its own policy',
    'patch',
    'validatingadmissionpolicies/countersign-cert-manager-operator',
  ],
  ['hand itself a release', 'patch', `configmaps/cert-manager-${OLD}`, '-n', SYSTEM],
  ['delete a definition', 'delete', 'crd/certificates.cert-manager.io'],
  ['delete a namespace', 'delete', 'namespaces/cert-manager'],
];
