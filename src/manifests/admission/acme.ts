// SPDX-License-Identifier: Apache-2.0
/**
 * The policies for the kinds of ACME. Orders and Challenges are `acme`'s own notes: whoever could write them would choose
 * names that no rule allowed, a chain that is delivered, or an address that is called.
 */
import {
  ACME_GROUP,
  ORDER_UID_LABEL,
  RENEWAL_MARK_REASON,
  REVOKE_ANNOTATION,
} from '../../api/acme/index.ts';
import type { Manifest } from '../roles.ts';
import { ACME_KINDS, whoTakesSecrets, whoWritesSigners } from './acme-signers.ts';
import { policy } from './policies.ts';

/**
 * All policies for the kinds of ACME.
 *
 * @param namespace - where the components run
 * @param secretNamespace - the namespace of the account keys of AcmeClusterSigners
 */
export function whoWritesAcme(namespace: string, secretNamespace: string): readonly Manifest[] {
  return [
    ...whoWritesSigners(namespace),
    ...whoTakesSecrets(secretNamespace),
    ...whoWritesSignerStatus(namespace),
    ...whoWritesOrders(namespace),
    ...whoSolves(namespace),
    ...whoRevokes(),
    ...whatIsRenewed(namespace),
  ];
}

/** Only `acme` says whether a signer is ready, and which account it has. */
function whoWritesSignerStatus(namespace: string): readonly Manifest[] {
  return policy({
    name: 'countersign-acme-signer-status',
    rule: {
      ...ACME_KINDS,
      operations: ['UPDATE'],
      resources: ['acmeclustersigners/status', 'acmesigners/status'],
    },
    validations: [
      {
        expression: isUser(namespace, 'acme'),
        messageExpression:
          "request.userInfo.username + ' may not write the status of ' + object.kind + ' ' + object.metadata.name + '; only the acme component does'",
      },
    ],
  });
}

/**
 * Creates, and updates of spec, status or the label that says whose a Challenge is, are `acme`'s. Finalizers and owner
 * references stay open: the garbage collector and people who mend need them.
 */
function whoWritesOrders(namespace: string): readonly Manifest[] {
  const label = (object: string): string =>
    `${object}.metadata.?labels[?'${ORDER_UID_LABEL}'].orValue('')`;
  return policy({
    name: 'countersign-acme-orders',
    rule: {
      ...ACME_KINDS,
      operations: ['CREATE', 'UPDATE'],
      resources: ['orders', 'orders/status', 'challenges'],
    },
    conditions: [{ name: 'anybody-but-acme', expression: `!(${isUser(namespace, 'acme')})` }],
    validations: [
      {
        expression: [
          "request.operation == 'UPDATE' && request.?subResource.orValue('') == ''",
          '&& object.spec == oldObject.spec',
          `&& ${label('object')} == ${label('oldObject')}`,
        ].join('\n'),
        messageExpression: [
          "request.userInfo.username + ' may not write ' + object.kind + ' ' + object.metadata.name",
          "+ ': only the acme component does; delete it, and another one is made'",
        ].join('\n'),
      },
    ],
  });
}

/** What a Challenge says is `acme`'s, but for how far its solver is. */
function whoSolves(namespace: string): readonly Manifest[] {
  const [now, before] = ['object', 'oldObject'].map((each) => `${each}.?status.orValue({})`);
  return policy({
    name: 'countersign-acme-challenge-status',
    rule: { ...ACME_KINDS, operations: ['UPDATE'], resources: ['challenges/status'] },
    conditions: [{ name: 'anybody-but-acme', expression: `!(${isUser(namespace, 'acme')})` }],
    validations: [
      {
        expression: [
          isUser(namespace, 'acme-solver'),
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

/** The annotation is a wish that `acme` passes on to the CA: whoever sets it needs the verb `revoke` on the signer. */
function whoRevokes(): readonly Manifest[] {
  const wish = (object: string): string =>
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
        expression: `(oldObject == null ? '' : ${wish('oldObject')}) != ${wish('object')}`,
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
 * `acme` marks a Certificate of its signers as to be issued anew, and changes nothing else of any. RBAC grants an update of
 * the whole status.
 */
function whatIsRenewed(namespace: string): readonly Manifest[] {
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
    conditions: [{ name: 'only-acme', expression: isUser(namespace, 'acme') }],
    validations: [
      {
        expression: [
          "request.?subResource.orValue('') == 'status'",
          `&& object.spec.issuerRef.?group.orValue('') == '${ACME_GROUP}'`,
          "&& object.spec.issuerRef.?kind.orValue('') in ['AcmeClusterSigner', 'AcmeSigner']",
        ].join('\n'),
        messageExpression: `${user} write' + ${certificate} + ': its issuer is none of ACME'`,
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

function isUser(namespace: string, component: string): string {
  return `request.userInfo.username == 'system:serviceaccount:${namespace}:countersign-${component}'`;
}
