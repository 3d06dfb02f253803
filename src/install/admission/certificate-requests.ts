// SPDX-License-Identifier: Apache-2.0
import { ACME_GROUP } from '#api/acme/names.ts';
import { policy } from './policies.ts';
import type { Manifest } from '../roles.ts';

const REQUESTS = { apiGroups: ['cert-manager.io'], apiVersions: ['v1'] };

const group = (object: 'object' | 'oldObject'): string =>
  `${object}.?spec.?issuerRef.?group.orValue('') in ['countersign.dev', '${ACME_GROUP}']`;

/** Matches only CertificateRequests of Countersign's issuers. */
const MANAGED_GROUP = { name: 'our-issuers', expression: group('object') };

/** Returns CEL for equality of both fields, where absent equals empty. */
function same(field: string, empty: '[]' | '{}'): string {
  return `object.spec.?${field}.orValue(${empty}) == request.userInfo.?${field}.orValue(${empty})`;
}

/**
 * Returns the policies for CertificateRequests of Countersign's issuers: their identity is true,
 * their spec is immutable, and only permitted users approve them. cert-manager's webhook enforces
 * the same while it is installed and running. Rules decide by these fields, so Countersign does not
 * rely on the webhook.
 */
export function certificateRequestIdentityPolicies(): readonly Manifest[] {
  return [...identityIsTrue(), ...specIsImmutable(), ...approverMayApprove()];
}

/** Returns the policy that requires the requester in the spec to be the creator of the object. */
function identityIsTrue(): readonly Manifest[] {
  return policy({
    name: 'countersign-certificate-request-identity',
    rule: { ...REQUESTS, operations: ['CREATE'], resources: ['certificaterequests'] },
    conditions: [MANAGED_GROUP],
    validations: [
      {
        expression: [
          "object.spec.?username.orValue('') == request.userInfo.username",
          "&& object.spec.?uid.orValue('') == request.userInfo.?uid.orValue('')",
          `&& ${same('groups', '[]')}`,
          `&& ${same('extra', '{}')}`,
        ].join('\n'),
        messageExpression: [
          "'spec.username, uid, groups and extra of this CertificateRequest are not those of '",
          "+ request.userInfo.username + ', who creates it;'",
          "+ ' the webhook of cert-manager fills them in: is it installed?'",
        ].join('\n'),
      },
    ],
  });
}

/** Returns the policy that keeps the spec as approved. */
function specIsImmutable(): readonly Manifest[] {
  return policy({
    name: 'countersign-certificate-request-spec',
    rule: {
      ...REQUESTS,
      operations: ['UPDATE'],
      resources: ['certificaterequests'],
    },
    conditions: [
      { name: 'our-issuers', expression: `${group('object')}\n|| ${group('oldObject')}` },
    ],
    validations: [
      {
        expression: 'object.spec == oldObject.spec',
        messageExpression: "'the spec of a CertificateRequest is immutable'",
      },
    ],
  });
}

/** Returns the policy that requires the verb `approve` on the issuer. */
function approverMayApprove(): readonly Manifest[] {
  return policy({
    name: 'countersign-certificate-request-approval',
    rule: { ...REQUESTS, operations: ['UPDATE'], resources: ['certificaterequests/status'] },
    conditions: [
      MANAGED_GROUP,
      {
        name: 'approval-changes',
        expression: `${approvals('object')} != ${approvals('oldObject')}`,
      },
      {
        // cert-manager's webhook accepts this name too. It is a match condition, because an
        // expression has one check().
        name: 'not-for-all',
        expression: `!${mayApproveCel(`${PLURAL} + '.' + ${GROUP} + '/*'`)}`,
      },
    ],
    validations: [
      {
        expression: mayApproveCel(NAME),
        messageExpression: [
          `request.userInfo.username + ' may not approve or deny CertificateRequests of ' + ${KIND}`,
          "+ ' ' + object.spec.issuerRef.name + '; ask an administrator to grant it the verb approve'",
          `+ ' on signers.cert-manager.io ' + ${NAME}`,
        ].join('\n'),
      },
    ],
  });
}

/** CEL: the kind of the issuer, and its name in cert-manager's webhook. */
const GROUP = 'object.spec.issuerRef.group';
const IN_NAMESPACE = "object.spec.issuerRef.?kind.orValue('') in ['Signer', 'AcmeSigner']";
const KIND = `((${GROUP} == '${ACME_GROUP}' ? 'Acme' : '') + (${IN_NAMESPACE} ? 'Signer' : 'ClusterSigner'))`;
const PLURAL = `(${KIND}.lowerAscii() + 's')`;
const SCOPE = `(${IN_NAMESPACE} ? object.metadata.namespace + '.' : '')`;
const NAME = `${PLURAL} + '.' + ${GROUP} + '/' + ${SCOPE} + object.spec.issuerRef.name`;

/** Returns CEL for the conditions that an approver writes. */
function approvals(object: 'object' | 'oldObject'): string {
  return `${object}.?status.?conditions.orValue([]).filter(c, c.type in ['Approved', 'Denied'])`;
}

/**
 * Returns CEL that checks `approve` on the signer.
 *
 * @param name - CEL expression of its name
 */
function mayApproveCel(name: string): string {
  return `authorizer.group('cert-manager.io').resource('signers').name(${name}).check('approve').allowed()`;
}
