// SPDX-License-Identifier: Apache-2.0
import type { CertificateRequest } from '#api/request/certificate-request.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { Condition } from '#api/request/conditions.ts';
import { made, type Wanted } from '../../ca/policy/request.ts';
import { workload } from '../signers/workload-profile.ts';

export const APPROVED: Condition = {
  type: 'Approved',
  status: 'True',
  reason: 'cert-manager.io',
  message: 'Certificate request has been approved by cert-manager.io',
};

export const DENIED: Condition = {
  type: 'Denied',
  status: 'True',
  reason: 'Policy',
  message: 'no',
};

export interface CertificateRequestWanted extends Omit<Wanted, 'usages'> {
  readonly usages?: readonly string[] | undefined;
  readonly namespace?: string;
  readonly duration?: string;
  readonly isCA?: boolean;
  readonly conditions?: readonly Condition[];
}

/** cert-manager asks for web.team-a.svc in team-a, approved, unless `wanted` says otherwise. */
export function certificateRequest(wanted: CertificateRequestWanted = {}): CertificateRequest {
  const { namespace = 'team-a', duration, isCA, conditions = [APPROVED], ...names } = wanted;
  const usages = 'usages' in wanted ? wanted.usages : ['digital signature', 'server auth'];
  const { csr } = made({
    subject: [],
    dnsNames: ['web.team-a.svc'],
    ...names,
    usages: usages ?? [],
  });
  return {
    apiVersion: 'cert-manager.io/v1',
    kind: 'CertificateRequest',
    metadata: { ...csr.metadata, name: 'web-1', namespace },
    spec: {
      issuerRef: { group: 'countersign.dev', kind: 'ClusterSigner', name: 'workload' },
      request: csr.spec.request,
      ...(usages === undefined ? {} : { usages }),
      username: wanted.username ?? 'system:serviceaccount:cert-manager:cert-manager',
      groups: wanted.groups ?? ['system:serviceaccounts'],
      ...(duration === undefined ? {} : { duration }),
      ...(isCA === undefined ? {} : { isCA }),
    },
    status: { conditions },
  };
}

/** A ClusterSigner that lets a team have names of its own services. */
export function servicesOfTeams(changes: Readonly<Record<string, unknown>> = {}): ClusterSigner {
  return workload({
    certificateRequests: {
      rules: [
        {
          name: 'services-of-a-team',
          when: "request.namespace.startsWith('team-')",
          allow: {
            dnsNames: "self.endsWith('.' + request.namespace + '.svc')",
            usages: ['digital signature', 'server auth'],
          },
        },
      ],
      deny: [
        {
          name: 'no-forbidden',
          when: "csr.dnsNames.exists(name, name.startsWith('forbidden.'))",
          message: 'nobody is called forbidden',
        },
      ],
    },
    ...changes,
  });
}
