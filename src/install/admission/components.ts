// SPDX-License-Identifier: Apache-2.0
/**
 * Restrictions of the components that RBAC cannot express: `create` has no name, and a status no
 * group. A compromised component keeps its roles. These policies restrict it to the names of its
 * installation.
 */
import { ACME_GROUP } from '#api/acme/names.ts';
import { bundleName, RETAIN_UNTIL, SERVED_SINCE } from '#api/object/cluster-trust-bundle.ts';
import {
  CLUSTER_SIGNER,
  INHERITED,
  LONGEST_LEAF,
  SECRET_NAMESPACE,
} from '#api/signer/bundle-annotations.ts';
import type { SecretReference } from '#api/signer/cluster-signer.ts';
import { CLUSTER_SIGNER_UID } from '#api/signer/grant.ts';
import { only, userOf } from './held/only.ts';
import { sameBut, sameMetadataBut, sameObjectBut } from './held/unchanged.ts';
import { policy } from './policies.ts';
import type { Manifest } from '../roles.ts';

/** The names of one installation, including those for its own HTTPS ports. */
export interface ComponentNames {
  /** Namespace of the components. */
  readonly namespace: string;
  readonly signers: readonly string[];
  /** Object names of ClusterTrustBundles: `example.com:workload:primary`. */
  readonly bundles: readonly string[];
  /** The CA Secrets that `authority` may create. */
  readonly secrets: readonly SecretReference[];
  /** The account key Secrets that `authority` may create. */
  readonly accountKeys?: readonly SecretReference[] | undefined;
}

/** Annotations of bundles. */
const OF_BUNDLES = [
  CLUSTER_SIGNER,
  CLUSTER_SIGNER_UID,
  INHERITED,
  LONGEST_LEAF,
  RETAIN_UNTIL,
  SECRET_NAMESPACE,
  SERVED_SINCE,
];

/**
 * Returns the policy that lets `attester` write only the bundles of its installation, and links
 * each to its signer. A ClusterTrustBundle without a signer name needs no permission for the verb
 * `attest`, and pods that name it would trust it.
 *
 * @returns a policy and its binding
 */
export function attesterBundlesPolicy(names: ComponentNames): readonly Manifest[] {
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
            : // Include the table once: 1,000 rows are near 100,000 code points, the limit.
              `object.spec.?signerName.orValue('')\n== ${table}[?object.metadata.name].orValue('/')`,
        messageExpression: [
          "request.userInfo.username + ' may not write ClusterTrustBundle ' + object.metadata.name",
          "+ ': it is not a bundle of this installation, or does not name its signer;'",
          "+ ' countersign rbac --bundle prints the policy for more bundles'",
        ].join('\n'),
      },
      {
        // The writer of a ClusterSigner chooses the labels.
        expression: [
          sameMetadataBut('labels', 'annotations'),
          `&& ${sameBut('metadata.annotations', OF_BUNDLES)}`,
          `&& ${sameObjectBut('spec')}`,
        ].join('\n'),
        messageExpression:
          "request.userInfo.username + ' may change only the anchors, labels and its own annotations of ClusterTrustBundle ' + object.metadata.name",
      },
    ],
  });
}

/**
 * Returns the policies that let `certificate-request` and `acme` answer only CertificateRequests of
 * their own issuers. cert-manager does not require the verb `sign` for a status write, so the role
 * alone would let them answer for every issuer of the cluster.
 *
 * @param namespace - namespace of the components
 */
export function certificateRequestAnswersPolicy(namespace: string): readonly Manifest[] {
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
 * Returns the policy that lets `authority` create only the Secrets of its installation's CAs and
 * account keys, whatever a signer requests. RBAC names those that it changes. Of these it may
 * change keys, and the labels and annotations of ownership. Other annotations would make another
 * controller copy a key, and an immutable Secret could never be rotated.
 *
 * @returns a policy and its binding
 */
export function authoritySecretsPolicy(names: ComponentNames): readonly Manifest[] {
  const { accountKeys = [] } = names;
  const places = [...names.secrets, ...accountKeys].map(
    ({ namespace, name }) => `'${namespace}/${name}'`,
  );
  return policy({
    name: 'countersign-authority-secrets',
    rule: {
      apiGroups: [''],
      apiVersions: ['v1'],
      operations: ['CREATE', 'UPDATE'],
      resources: ['secrets'],
    },
    conditions: [only(names.namespace, 'authority')],
    validations: [
      {
        expression: `oldObject != null\n|| request.namespace + '/' + object.metadata.name in [${places.join(', ')}]`,
        messageExpression: [
          "request.userInfo.username + ' may not create Secret ' + request.namespace + '/' + object.metadata.name",
          "+ ': it is not a CA or account key Secret of this installation; countersign rbac --secret and --acme-account-key print the policy for more'",
        ].join('\n'),
      },
      {
        // The token controller fills in a Secret of type service-account-token, for any
        // ServiceAccount beside it.
        expression: ['kubernetes.io/tls', 'Opaque']
          .map((type) => `object.?type.orValue('') == '${type}'`)
          .join('\n|| '),
        messageExpression:
          "request.userInfo.username + ' may write only Secrets of type kubernetes.io/tls or Opaque'",
      },
      keysAlone('Secret'),
    ],
  });
}

/** Labels that `authority` writes. */
const BY_AUTHORITY = [
  'app.kubernetes.io/managed-by',
  'app.kubernetes.io/version',
  'countersign.dev/generation',
  'countersign.dev/owner',
];

/**
 * Returns validations for a Secret or ConfigMap of `authority`: only its data and its ownership may
 * change.
 */
export function keysAlone(kind: 'ConfigMap' | 'Secret'): {
  readonly expression: string;
  readonly messageExpression: string;
} {
  const contents = kind === 'Secret' ? ['data', 'type'] : ['binaryData', 'data'];
  return {
    expression: [
      sameMetadataBut('labels', 'annotations'),
      `&& ${sameBut('metadata.labels', BY_AUTHORITY)}`,
      `&& ${sameBut('metadata.annotations', "k.startsWith('countersign.dev/')")}`,
      `&& ${sameObjectBut(...contents)}`,
    ].join('\n'),
    messageExpression: `request.userInfo.username + ' may change only the data, and its own labels and annotations, of ${kind} ' + request.namespace + '/' + object.metadata.name`,
  };
}

/**
 * Returns the policy that lets `signer`, `acme`, `external-signer` and `approver` change only the
 * status of a CertificateSigningRequest. The API server requires the verb `sign` only if a
 * certificate or a condition changes, and a status update may change the metadata. With an owner
 * that does not exist, a component could make the garbage collector delete the request of any
 * signer.
 *
 * @param namespace - namespace of the components
 */
export function requestMetadataPolicy(namespace: string): readonly Manifest[] {
  const users = ['acme', 'approver', 'external-signer', 'signer'].map(
    (each) => `'${userOf(namespace, each)}'`,
  );
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
        expression: sameMetadataBut(),
        messageExpression:
          "request.userInfo.username + ' may not change the metadata of CertificateSigningRequest ' + object.metadata.name",
      },
    ],
  });
}

/**
 * Returns the policy that lets each component write only its own Events. With `create` and `patch`
 * it could otherwise forge Events of other controllers, or overwrite warnings of another component
 * about itself.
 *
 * @param namespace - namespace of the components
 */
export function eventsPolicy(namespace: string, name = 'countersign-events'): readonly Manifest[] {
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
