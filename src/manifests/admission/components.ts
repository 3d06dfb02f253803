// SPDX-License-Identifier: Apache-2.0
/**
 * What the components themselves may not do, where RBAC cannot say it: `create` has no name, a status no group. A
 * component that is taken over keeps its roles; these policies hold it to the names of its installation.
 */
import { ACME_GROUP } from '../../api/acme/index.ts';
import { bundleName } from '../../api/object/cluster-trust-bundle.ts';
import type { SecretReference } from '../../api/signer/cluster-signer.ts';
import { policy } from './policies.ts';
import type { Manifest } from '../roles.ts';

/** The names of one installation, those behind its own ports included. */
export interface ComponentNames {
  /** Where the components run. */
  readonly namespace: string;
  readonly signers: readonly string[];
  /** Object names of ClusterTrustBundles: `example.com:workload:primary`. */
  readonly bundles: readonly string[];
  /** The Secrets of CAs that `authority` may make. */
  readonly secrets: readonly SecretReference[];
  /** The Secrets of account keys that it may make. */
  readonly accountKeys?: readonly SecretReference[] | undefined;
}

/**
 * `attester` writes the bundles of its installation, and links each to its signer: a ClusterTrustBundle without a
 * signer name needs no permission for the verb `attest`, and pods that name it would trust it.
 *
 * @returns a policy and its binding
 */
export function whichBundlesTheAttesterWrites(names: ComponentNames): readonly Manifest[] {
  const { namespace, signers, bundles } = names;
  const byPrefix = Map.groupBy(bundles, (bundle) => bundle.slice(0, bundle.lastIndexOf(':') + 1));
  const signerOf = signers.flatMap((signer) =>
    (byPrefix.get(bundleName(signer, '')) ?? []).map((bundle) => `'${bundle}': '${signer}'`),
  );
  const table = `{${signerOf.join(', ')}}`;
  return policy({
    name: 'countersign-attester-bundles',
    rule: {
      apiGroups: ['certificates.k8s.io'],
      apiVersions: ['v1', 'v1beta1'],
      operations: ['CREATE', 'UPDATE'],
      resources: ['clustertrustbundles'],
    },
    conditions: [only(namespace, 'attester')],
    validations: [
      {
        expression:
          signerOf.length === 0
            ? 'false'
            : // The table once: a thousand rows are near the 100,000 code points that an expression may have.
              `object.spec.?signerName.orValue('')\n== ${table}[?object.metadata.name].orValue('/')`,
        messageExpression: [
          "request.userInfo.username + ' may not write ClusterTrustBundle ' + object.metadata.name",
          "+ ': it is no bundle of this installation, or does not name its signer;'",
          "+ ' countersign rbac --bundle prints the policy for more bundles'",
        ].join('\n'),
      },
    ],
  });
}

/**
 * `certificate-request` and `acme` answer CertificateRequests of their own issuers only: cert-manager does not require the
 * verb `sign` when a status is written, so the role alone would let them answer for every issuer of the cluster.
 *
 * @param namespace - where the components run
 */
export function whichRequestsAreAnswered(namespace: string): readonly Manifest[] {
  const answered = (name: string, component: string, group: string): readonly Manifest[] =>
    policy({
      name,
      rule: {
        apiGroups: ['cert-manager.io'],
        apiVersions: ['v1'],
        operations: ['UPDATE'],
        resources: ['certificaterequests/status'],
      },
      conditions: [only(namespace, component)],
      validations: [
        {
          expression: `object.spec.?issuerRef.?group.orValue('') == '${group}'`,
          messageExpression: [
            "request.userInfo.username + ' may not answer CertificateRequest ' + object.metadata.name",
            `+ ': its issuerRef.group is not ${group}'`,
          ].join('\n'),
        },
      ],
    });
  return [
    ...answered(
      'countersign-certificate-request-answers',
      'certificate-request',
      'countersign.dev',
    ),
    ...answered('countersign-acme-answers', 'acme', ACME_GROUP),
  ];
}

/**
 * `authority` makes the Secrets of its installation's CAs and account keys and no others, whatever a signer asks for.
 *
 * @returns a policy and its binding
 */
export function whichSecretsTheAuthorityMakes(names: ComponentNames): readonly Manifest[] {
  const { accountKeys = [] } = names;
  const places = [...names.secrets, ...accountKeys].map(
    ({ namespace, name }) => `'${namespace}/${name}'`,
  );
  return policy({
    name: 'countersign-authority-secrets',
    rule: {
      apiGroups: [''],
      apiVersions: ['v1'],
      operations: ['CREATE'],
      resources: ['secrets'],
    },
    conditions: [only(names.namespace, 'authority')],
    validations: [
      {
        expression: `request.namespace + '/' + object.metadata.name in [${places.join(', ')}]`,
        messageExpression: [
          "request.userInfo.username + ' may not create Secret ' + request.namespace + '/' + object.metadata.name",
          "+ ': it is no Secret of a CA or of an account key of this installation; countersign rbac --secret and --acme-account-key print the policy for more'",
        ].join('\n'),
      },
      {
        // The controller of tokens fills in a Secret of type service-account-token, for any ServiceAccount beside it.
        expression: ['kubernetes.io/tls', 'Opaque']
          .map((type) => `object.?type.orValue('') == '${type}'`)
          .join('\n|| '),
        messageExpression:
          "request.userInfo.username + ' may only create Secrets of type kubernetes.io/tls or Opaque'",
      },
    ],
  });
}

