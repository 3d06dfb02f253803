// SPDX-License-Identifier: Apache-2.0
/** The policies of a hub that restrict members, whatever their roles allow. */
import { CSR_RESOURCE } from '#api/request/csr.ts';
import { INTERMEDIATE_USAGES } from '#api/signer/cluster-signer.ts';
import { FLEET_SIGNER, memberUsername } from '#api/signer/upstream-hub.ts';
import { policy } from '../admission/policies.ts';
import { LABELS } from '../names.ts';
import type { Manifest } from '../roles.ts';

export interface FleetPlace {
  /** Namespace of the ServiceAccounts of all members. */
  readonly namespace: string;
  /** Signer name of the hub. */
  readonly signerName: string;
}

/** Returns the namespace of the members, and the policy for all of their accounts. */
export function fleetObjects(place: FleetPlace): readonly [Manifest, ...Manifest[]] {
  const { namespace, signerName } = place;
  const annotations = { [FLEET_SIGNER]: signerName };
  const labels = { ...LABELS, 'pod-security.kubernetes.io/enforce': 'restricted' };
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels, annotations } },
    ...memberRequestsPolicy(place),
  ];
}

/** Matches every account of the namespace. It has no other accounts than those of members. */
function ofMembers(namespace: string): { readonly name: string; readonly expression: string } {
  return {
    name: 'of-members',
    expression: `request.userInfo.username.startsWith('${memberUsername(namespace, '')}')`,
  };
}

/** CEL: the name of the member, which is that of its account. */
const ACCOUNT = "request.userInfo.username.split(':')[3]";

/**
 * Returns the policy that lets a member create only requests for CAs of the hub's signer, under the
 * names of its own cluster. `approver` compares the cluster in the PKCS#10 request, which CEL
 * cannot read.
 */
function memberRequestsPolicy({ namespace, signerName }: FleetPlace): readonly Manifest[] {
  const usages = INTERMEDIATE_USAGES.map((usage) => `'${usage}'`).join(', ');
  const user = "request.userInfo.username + ' may";
  const names = `'countersign-' + ${ACCOUNT} + '.${namespace}-'`;
  return policy({
    name: `countersign-fleet-member-requests.${namespace}`,
    rule: {
      apiGroups: [CSR_RESOURCE.group],
      apiVersions: [CSR_RESOURCE.version],
      operations: ['CREATE'],
      resources: [CSR_RESOURCE.plural],
    },
    conditions: [ofMembers(namespace)],
    validations: [
      {
        expression: `object.spec.signerName == '${signerName}'`,
        messageExpression: `${user} request certificates of ${signerName} only'`,
      },
      {
        expression: [
          `object.metadata.name.startsWith(${names})`,
          `&& object.metadata.name.size() == (${names}).size() + 1`,
        ].join('\n'),
        messageExpression: `${user} not create CertificateSigningRequest ' + object.metadata.name + ': it is not a name of this member'`,
      },
      {
        expression: `object.spec.?usages.orValue([]).all(usage, usage in [${usages}])`,
        messageExpression: `${user} request only certificates of CAs'`,
      },
    ],
  });
}

/** The tokens of one member. */
interface MemberTokens {
  readonly cluster: string;
  readonly namespace: string;
  readonly tokenSeconds: number;
}

/** Returns the policy that bounds the life of the tokens that this member requests. */
export function memberTokensPolicy(member: MemberTokens): readonly Manifest[] {
  const { cluster, namespace, tokenSeconds } = member;
  return policy({
    name: `countersign-fleet-member-tokens.${cluster}.${namespace}`,
    rule: {
      apiGroups: [''],
      apiVersions: ['v1'],
      operations: ['CREATE'],
      resources: ['serviceaccounts/token'],
    },
    conditions: [
      {
        name: 'of-member',
        expression: `request.userInfo.username == '${memberUsername(namespace, cluster)}'`,
      },
    ],
    validations: [
      {
        expression: `object.spec.?expirationSeconds.orValue(0) <= ${tokenSeconds}`,
        messageExpression: `request.userInfo.username + ' may not request a token for more than ${tokenSeconds} s'`,
      },
    ],
  });
}
