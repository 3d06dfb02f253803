// SPDX-License-Identifier: Apache-2.0
/**
 * The policies for the ACME kinds. Orders and Challenges are the state of `acme`. Any other writer
 * could choose names that no rule allowed, the delivered chain, or an address to call.
 */
import {
  ACME_GROUP,
  ORDER_UID_LABEL,
  RENEWAL_MARK_REASON,
  REVOKE_ANNOTATION,
} from '#api/acme/names.ts';
import type { Manifest } from '../roles.ts';
import { ACME_KINDS, accountKeysPolicy, acmeClusterSignersPolicy } from './acme-signers.ts';
import { policy } from './policies.ts';

/**
 * Returns all policies for the ACME kinds.
 *
 * @param namespace - namespace of the components
 * @param secretNamespace - the namespace of the account keys of AcmeClusterSigners
 */
export function acmePolicies(namespace: string, secretNamespace: string): readonly Manifest[] {
  return [
    ...acmeClusterSignersPolicy(namespace),
    ...accountKeysPolicy(secretNamespace),
    ...acmeSignerStatusPolicy(namespace),
    ...acmeOrdersPolicy(namespace),
    ...acmeChallengeStatusPolicy(namespace),
    ...acmeRevocationPolicy(),
    ...acmeRenewalsPolicy(namespace),
  ];
}

/** Returns the policy that lets only `acme` write a signer's readiness and account. */
function acmeSignerStatusPolicy(namespace: string): readonly Manifest[] {
  return policy({
    name: 'countersign-acme-signer-status',
    rule: {
      ...ACME_KINDS,
      operations: ['UPDATE'],
      resources: ['acmeclustersigners/status', 'acmesigners/status'],
    },
    validations: [
      {
        expression: userCel(namespace, 'acme'),
        messageExpression:
          "request.userInfo.username + ' may not write the status of ' + object.kind + ' ' + object.metadata.name + '; only the acme component does'",
      },
    ],
  });
}

/**
 * Returns the policy that lets only `acme` create Orders and Challenges, and change their spec,
 * status or Order label. Finalizers and owner references stay open, because the garbage collector
 * and administrators need them.
 */
function acmeOrdersPolicy(namespace: string): readonly Manifest[] {
  const label = (object: string): string =>
    `${object}.metadata.?labels[?'${ORDER_UID_LABEL}'].orValue('')`;
  return policy({
    name: 'countersign-acme-orders',
    rule: {
      ...ACME_KINDS,
      operations: ['CREATE', 'UPDATE'],
      resources: ['orders', 'orders/status', 'challenges'],
    },
    conditions: [{ name: 'anybody-but-acme', expression: `!(${userCel(namespace, 'acme')})` }],
    validations: [
      {
        expression: [
          "request.operation == 'UPDATE' && request.?subResource.orValue('') == ''",
          '&& object.spec == oldObject.spec',
          `&& ${label('object')} == ${label('oldObject')}`,
        ].join('\n'),
        messageExpression: [
          "request.userInfo.username + ' may not write ' + object.kind + ' ' + object.metadata.name",
          "+ ': only the acme component does; delete it, and acme creates another one'",
        ].join('\n'),
      },
    ],
  });
}

/**
 * Returns the policy that lets only `acme` write a Challenge's status, except the report of its
 * solver.
 */
function acmeChallengeStatusPolicy(namespace: string): readonly Manifest[] {
  const [now, before] = ['object', 'oldObject'].map((each) => `${each}.?status.orValue({})`);
  return policy({
    name: 'countersign-acme-challenge-status',
    rule: { ...ACME_KINDS, operations: ['UPDATE'], resources: ['challenges/status'] },
    conditions: [{ name: 'anybody-but-acme', expression: `!(${userCel(namespace, 'acme')})` }],
    validations: [
      {
        expression: [
          userCel(namespace, 'acme-solver'),
          `&& ${now}.all(field, field == 'solver' || ${before}[?field] == optional.of(${now}[field]))`,
          `&& ${before}.all(field, field == 'solver' || field in ${now})`,
        ].join('\n'),
        messageExpression: [
          "request.userInfo.username + ' may not write the status of Challenge ' + object.metadata.name",
          "+ ': only the acme component does, and acme-solver status.solver'",
        ].join('\n'),
      },
    ],
  });
}