/**
 * `authority` brings a CA into the ledger's APIService. To another port the API server would send who asks for records, and
 * answer with what that says.
 *
 * @param namespace - where the components run
 */
export function whatTheAuthorityChangesOfApiServices(namespace: string): readonly Manifest[] {
  const same = (path: string, none: string): string =>
    `object.${path}.orValue(${none}) == oldObject.${path}.orValue(${none})`;
  return policy({
    name: 'countersign-authority-api-service',
    rule: {
      apiGroups: ['apiregistration.k8s.io'],
      apiVersions: ['v1'],
      operations: ['UPDATE'],
      resources: ['apiservices'],
    },
    conditions: [only(namespace, 'authority')],
    validations: [
      {
        expression: [
          'object.spec.service == oldObject.spec.service',
          '&& object.spec.group == oldObject.spec.group',
          '&& object.spec.version == oldObject.spec.version',
          '&& object.spec.groupPriorityMinimum == oldObject.spec.groupPriorityMinimum',
          '&& object.spec.versionPriority == oldObject.spec.versionPriority',
          `&& ${same('spec.?insecureSkipTLSVerify', 'false')}`,
          `&& ${same('metadata.?labels', '{}')}`,
          `&& ${same('metadata.?annotations', '{}')}`,
          `&& ${same('metadata.?ownerReferences', '[]')}`,
          `&& ${same('metadata.?finalizers', '[]')}`,
        ].join('\n'),
        messageExpression:
          "request.userInfo.username + ' may change nothing but spec.caBundle of APIService ' + object.metadata.name",
      },
    ],
  });
}

/**
 * `signer`, `acme` and `approver` change the status of a CertificateSigningRequest and nothing else of it. The API server asks for the
 * verb `sign` only where a certificate or a condition changes, and a status update may change the metadata: an owner
 * that does not exist has the garbage collector delete the request, whoever is to sign it.
 *
 * @param namespace - where the components run
 */
export function whatAnswersChange(namespace: string): readonly Manifest[] {
  const users = ['acme', 'approver', 'signer'].map((each) => `'${userOf(namespace, each)}'`);
  const same = (field: string, none: '[]' | '{}'): string =>
    `object.metadata.?${field}.orValue(${none}) == oldObject.metadata.?${field}.orValue(${none})`;
  return policy({
    name: 'countersign-request-metadata',
    rule: {
      apiGroups: ['certificates.k8s.io'],
      apiVersions: ['v1'],
      operations: ['UPDATE'],
      resources: ['certificatesigningrequests/status', 'certificatesigningrequests/approval'],
    },
    conditions: [
      {
        name: 'only-who-answers',
        expression: `request.userInfo.username in [${users.join(', ')}]`,
      },
    ],
    validations: [
      {
        expression: [
          same('labels', '{}'),
          `&& ${same('annotations', '{}')}`,
          `&& ${same('ownerReferences', '[]')}`,
          `&& ${same('finalizers', '[]')}`,
        ].join('\n'),
        messageExpression:
          "request.userInfo.username + ' may not change the metadata of CertificateSigningRequest ' + object.metadata.name",
      },
    ],
  });
}

/**
 * Each component writes Events of its own only: with `create` and `patch` it could forge those of other controllers,
 * or overwrite the warnings about itself that another component wrote.
 *
 * @param namespace - where the components run
 */
export function whichEventsAreWritten(
  namespace: string,
  name = 'countersign-events',
): readonly Manifest[] {
  const prefix = userOf(namespace, '');
  const own = `'countersign.dev/' + request.userInfo.username.replace('${prefix}', '')`;
  return policy({
    name,
    rule: {
      apiGroups: ['events.k8s.io'],
      apiVersions: ['v1'],
      operations: ['CREATE', 'UPDATE'],
      resources: ['events'],
    },
    conditions: [
      {
        name: 'our-components',
        expression: `request.userInfo.username.startsWith('${prefix}')`,
      },
    ],
    validations: [
      {
        expression: [
          `object.?reportingController.orValue('') == ${own}`,
          `&& (oldObject == null || oldObject.?reportingController.orValue('') == ${own})`,
        ].join('\n'),
        messageExpression: `request.userInfo.username + ' may only write Events with reportingController ' + ${own}`,
      },
    ],
  });
}

/** Matches the requests of one component. */
export function only(namespace: string, component: string): Manifest {
  const expression = `request.userInfo.username == '${userOf(namespace, component)}'`;
  return { name: `only-${component}`, expression };
}

function userOf(namespace: string, component: string): string {
  return `system:serviceaccount:${namespace}:countersign-${component}`;
}