/**
 * Returns the policy that requires the verb `revoke` on the signer to set the annotation. `acme`
 * forwards the annotation to the CA.
 */
function acmeRevocationPolicy(): readonly Manifest[] {
  const annotation = (object: string): string =>
    `${object}.metadata.?annotations[?'${REVOKE_ANNOTATION}'].orValue('')`;
  const signer = [
    "authorizer.group('acme.countersign.dev')",
    ".resource(object.spec.signerRef.kind == 'AcmeSigner' ? 'acmesigners' : 'acmeclustersigners')",
    ".namespace(object.spec.signerRef.kind == 'AcmeSigner' ? object.metadata.namespace : '')",
    '.name(object.spec.signerRef.name)',
  ];
  return policy({
    name: 'countersign-acme-revocation',
    rule: { ...ACME_KINDS, operations: ['CREATE', 'UPDATE'], resources: ['orders'] },
    conditions: [
      {
        name: 'wish-changes',
        expression: `(oldObject == null ? '' : ${annotation('oldObject')}) != ${annotation('object')}`,
      },
    ],
    validations: [
      {
        expression: [...signer, ".check('revoke').allowed()"].join('\n'),
        messageExpression: [
          "request.userInfo.username + ' may not revoke certificates of ' + object.spec.signerRef.kind",
          "+ ' ' + object.spec.signerRef.name + '; ask an administrator to grant it the verb revoke on it'",
        ].join('\n'),
      },
    ],
  });
}

/**
 * Returns the policy that lets `acme` mark only Certificates of its signers for renewal. RBAC would
 * grant an update of the whole status.
 */
function acmeRenewalsPolicy(namespace: string): readonly Manifest[] {
  const status = (object: string): string => `${object}.?status.orValue({})`;
  const conditions = (object: string): string => `${object}.?status.?conditions.orValue([])`;
  const others = (some: string, all: string): string =>
    `${conditions(some)}.all(c, c.type == 'Issuing' || c in ${conditions(all)})`;
  const certificate = "' Certificate ' + object.metadata.namespace + '/' + object.metadata.name";
  const user = "request.userInfo.username + ' may not";
  return policy({
    name: 'countersign-acme-renewals',
    rule: {
      apiGroups: ['cert-manager.io'],
      apiVersions: ['v1'],
      operations: ['UPDATE'],
      resources: ['certificates', 'certificates/status'],
    },
    conditions: [{ name: 'only-acme', expression: userCel(namespace, 'acme') }],
    validations: [
      {
        expression: [
          "request.?subResource.orValue('') == 'status'",
          `&& object.spec.issuerRef.?group.orValue('') == '${ACME_GROUP}'`,
          "&& object.spec.issuerRef.?kind.orValue('') in ['AcmeClusterSigner', 'AcmeSigner']",
        ].join('\n'),
        messageExpression: `${user} write' + ${certificate} + ': its issuer is not an ACME signer'`,
      },
      {
        expression: [
          `${status('object')}.all(k, k == 'conditions' || ${status('oldObject')}[?k] == optional.of(${status('object')}[k]))`,
          `&& ${status('oldObject')}.all(k, k == 'conditions' || k in ${status('object')})`,
          `&& ${others('object', 'oldObject')}`,
          `&& ${others('oldObject', 'object')}`,
        ].join('\n'),
        messageExpression: `${user} change' + ${certificate} + ': only the condition Issuing'`,
      },
      {
        expression: [
          `${conditions('object')}.exists_one(c, c.type == 'Issuing'`,
          `  && c.status == 'True' && c.?reason.orValue('') == '${RENEWAL_MARK_REASON}')`,
          `&& !${conditions('oldObject')}.exists(c, c.type == 'Issuing' && c.status == 'True')`,
        ].join('\n'),
        messageExpression: `${user} set Issuing of' + ${certificate} + ' but to True, with reason ${RENEWAL_MARK_REASON}, once'`,
      },
    ],
  });
}

/** Returns CEL that is true for requests of this component. */
function userCel(namespace: string, component: string): string {
  return `request.userInfo.username == 'system:serviceaccount:${namespace}:countersign-${component}'`;
}
